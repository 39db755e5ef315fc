"""
Short forms of places and institutions.

"Riverside Clinic" stands for "Riverside Community Clinic, Leeds".

The shorter form's words all stand in the longer one, in the same order, and both begin
alike. One word is too little, unless the longer form only adds what follows a comma. A
form that shortens two different names is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

__all__ = ["shortened_pairs"]

_WORD = re.compile(r"\w+(?:'\w+)?")
_ARTICLES = frozenset({"the", "a", "an"})

Words = tuple[str, ...]


def shortened_pairs(folded: Sequence[str]) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of a form and the longer form that it shortens.

    Args:
        folded: The distinct forms of one type, folded.
    """
    words = [_words(form) for form in folded]
    heads = [_words(form.partition(",")[0]) for form in folded]
    by_first: dict[str, list[int]] = {}
    for number, held in enumerate(words):
        if held:
            by_first.setdefault(held[0], []).append(number)
    for members in by_first.values():
        for short in members:
            longer = [
                number
                for number in members
                if len(words[number]) > len(words[short])
                and (len(words[short]) > 1 or heads[number] == words[short])
                and _within(words[short], words[number])
            ]
            longer.sort(key=lambda number: (len(words[number]), number))
            nested = pairwise(longer)
            if all(_within(words[one], words[two]) for one, two in nested):
                yield from ((short, number) for number in longer[:1])


def _words(form: str) -> Words:
    return tuple(word for word in _WORD.findall(form) if word not in _ARTICLES)


def _within(short: Words, long: Words) -> bool:
    """Say whether the words of one stand in the other, in order."""
    rest = iter(long)
    return all(word in rest for word in short)
