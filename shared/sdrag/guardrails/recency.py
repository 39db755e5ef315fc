"""
Recency: "scoring can be adjusted to prefer more recent documents" (section 3.5).

A passage's score counts for half as much with each half-life of its age. Only the
order changes; the scores stay what they were. A passage without a date is taken to be
as old as the oldest that has one, so that leaving the date out gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from sdrag.guardrails.metadata_dates import instant
from sdrag.policy import StalenessSection
from sdrag.vocabulary import Passage

__all__ = ["by_recency"]

_DAY = 86_400.0


def by_recency(
    passages: Sequence[Passage], section: StalenessSection | None, *, now: datetime
) -> tuple[Passage, ...]:
    """
    Order passages by score and age.

    Args:
        passages: Best first; scores, where all have one, run from 0 to 1.
        section: Gives the half-life; without one, the order stays.
        now: With its time zone.
    """
    if section is None or section.recency_half_life_days is None or not passages:
        return tuple(passages)
    dates = [instant(one.metadata.get(section.updated_key)) for one in passages]
    ages = [
        None if date is None else max(0.0, (now - date).total_seconds() / _DAY)
        for date in dates
    ]
    oldest = max((age for age in ages if age is not None), default=0.0)
    half_life = section.recency_half_life_days

    def weight(place: int) -> float:
        age = ages[place]
        elapsed = oldest if age is None else age
        return _merit(passages, place) * math.pow(0.5, elapsed / half_life)

    order = sorted(range(len(passages)), key=weight, reverse=True)
    return tuple(passages[place] for place in order)


def _merit(passages: Sequence[Passage], place: int) -> float:
    """Return the score, or one made of the rank where scores are no similarities."""
    scores = [one.score for one in passages]
    if all(score is not None and 0.0 <= score <= 1.0 for score in scores):
        return float(scores[place] or 0.0)
    return 1.0 / (1 + place)
