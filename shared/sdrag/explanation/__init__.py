"""Why a text is redacted: each span, its constraint, and who found it."""

from __future__ import annotations

from sdrag.explanation.explain import Explainer, explain
from sdrag.explanation.explanations import (
    FOUND_BY,
    Cause,
    ExplainedSpan,
    Explanation,
)

__all__ = [
    "FOUND_BY",
    "Cause",
    "ExplainedSpan",
    "Explainer",
    "Explanation",
    "explain",
]
