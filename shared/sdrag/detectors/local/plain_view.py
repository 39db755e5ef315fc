"""
A text without what hides words from patterns, and the way back to its offsets.

Zero-width characters, soft hyphens and tags are left out, letters written as a base and
a combining mark are composed, and compatibility forms of one character (full-width
digits, non-breaking spaces, typographic hyphens) are written plainly. Case stays, since
names are found by it. Linear; plain ASCII costs one check.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from sdrag.vocabulary import Confidential, Span

__all__ = ["View", "view"]

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032\u00b4`"
_PLAIN = {
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u00ab\u00bb"), '"'),
}
_BEYOND = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True, repr=False)
class View(Confidential):
    """
    A plain text and the way back.

    Args:
        text: The plain characters.
        moves: Where a piece starts whose distance to the original differs.
        distances: That distance: original offset minus plain offset.
    """

    text: str
    moves: tuple[int, ...] = ()
    distances: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> Span:
        """Return the original characters behind `text[start:end]`."""
        if not self.moves:
            return Span(start, end)
        return Span(self._origin(start), self._origin(end - 1) + 1)

    def _origin(self, position: int) -> int:
        piece = bisect_right(self.moves, position) - 1
        return position + (self.distances[piece] if piece >= 0 else 0)


def view(text: str) -> View:
    """Return the plain view of a text."""
    if text.isascii():
        return View(text.replace("`", "'"))
    pieces: list[str] = []
    moves: list[int] = []
    distances: list[int] = []
    done = length = 0
    for match in _BEYOND.finditer(text):
        block = text[done : match.start()]
        pieces += (block[:-1], block[-1:])  # a mark may be composed with the last one
        length += len(block)
        for offset, character in enumerate(match.group(), start=match.start()):
            plain = _plain(character)
            if unicodedata.combining(character) and pieces and pieces[-1]:
                joined = unicodedata.normalize("NFC", pieces[-1][-1] + character)
                pieces[-1] = pieces[-1][:-1] + joined[0]
                plain = ""
            if plain:
                distance = offset - length
                if distance != (distances[-1] if distances else 0):
                    moves.append(length)
                    distances.append(distance)
                pieces.append(plain)
                length += 1
        done = match.end()
        if done - length != (distances[-1] if distances else 0):
            moves.append(length)
            distances.append(done - length)
    pieces.append(text[done:])
    return View("".join(pieces), tuple(moves), tuple(distances))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return one plain character, or nothing for one that cannot be seen."""
    if character.isspace():
        return "\n" if character in "\u2028\u2029\x85" else " "
    if unicodedata.category(character) == "Cf":
        return ""
    plain = character.translate(_PLAIN)
    folded = unicodedata.normalize("NFKC", plain)
    return folded if len(folded) == 1 else plain
