"""With `method: nli` or `llm` claims and passages are sent to that model."""

from __future__ import annotations

from typing import Literal

from sdrag.sections import Count, GuardSection, Least


class GroundingSection(GuardSection):
    """Whether an answer's claims are supported by the passages."""

    method: Literal["local", "nli", "llm"] = "local"
    """The local scorer, an NLI model that you pass, or the model of `llm=`."""
    threshold: Least = 0.5
    """The least support that counts; up to 1."""
    action: Literal["annotate", "drop", "decline"] = "annotate"
    """Mark unsupported claims, drop them, or decline the answer."""
    max_claims: Count = 60
    """An answer with more is declined."""
