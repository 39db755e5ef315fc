"""What a rule found, before overlaps are settled; offsets in the plain view."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Found"]


class Found(NamedTuple):
    """
    A candidate.

    Args:
        start: Where it starts.
        end: Where it ends.
        type: As in `Mention`.
        confidence: From 0 to 1.
        reason: The rule.
    """

    start: int
    end: int
    type: str
    confidence: float
    reason: str
