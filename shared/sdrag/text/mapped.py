"""
A text that was made of another one, the way back, and passes that rewrite it.

What is found in a decoded or a folded text has to be cut from the text that the host
handed in. So a rewritten text keeps, for each of its pieces, where it was in the text
before. That text may be rewritten too, and then it is asked in turn.

A pass finds stretches by a pattern and says what each of them says. Most passes find
nothing in most texts, so a pass says which characters it needs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from sdrag.vocabulary import Confidential, Span

EACH = -1
"""The length of a piece that was copied, character by character."""

Piece = tuple[str, int, int]
"""What a stretch says, where it starts and where it ends in the text before."""


@dataclass(frozen=True, slots=True, repr=False)
class MappedText(Confidential):
    """
    A text and the way back to the first one.

    Args:
        text: Its characters.
        starts: Where each piece starts in it, ascending.
        origins: Where that piece starts in the text before.
        lengths: How long that piece was in the text before, or `EACH`.
        before: The text that it was made of; none where that is the first one.
    """

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    lengths: tuple[int, ...]
    before: MappedText | None

    @classmethod
    def of(cls, text: str) -> MappedText:
        """Begin with a text that nobody has rewritten."""
        return MappedText(text, (0,), (0,), (EACH,), None)

    def span(self, start: int, end: int) -> Span:
        """Return the characters of the first text behind `text[start:end]`."""
        span = self.span_before(start, end)
        return span if self.before is None else self.before.span(span.start, span.end)

    def span_before(self, start: int, end: int) -> Span:
        """Return the characters of the text before behind `text[start:end]`."""
        (first, _), (_, last) = self._origins(start), self._origins(end - 1)
        return Span(first, last)

    def is_rewritten(self, start: int, end: int) -> bool:
        """Say whether any of `text[start:end]` was rewritten."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        if first != last or self.lengths[first] != EACH:
            return True
        if self.before is None:
            return False
        span = self.span_before(start, end)
        return self.before.is_rewritten(span.start, span.end)

    def _origins(self, position: int) -> tuple[int, int]:
        """Return where what a character stands for begins and ends."""
        piece = bisect_right(self.starts, position) - 1
        origin, length = self.origins[piece], self.lengths[piece]
        if length != EACH:
            return origin, origin + length
        origin += position - self.starts[piece]
        return origin, origin + 1


class Pieces:
    """A rewritten text, as it grows."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[Piece] = []

    def add(self, text: str, origin: int, length: int = EACH) -> Self:
        """Add what `length` characters from `origin` on were rewritten to."""
        if text:
            self._pieces.append((text, origin, length))
        return self

    def fields(
        self,
    ) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the first four fields of a `MappedText`."""
        texts = [text for text, _, _ in self._pieces]
        *starts, _ = accumulate(map(len, texts), initial=0)
        origins = tuple(origin for _, origin, _ in self._pieces)
        lengths = tuple(length for _, _, length in self._pieces)
        return "".join(texts), tuple(starts), origins, lengths


@dataclass(frozen=True, slots=True)
class Pass:
    """
    What finds one encoding or disguise, and how it is read.

    Args:
        pattern: Finds stretches.
        read: Says what a match says, as a whole or in pieces; `None` leaves it alone.
        needs: A match that says something has one of these characters; empty for any.
        is_foreign: Whether it has a character beyond ASCII.
    """

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Iterable[Piece] | str | None]
    needs: str = ""
    is_foreign: bool = False


def rewrite(text: MappedText, passes: Iterable[Pass]) -> MappedText:
    """Rewrite what passes find, each in what the one before it made."""
    characters = frozenset(text.text)
    for one in passes:
        if one.is_foreign and text.text.isascii():
            continue
        if one.needs and characters.isdisjoint(one.needs):
            continue
        after = _rewritten(text, one)
        if after is not text:
            text, characters = after, frozenset(after.text)
    return text


def _rewritten(text: MappedText, one: Pass) -> MappedText:
    pieces: Pieces | None = None
    done = 0
    for match in one.pattern.finditer(text.text):
        replacement = one.read(match)
        if replacement is None:
            continue
        if pieces is None:
            pieces = Pieces()
        start, end = match.span()
        pieces.add(text.text[done:start], done)
        for part, begin, stop in (
            ((replacement, start, end),)
            if isinstance(replacement, str)
            else replacement
        ):
            same = part == text.text[begin:stop]
            pieces.add(part, begin, EACH if same else stop - begin)
        done = end
    if pieces is None:
        return text
    pieces.add(text.text[done:], done)
    return MappedText(*pieces.fields(), text)
