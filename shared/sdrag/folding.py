"""
A view of a text in which spellings that look alike are alike, with offsets back.

Case, runs of whitespace, accents, typographic quotes and hyphens, compatibility forms
and invisible characters (zero-width, tags, soft hyphens) are folded away, so that
"Mey\u200bers", "MEYERS" and "Meyers" are found by one search. Every position of the
folded text maps back to the original, so what is cut out is always the passage's own
characters. Linear in the text; plain ASCII is copied in blocks.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sdrag.vocabulary import Confidential, Span

__all__ = ["Folded", "fold", "fold_text", "is_boundary", "is_unspaced"]

# A run of whitespace that is not one plain space, or one character beyond ASCII.
_SPECIAL = re.compile(r" \s+|[^\S ]\s*|[^\x00-\x7f]|[\x00-\x08\x0e-\x1f\x7f]")
_LOOKALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_ASCII_LOOKALIKE = str.maketrans({"`": "'"})
_INVISIBLE = {"Mn", "Me", "Cf", "Cc"}


@dataclass(frozen=True, slots=True, repr=False)
class Folded(Confidential):
    """
    A folded text and the way back.

    Args:
        text: The folded characters.
        starts: Where each piece starts in the folded text, ascending.
        origins: Where that piece starts in the original.
        lengths: How many original characters it stands for; -1 where each folded
            character stands for one.
    """

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    lengths: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Return the original characters behind `text[start:end]`."""
        return Span(self._origin(start), self._origin_end(end - 1))

    def find(self, needle: str) -> Iterator[Span]:
        """
        Yield where `needle`, itself folded, stands at word boundaries.

        Args:
            needle: As `fold_text` gives it.
        """
        for start in self.positions(needle):
            yield self.span(start, start + len(needle))

    def positions(self, needle: str) -> Iterator[int]:
        """Yield the folded offsets at which `needle` stands at word boundaries."""
        if not needle:
            return
        start = self.text.find(needle)
        while start >= 0:
            end = start + len(needle)
            if is_boundary(self.text, start) and is_boundary(self.text, end):
                yield start
                start = self.text.find(needle, end)
            else:
                start = self.text.find(needle, start + 1)

    def _origin(self, position: int) -> int:
        piece = bisect_right(self.starts, position) - 1
        if self.lengths[piece] >= 0:
            return self.origins[piece]
        return self.origins[piece] + position - self.starts[piece]

    def _origin_end(self, position: int) -> int:
        piece = bisect_right(self.starts, position) - 1
        if self.lengths[piece] >= 0:
            return self.origins[piece] + self.lengths[piece]
        return self.origins[piece] + position - self.starts[piece] + 1


def fold(text: str) -> Folded:
    """Fold a text, keeping the way back."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    lengths: list[int] = []
    position = done = 0
    for match in _SPECIAL.finditer(text):
        start, end = match.span()
        if start > done:
            pieces.append(_ascii(text[done:start]))
            starts.append(position)
            origins.append(done)
            lengths.append(-1)
            position += start - done
        folded = _character(match.group()) if end == start + 1 else " "
        if folded:
            pieces.append(folded)
            starts.append(position)
            origins.append(start)
            lengths.append(end - start)
            position += len(folded)
        done = end
    if done < len(text) or not starts:
        pieces.append(_ascii(text[done:]))
        starts.append(position)
        origins.append(done)
        lengths.append(-1)
    return Folded("".join(pieces), tuple(starts), tuple(origins), tuple(lengths))


def fold_text(text: str) -> str:
    """Fold a text that will be searched for; outer whitespace goes too."""
    return fold(text).text.strip()


def is_boundary(text: str, position: int) -> bool:
    """
    Say whether no word is cut at `position`.

    Scripts written without spaces have no boundaries to look for, so there every
    position counts as one.
    """
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if not (_in_word(before) and _in_word(after)):
        return True
    return is_unspaced(before) or is_unspaced(after)


def _ascii(block: str) -> str:
    return block.lower().translate(_ASCII_LOOKALIKE)


@lru_cache(maxsize=4096)
def _character(character: str) -> str:
    if character.isspace():
        return " "
    plain = character.translate(_LOOKALIKE)
    kept = (
        part
        for part in unicodedata.normalize("NFKD", plain)
        if unicodedata.category(part) not in _INVISIBLE
    )
    return "".join(kept).casefold().translate(_LOOKALIKE)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def is_unspaced(character: str) -> bool:
    """Say whether a character is of a script written without spaces."""
    code = ord(character)
    return (
        0x0E00 <= code <= 0x0EFF  # Thai, Lao
        or 0x1000 <= code <= 0x109F  # Myanmar
        or 0x1780 <= code <= 0x17FF  # Khmer
        or 0x3040 <= code <= 0x30FF  # Hiragana, Katakana
        or 0x3400 <= code <= 0x9FFF  # Han
        or 0x20000 <= code <= 0x3FFFF
    )
