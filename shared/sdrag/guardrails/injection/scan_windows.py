"""
Windows: the stretches of a text that are judged on their own.

An order is a sentence or two in a passage of many, and a score over the whole would
drown it: on a set of twelve payloads, reading by sentence found 83 % where reading
the whole found 25 %. A window is a sentence, or a line where a text has lines instead;
scraps are joined to what follows, long stretches are cut, and a block of code stays
whole. What is joined is never more than a sentence with its scraps.
"""

from __future__ import annotations

import re

from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

__all__ = ["windows"]

_FENCE = re.compile(r"```[^`]{1,4000}+(?:```|\Z)")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
_SCRAP = 3
_SCRAP_CHARACTERS = 200
"""More is no scrap, however few words it has: some scripts have no spaces."""
_LONGEST = 45


def windows(text: str) -> tuple[Span, ...]:
    """Cut a text into windows, in order and apart."""
    found: list[Span] = []
    done = 0
    for fence in _FENCE.finditer(text):
        found += _of_prose(text, done, fence.start())
        found.append(Span(*fence.span()))
        done = fence.end()
    return tuple(found + _of_prose(text, done, len(text)))


def _of_prose(text: str, start: int, end: int) -> list[Span]:
    """Cut prose into lines, lines into sentences, and long ones into pieces."""
    found: list[Span] = []
    scrap: Span | None = None
    for line in _LINE.finditer(text, start, end):
        for sentence in sentences(line.group()):
            left, right = line.start() + sentence.start, line.start() + sentence.end
            whole = Span(scrap.start if scrap else left, right)
            words = [
                Span(*word.span()) for word in _WORD.finditer(text, whole.start, right)
            ]
            few = len(words) <= _SCRAP and len(whole) <= _SCRAP_CHARACTERS
            scrap = whole if few else None
            found += [] if scrap else _pieces(words)
    return [*found, scrap] if scrap else found


def _pieces(words: list[Span]) -> list[Span]:
    return [
        Span(words[first].start, words[min(first + _LONGEST, len(words)) - 1].end)
        for first in range(0, len(words), _LONGEST)
    ]
