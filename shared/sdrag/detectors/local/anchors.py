"""
Where an identifier may begin: at a figure, or at the short groups of letters before it.

Patterns are tried there and nowhere else, so that prose without figures costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.detectors.local.scheme_names import SCHEME_NAMES
from sdrag.detectors.local.words import Tokens

__all__ = ["anchors", "cased", "cued", "matches"]

_GROUPS = 2
_LETTERS = 9
_MARKS = frozenset(("", "-", ".", "/", "\u00b7"))
_SMALL = 2
# A number in prose, with a word behind it that is no part of a date or a time.
_ALONE = re.compile(
    r"\d+(?:[.,;:)]?\s(?!(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|hrs|hours"
    r"|uhr|am\b|pm\b))[a-z]{2,}|,\d{3}(?![,\d]))"
)


def anchors(tokens: Tokens) -> list[int]:
    """Return the places where an identifier may begin, in order."""
    text, starts = tokens.text, tokens.starts
    places: set[int] = set()
    for index in tokens.numbers:
        place = starts[index]
        if not _ALONE.match(text, place):
            places.add(place)
        for before in range(index - 1, max(-1, index - 1 - _GROUPS), -1):
            gap = text[tokens.ends[before] : place]
            if not _joined(tokens.words[before], gap):
                break
            place = starts[before]
            places.add(place)
    return sorted(places)


def _joined(word: str, gap: str) -> bool:
    """Say whether letters belong to what stands behind them: AB 12, ab 12, ab-12."""
    if gap == " ":
        if len(word) > _SMALL and not word.isupper():
            return False
    elif gap not in _MARKS:
        return False
    return len(word) <= _LETTERS and word not in SCHEME_NAMES and not word[0].isdigit()


def matches(
    pattern: re.Pattern[str], text: str, places: Iterable[int]
) -> Iterator[re.Match[str]]:
    """Yield what matches at the places, none within another."""
    done = 0
    for place in places:
        match = pattern.match(text, place) if place >= done else None
        if match:
            done = match.end()
            yield match


def cased(words: Iterable[str]) -> frozenset[str]:
    """Return the words as they are, with a capital, and in capitals."""
    return frozenset(
        form for word in words for form in (word, word.capitalize(), word.upper())
    )


def cued(
    pattern: re.Pattern[str], tokens: Tokens, words: frozenset[str]
) -> Iterator[re.Match[str]]:
    """Yield what matches behind one of the words."""
    for word in filter(words.__contains__, tokens.where):
        for index in tokens.where[word]:
            match = pattern.match(tokens.text, tokens.ends[index])
            if match:
                yield match
