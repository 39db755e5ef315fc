"""
A text as the patterns read it, and the way back to the original offsets.

Zero-width characters, soft hyphens and tags are left out. A letter and its combining
mark become one character. Compatibility forms (full-width digits, non-breaking spaces,
typographic hyphens) are written plainly. A sentence all in lower case gets capitals
where names may be: names are found by their capitals. Linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import is_common
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032\u00b4`"
_PLAIN_MARKS = {
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u00ab\u00bb"), '"'),
}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True, repr=False)
class PlainText(Confidential):
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


def plain_text(text: str) -> PlainText:
    """Return the plain view of a text."""
    if text.isascii():
        return PlainText(text.replace("`", "'"))
    pieces: list[str] = []
    moves: list[int] = []
    distances: list[int] = []
    done = length = 0
    for match in _NOT_ASCII.finditer(text):
        block = text[done : match.start()]
        pieces += (block[:-1], block[-1:])  # a mark may be composed with the last one
        length += len(block)
        for offset, character in enumerate(match.group(), start=match.start()):
            plain = _plain_character(character)
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
    return PlainText("".join(pieces), tuple(moves), tuple(distances))


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    """Return one plain character, or nothing for one that cannot be seen."""
    if character.isspace():
        return "\n" if character in "\u2028\u2029\x85" else " "
    if unicodedata.category(character) == "Cf":
        return ""
    plain = character.translate(_PLAIN_MARKS)
    folded = unicodedata.normalize("NFKC", plain)
    return folded if len(folded) == 1 else plain


_LOWER_WORD = re.compile(
    r"(?<![\w@./:-])(?<!\bthe )(?<!\ba )(?<!\ban )[^\W\d_]{3,}"
    r"(?![\w@/:']|\.\w)"
)
_I = re.compile(r"\bI\b")
_FREQUENT = 3000


def capitalised(text: str) -> str:
    """Return the text with capitals where names may be, in sentences without any."""
    pieces: list[str] = []
    done = 0
    for sentence in sentences(text):
        said = sentence.of(text)
        if has_no_capitals(said):
            pieces += [text[done : sentence.start], _LOWER_WORD.sub(_cased, said)]
            done = sentence.end
    return "".join([*pieces, text[done:]])


def has_no_capitals(sentence: str) -> bool:
    """Return True if all letters are small, but for the word I."""
    return _I.sub("i", sentence).islower()


def _cased(match: re.Match[str]) -> str:
    word = match.group()
    capital = word[0].upper()
    if len(capital) != 1 or not _may_name(word):
        return word
    return capital + word[1:]


def _may_name(word: str) -> bool:
    if not is_common(word):
        return True
    given = word.capitalize() in tables.first_names()
    return given and tables.common_words().get(word, 0) > _FREQUENT
