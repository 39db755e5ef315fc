"""
The stretch of a passage from its first words to its last.

A phrase may stand several times. The end is looked for after the start, and of all
pairs the tightest is taken, so that a repeated opening never swallows what lies between
its two places.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice

from sdrag.text.folding import Folded, fold, fold_text

__all__ = ["between"]

_MAX_OCCURRENCES = 1_000


def between(text: str, start: str, end: str) -> str | None:
    """
    Give the passage's own text from `start` to `end`, both included.

    Args:
        text: The passage.
        start: The first words, up to case, whitespace and typography.
        end: The last words.
    """
    folded = fold(text)
    first, last = fold_text(start), fold_text(end)
    starts, ends = _places(folded, first), _places(folded, last)
    pairs = []
    for opening in starts:
        index = bisect_left(ends, opening + len(first))
        if index < len(ends):
            pairs.append((ends[index] + len(last) - opening, opening))
        elif first.endswith(last):
            pairs.append((len(first), opening))
    if not pairs:
        return None
    length, opening = min(pairs)
    return folded.span(opening, opening + length).of(text)


def _places(folded: Folded, phrase: str) -> list[int]:
    return list(islice(folded.positions(phrase), _MAX_OCCURRENCES))
