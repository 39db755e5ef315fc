"""
Near-identical spellings, word orders and abbreviations within one type.

"Riverside Clinc" is "Riverside Clinic", "diabetes type 2" is "type 2 diabetes", and
"COPD" is "chronic obstructive pulmonary disease". Forms whose numbers differ are never
one: "Ward 3" is not "Ward 4". Every pair is compared up to a few thousand forms;
beyond that, only forms that begin or end alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from rapidfuzz import fuzz, process

__all__ = ["acronym_pairs", "spelling_pairs"]

_EVERY_PAIR = 4000
_CHUNK = 500
_AFFIX = 4
_SHORTEST = 5
"""Shorter forms differ too easily: one letter makes another word."""
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "on", "at", "de", "la", "a"})


def spelling_pairs(
    folded: Sequence[str], threshold: float
) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of folded forms that are spelled nearly alike.

    Args:
        folded: The distinct forms of one type, folded.
        threshold: The least rapidfuzz ratio, from 0 to 100, as written or with the
            words sorted.
    """
    numbers = [tuple(sorted(_DIGITS.findall(form))) for form in folded]
    for one, two in _near(folded, threshold):
        if numbers[one] == numbers[two]:
            yield one, two


def acronym_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a form in capitals and the words whose initials it is."""
    spelled: dict[str, list[int]] = {}
    for number, form in enumerate(forms):
        words = _WORD.findall(form)
        if len(words) < 2:
            continue
        kept = [word for word in words if word.lower() not in _SMALL_WORDS]
        for held in (words, kept):
            spelled.setdefault("".join(w[0] for w in held).upper(), []).append(number)
    for number, form in enumerate(forms):
        plain = form.replace(".", "")
        if 2 <= len(plain) <= 6 and plain.isalpha() and plain.isupper():
            for other in dict.fromkeys(spelled.get(plain, ())):
                yield number, other


def _near(folded: Sequence[str], threshold: float) -> Iterator[tuple[int, int]]:
    long = [number for number, form in enumerate(folded) if len(form) >= _SHORTEST]
    if len(long) <= _EVERY_PAIR:
        yield from _compared(folded, long, threshold)
        return
    for affix in (slice(_AFFIX), slice(-_AFFIX, None)):
        blocks: dict[str, list[int]] = {}
        for number in long:
            blocks.setdefault(folded[number][affix], []).append(number)
        for block in blocks.values():
            for low in range(0, len(block), _EVERY_PAIR):
                yield from _compared(folded, block[low : low + _EVERY_PAIR], threshold)


def _compared(
    folded: Sequence[str], chosen: Sequence[int], threshold: float
) -> Iterator[tuple[int, int]]:
    forms = [folded[number] for number in chosen]
    ordered = [" ".join(sorted(form.split())) for form in forms]
    for texts in (forms, ordered):
        for low in range(0, len(texts), _CHUNK):
            scores = process.cdist(
                texts[low : low + _CHUNK],
                texts,
                scorer=fuzz.ratio,
                score_cutoff=threshold,
                dtype=np.float32,
            )
            for row, column in np.argwhere(scores > 0).tolist():
                if low + row < column:
                    yield chosen[low + row], chosen[column]
