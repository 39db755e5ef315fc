"""Why a text is redacted: each span, its constraint, and who found it."""

from __future__ import annotations

from sdrag.explanation.explain import Explainer, explain
from sdrag.explanation.explanations import FOUND_BY, Explanation

__all__ = ["FOUND_BY", "Explainer", "Explanation", "explain"]
