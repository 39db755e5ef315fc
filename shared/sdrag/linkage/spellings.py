"""
Near-identical spellings, word orders, abbreviations and short forms within one type.

"Riverside Clinc" is "Riverside Clinic", "diabetes type 2" is "type 2 diabetes", and
"COPD" is "chronic obstructive pulmonary disease". Forms whose numbers differ are never
one: "Ward 3" is not "Ward 4". Every pair is compared up to a few thousand forms;
beyond that, only forms that begin or end alike.

"Riverside Clinic" is short for "Riverside Community Clinic, Leeds": the shorter form's
words are all in the longer one, in the same order, and both begin alike. One word is
too little, unless the longer form only adds what follows a comma. A form that shortens
two different names is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from rapidfuzz import fuzz, process

__all__ = ["acronym_pairs", "shortened_pairs", "spelling_pairs"]

_EVERY_PAIR = 4000
_CHUNK = 500
_AFFIX = 4
_SHORTEST = 5
"""Shorter forms differ too easily: one letter makes another word."""
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "on", "at", "de", "la", "a"})
_WORD = re.compile(r"\w+(?:'\w+)?")
_ARTICLES = frozenset({"the", "a", "an"})

Words = tuple[str, ...]


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
    for left, right in _near(folded, threshold):
        if numbers[left] == numbers[right]:
            yield left, right


def acronym_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a form in capitals and the words whose initials it is."""
    spelled: dict[str, list[int]] = {}
    for number, form in enumerate(forms):
        words = _LETTERS.findall(form)
        if len(words) < 2:
            continue
        kept = [word for word in words if word.lower() not in _SMALL_WORDS]
        for word_list in (words, kept):
            spelled.setdefault("".join(w[0] for w in word_list).upper(), []).append(
                number
            )
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


def shortened_pairs(folded: Sequence[str]) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of a form and the longer form that it shortens.

    Args:
        folded: The distinct forms of one type, folded.
    """
    words = [_words(form) for form in folded]
    heads = [_words(form.partition(",")[0]) for form in folded]
    headed: dict[Words, list[int]] = {}
    holding: dict[tuple[str, str], list[int]] = {}
    for number, word_list in enumerate(words):
        headed.setdefault(heads[number], []).append(number)
        for word in set(word_list[1:]):
            holding.setdefault((word_list[0], word), []).append(number)
    for short, word_list in enumerate(words):
        if not word_list:
            continue
        # Only forms that hold the rarest of its words can hold all of them.
        rest = [holding[word_list[0], word] for word in word_list[1:]]
        near = min(rest, key=len) if rest else headed.get(word_list, [])
        longer = [
            number
            for number in near
            if len(words[number]) > len(word_list) and _within(word_list, words[number])
        ]
        longer.sort(key=lambda number: (len(words[number]), number))
        nested = pairwise(longer)
        if all(_within(words[left], words[right]) for left, right in nested):
            yield from ((short, number) for number in longer[:1])


def _words(form: str) -> Words:
    return tuple(word for word in _WORD.findall(form) if word not in _ARTICLES)


def _within(short: Words, long: Words) -> bool:
    """Say whether the words of one are in the other, in order."""
    rest = iter(long)
    return all(word in rest for word in short)
