"""
Passes over a text: what a pattern finds is rewritten to what it says.

Most passes find nothing in most texts, and a pattern that begins with a look behind or
with any letter is tried at every character. So a pass says which characters it needs,
and may have a sign: a pattern that begins with few characters, which the engine skips
to. Where neither is, nothing is rewritten, so the text is the same with and without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sdrag.text.decoding.mapped import EACH, MappedText, Piece, Pieces

__all__ = ["Pass", "Reader", "Sign", "rewrite"]

Reader = Callable[[re.Match[str]], Iterable[Piece] | str | None]
"""Returns what a match says, as a whole or in pieces; `None` leaves it alone."""
Sign = Callable[[str], Iterable[tuple[int, int]]]
"""Returns where signs start and end in a text, ascending."""


@dataclass(frozen=True, slots=True)
class Pass:
    """
    What finds one encoding or disguise, and how it is read.

    Args:
        pattern: Finds stretches.
        read: Says what each of them says.
        needs: A match that says something has one of these characters; empty for any.
        is_foreign: Whether it has a character beyond ASCII.
        sign: It has such a sign; none where the pattern is quick by itself.
        lead: It starts at most so many characters before the first sign in it, and at
            the latest where that ends.
    """

    pattern: re.Pattern[str]
    read: Reader
    needs: str = ""
    sign: re.Pattern[str] | Sign | None = None
    lead: int = 0
    is_foreign: bool = False

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match that says something, as `pattern.finditer` does."""
        if self.sign is None:
            return self.pattern.finditer(text)
        if isinstance(self.sign, re.Pattern):
            return self._at((one.span() for one in self.sign.finditer(text)), text)
        return self._at(self.sign(text), text)

    def _at(
        self, signs: Iterable[tuple[int, int]], text: str
    ) -> Iterator[re.Match[str]]:
        """Try the pattern only where signs allow it to match, once at each place."""
        done = 0
        for first, last in signs:
            for start in range(max(done, first - self.lead), last + 1):
                match = self.pattern.match(text, start) if start >= done else None
                if match is not None:
                    yield match
                    done = max(match.end(), start + 1)
            done = max(done, last + 1)


def rewrite(text: MappedText, passes: Iterable[Pass]) -> MappedText:
    """
    Rewrite what passes find, each in what the one before it made.

    Args:
        text: To be read.
        passes: Find stretches, and say what each of them says.

    Returns:
        The same text where nothing is rewritten.
    """
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
    for match in one.matches(text.text):
        said = one.read(match)
        if said is None:
            continue
        if pieces is None:
            pieces = Pieces()
        start, end = match.span()
        pieces.add(text.text[done:start], done)
        for part, begin, stop in (
            ((said, start, end),) if isinstance(said, str) else said
        ):
            same = part == text.text[begin:stop]
            pieces.add(part, begin, EACH if same else stop - begin)
        done = end
    if pieces is None:
        return text
    pieces.add(text.text[done:], done)
    return MappedText(*pieces.fields(), text)
