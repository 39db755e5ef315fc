"""The prompt of the demo's host, and the model that was hijacked."""

from __future__ import annotations

import re

from sdrag.testing import verbatim

__all__ = ["TEMPLATE", "hijacked"]

TEMPLATE = """\
Answer the question from the context.

<context>
{context}
</context>

Question: {question}"""

_CONTEXT = re.compile(r"<context>\n(.*)\n</context>", re.DOTALL)


def hijacked(prompt: str) -> str:
    """
    Answer a prompt as a model does that an attacker has taken over.

    Args:
        prompt: Everything the model received.
    """
    found = _CONTEXT.search(prompt)
    return verbatim(found.group(1) if found else prompt)
