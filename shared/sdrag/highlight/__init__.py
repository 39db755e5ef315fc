"""
Highlight & Summarize: answers from a model that never reads the question.

A highlighter, which may be hijacked, proposes extracts; `verify_highlights` turns them
into verbatim stretches of the passages or refuses them; a summarizer that sees nothing
else words the answer. Source: Cherubin and Paverd, Highlight & Summarize.
"""

from sdrag.highlight.verification import (
    CutAt,
    Refusal,
    Verification,
    verify_highlights,
)

__all__ = ["CutAt", "Refusal", "Verification", "verify_highlights"]
