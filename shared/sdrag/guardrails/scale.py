"""
One scale for scores: 1 is the same, 0 has nothing to do with it.

Stores disagree. Chroma and FAISS return squared L2 distances, others cosine distances,
others cosines, which can be negative, and keyword search returns what it likes. The
distances are turned into the cosine they stand for between vectors of unit length:
for these, squared L2 = 2 - 2 cos. A cosine below 0 counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

__all__ = ["SCALES", "Scale", "looks_similar", "unit"]

Scale = Literal["similarity", "cosine", "cosine_distance", "l2", "squared_l2"]

SCALES: Mapping[Scale, Callable[[float], float]] = {
    "similarity": lambda score: score,
    "cosine": lambda score: score,
    "cosine_distance": lambda score: 1.0 - score,
    "l2": lambda score: 1.0 - score * score / 2.0,
    "squared_l2": lambda score: 1.0 - score / 2.0,
}


def unit(score: float, scale: Scale) -> float:
    """Bring a store's score to the scale from 0 to 1; what is no number is 0."""
    if not math.isfinite(score):
        return 0.0
    return min(1.0, max(0.0, SCALES[scale](score)))


def looks_similar(scores: Sequence[float | None]) -> bool:
    """
    Say whether scores, in the order the store ranked them, can only be similarities.

    All are there, from -1 to 1, and they fall; a distance rises. One score alone, or
    equal ones, may be either.
    """
    known = [score for score in scores if score is not None]
    if not known or len(known) < len(scores):
        return False
    if not all(-1.0 <= score <= 1.0 for score in known):
        return False
    falls = all(left >= right for left, right in pairwise(known))
    return falls and known[0] > known[-1]
