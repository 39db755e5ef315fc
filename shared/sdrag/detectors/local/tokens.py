"""
Words and numbers of a text in one scan, and where identifiers may begin.

An index from words to tokens keeps the rules quick: a rule looks up its own cue words
and reads the text around them. Patterns of identifiers are tried only at a figure and
at the short groups of letters before it, so prose without figures costs nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sdrag.detectors.local.tables import SCHEME_NAMES, listed
from sdrag.vocabulary import Confidential


class Candidate(NamedTuple):
    """A candidate."""

    start: int
    end: int
    type: str
    confidence: float
    reason: str


# A word with its inner apostrophes (not a genitive), or a number with its inner marks.
_TOKEN = re.compile(r"[^\W\d_]+(?:'(?!s\b)[^\W\d_]+)*|\d+(?:[.,:/]\d+)*")
_OPENS = ".!?:;\n"
_CLOSERS = "\"')]} \t*#>_-"


@dataclass(frozen=True, slots=True, repr=False)
class TokenIndex(Confidential):
    """
    TokenIndex in order.

    Args:
        text: What was scanned.
        words: Each token's characters.
        starts: Where each starts.
        ends: Where each ends.
        where: The tokens that are a word, by that word.
        numbers: The tokens that begin with a digit.
        capitals: The tokens that begin with a capital.
    """

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    where: Mapping[str, list[int]]
    numbers: list[int]
    capitals: list[int]

    def gap(self, index: int) -> str:
        """Return what is between the token and the one before it."""
        before = self.ends[index - 1] if index else 0
        return self.text[before : self.starts[index]]

    def indices(self, words: Collection[str]) -> Iterator[int]:
        """Yield the tokens that are one of the words, word by word."""
        where = self.where
        if where.keys().isdisjoint(words):
            return
        for word in words if len(words) < len(where) else where:
            if word in where and word in words:
                yield from where[word]

    def opens_sentence(self, index: int) -> bool:
        """Return True if a sentence, heading or list item may start with the token."""
        gap = self.gap(index)
        if index and gap == " ":
            return False
        if index == 0 or "\n" in gap:
            return True
        before = gap.rstrip(_CLOSERS)
        if not before:
            return '"' in gap and "," not in gap
        word = self.words[index - 1]
        if before[-1] in ".:" and (len(word) == 1 or word in _ABBREVIATIONS):
            return False
        return before[-1] in _OPENS


_ABBREVIATIONS = listed(
    "Mr Mrs Ms Dr Prof St Rev Capt Lt Col Gen Maj Sgt Sen Gov Hon No nos no Jr Sr vs"
)


_ELIDED = re.compile(r"(?:[dl]|d[ae]ll|nell|sant|[st])'[A-Z\u00c0-\u00de]")


def is_capital(word: str) -> bool:
    """Return True for a word with a capital, or one behind a particle: d'Artois."""
    return word[0].isupper() or ("'" in word and _ELIDED.match(word) is not None)


def tokenize(text: str) -> TokenIndex:
    """Scan a text."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    where: defaultdict[str, list[int]] = defaultdict(list)
    for match in _TOKEN.finditer(text):
        word = match.group()
        where[word].append(len(words))
        words.append(word)
        start, end = match.span()
        starts.append(start)
        ends.append(end)
    # Every occurrence of a word has the same first letter: look at each word once.
    numbers = [i for word in where if word[0].isdigit() for i in where[word]]
    capitals = [i for word in where if is_capital(word) for i in where[word]]
    return TokenIndex(
        text, words, starts, ends, dict(where), sorted(numbers), sorted(capitals)
    )


_HUMP = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def split_word(word: str) -> list[str]:
    """Return the words of a key, in lower case: `firstName(s)` has two."""
    return [part.lower() for part in _HUMP.findall(word.removesuffix("(s)"))]


_LETTER_GROUPS = 2
_LONGEST_LETTERS = 9
_MARKS = frozenset(("", "-", ".", "/", "\u00b7"))
_SMALL = 2
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_HEX_GROUP = 4
# Two marks of one kind with hexadecimal figures between them.
_SEPARATED = (
    re.compile(":[0-9A-Fa-f]{0,4}:"),
    re.compile("-[0-9A-Fa-f]{1,4}-[0-9A-Fa-f]"),
    re.compile(r"\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]"),
)
# A number in prose, with a word behind it that is no part of a date or a time.
_ALONE = re.compile(
    r"\d+(?:[.,;:)]?\s(?!(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|hrs|hours"
    r"|uhr|am\b|pm\b))[a-z]{2,}|,\d{3}(?![,\d]))"
)


def anchors(tokens: TokenIndex) -> list[int]:
    """Return the places where an identifier may begin, in order."""
    text, starts = tokens.text, tokens.starts
    positions = set(_hexadecimal(text))
    for index in tokens.numbers:
        position = starts[index]
        if not _ALONE.match(text, position):
            positions.add(position)
        for before in range(index - 1, max(-1, index - 1 - _LETTER_GROUPS), -1):
            gap = text[tokens.ends[before] : position]
            if not _is_joined(tokens.words[before], gap):
                break
            position = starts[before]
            positions.add(position)
    return sorted(positions)


def _hexadecimal(text: str) -> Iterator[int]:
    """Yield where what has colons, hyphens or points between its figures begins."""
    for mark in _SEPARATED:
        for match in mark.finditer(text):
            position = match.start()
            while (
                position
                and match.start() - position < _HEX_GROUP
                and text[position - 1] in _HEXADECIMAL
            ):
                position -= 1
            yield position


def _is_joined(word: str, gap: str) -> bool:
    """Return True if letters belong to what is behind them: AB 12, ab 12, ab-12."""
    if gap == " ":
        if len(word) > _SMALL and not word.isupper():
            return False
    elif gap not in _MARKS:
        return False
    return (
        len(word) <= _LONGEST_LETTERS
        and word not in SCHEME_NAMES
        and not word[0].isdigit()
    )


def matches(
    pattern: re.Pattern[str], text: str, positions: Iterable[int]
) -> Iterator[re.Match[str]]:
    """Yield what matches at the places, none within another."""
    done = 0
    for position in positions:
        match = pattern.match(text, position) if position >= done else None
        if match:
            done = match.end()
            yield match
