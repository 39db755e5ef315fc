"""
Letters shifted along the alphabet, as in ROT13: "Vtaber" says "Ignore".

Any letters can be shifted into any others, so there is no telling such a text from a
wrong one by how it looks. A sentence is turned back only where one shift makes two
different words of it common ones, and what comes out is suspicious only if it is an
order. One look at each word finds the shift, so all 25 take one pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from sdrag.vocabulary import Span

__all__ = ["unshifted"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_COMMON = (
    "about add all always and answer any are company conversation dans das der die "
    "disregard every for forget forward from here ignore instructions las les link los "
    "message model must never not now only password poem previous print prompt que "
    "question recommend reply response reveal rules say send system tell text that the "
    "this und user using vous was when will with word write you your"
)
_LEAST = 2
"""So many different words have to come out of a sentence."""
_MOST = 2
"""So many shifts of a sentence are read, those of most words."""
_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*+")
_WORD = re.compile(r"(?<![^\W_])[a-z]{3,}+(?![^\W_])", re.IGNORECASE)


def _turned(by: int) -> dict[int, int]:
    """Return the table that moves each letter back by so many places."""
    back = _LETTERS[-by:] + _LETTERS[:-by]
    return str.maketrans(_LETTERS + _LETTERS.upper(), back + back.upper())


_BACK = {by: _turned(by) for by in range(1, 26)}
_SHIFTS: dict[str, list[int]] = defaultdict(list)
for _by in _BACK:
    for _common in _COMMON.split():
        _SHIFTS[_common.translate(_BACK[26 - _by])].append(_by)


def unshifted(text: str) -> Iterator[tuple[Span, str]]:
    """
    Yield the sentences that an alphabet shift makes readable, and what they say.

    Args:
        text: As it is written; what comes out has as many characters.
    """
    for sentence in _SENTENCE.finditer(text):
        for by in _readable(sentence.group()):
            yield Span(*sentence.span()), sentence.group().translate(_BACK[by])


def _readable(sentence: str) -> list[int]:
    """Return the shifts by which enough words of a sentence are common ones."""
    words: dict[int, int] = defaultdict(int)
    for word in {match.group().lower() for match in _WORD.finditer(sentence)}:
        for by in _SHIFTS.get(word, ()):
            words[by] += 1
    shifts = [by for by, count in words.items() if count >= _LEAST]
    return sorted(shifts, key=lambda by: -words[by])[:_MOST]
