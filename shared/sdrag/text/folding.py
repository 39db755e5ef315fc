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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from sdrag.text.mapped import EACH, MappedText, Pieces
from sdrag.vocabulary import Span

# A run of whitespace that is not one plain space, or one character beyond ASCII.
_SPECIAL = re.compile(r"[^!-~](?:(?<! )(?:(?<=\s)\s*)?|\s+)")
PLAIN_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
"""The mark of a keyboard for each typographic one."""
_LOOKALIKE = PLAIN_MARKS | {ord("\u2026"): "..."}
_SURROGATE = re.compile("[\ud800-\udfff]")
_INVISIBLE = {"Mn", "Me", "Cf", "Cc"}

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff"  # Hiragana, Katakana
    "\u3400-\u9fff\U00020000-\U0003ffff"  # Han
)
"""Scripts written without spaces, as the inside of a character class."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True, repr=False)
class Folded(MappedText):
    """A folded text and the way back."""

    original: str

    def find(self, needle: str) -> Iterator[Span]:
        """Yield where `needle`, itself folded, is at word boundaries."""
        for start in self.positions(needle):
            yield self.span(start, start + len(needle))

    def positions(self, needle: str) -> Iterator[int]:
        """Yield the folded offsets at which `needle` is at word boundaries."""
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


def fold(given: str | MappedText) -> Folded:
    """Fold a text, keeping the way back; no two spaces are next to each other in it."""
    text, before = (given, None) if isinstance(given, str) else (given.text, given)
    if text and text.isascii() and text.isprintable() and "  " not in text:
        return Folded(_small(text), (0,), (0,), (EACH,), before, text)
    pieces = _FoldedPieces()
    done = 0
    for match in _SPECIAL.finditer(text):
        start, end = match.span()
        pieces.add(_small(text[done:start]), done)
        folded = _character(match.group()) if end == start + 1 else " "
        pieces.add(folded, start, end - start)
        done = end
    pieces.add(_small(text[done:]), done)
    return Folded(*pieces.fields(), before, text)


def replace_surrogates(text: str) -> str:
    """Return a text of the same length without half characters: no UTF-8 has any."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


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
    # `_` ends a word, as in Markdown's `_Ann Lee_`.
    if not (before.isalnum() and after.isalnum()):
        return True
    return is_unspaced(before) or is_unspaced(after)


def is_seen_boundary(text: str, position: int) -> bool:
    """Say whether no word is cut there, as a reader sees it."""
    before, after = seen_before(text, position), seen_from(text, position)
    if before < 0 or after >= len(text):
        return True
    return is_boundary(text[before] + text[after], 1)


def seen_before(text: str, position: int) -> int:
    """Return the index of the last character before it that is seen, or -1."""
    before = position - 1
    while before >= 0 and _is_unseen(text[before]):
        before -= 1
    return before


def seen_from(text: str, position: int) -> int:
    """Return the index of the first character from it on that is seen, or the end."""
    after = position
    while after < len(text) and _is_unseen(text[after]):
        after += 1
    return after


def _is_unseen(character: str) -> bool:
    return not character.isspace() and not _character(character)


class _FoldedPieces(Pieces):
    """
    The folded text, as it grows.

    A space after a space is left out, for an invisible character between two spaces
    would else keep a name from being found.
    """

    __slots__ = ("_spaced",)

    def __init__(self) -> None:
        super().__init__()
        self._spaced = False

    def add(self, text: str, origin: int, length: int = EACH) -> Self:
        """Add plain ASCII as it is, or what a stretch of the original is folded to."""
        if self._spaced and text.startswith(" "):
            text, origin = text.lstrip(" "), origin + (length == EACH)
        if text:
            super().add(text, origin, length)
            self._spaced = text.endswith(" ")
        return self


def _small(plain: str) -> str:
    """Fold plain ASCII."""
    return plain.lower().replace("`", "'")


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


def is_unspaced(character: str) -> bool:
    """Say whether a character is of a script written without spaces."""
    return _UNSPACED.match(character) is not None
