"""
A text as the patterns read it, and the way back to the original offsets.

Zero-width characters, soft hyphens and tags are left out. A letter and its combining
mark become one character. Compatibility forms (full-width digits, non-breaking spaces,
typographic hyphens) are written plainly. A sentence all in lower case gets capitals
where names may be: names are found by their capitals. Linear in the text.

A text that was typeset is read a second time as it was before: see `mended`. What
either reading finds is found.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sdrag.detectors.local import tables
from sdrag.detectors.local.lexicon import TITLES
from sdrag.detectors.local.runs import is_common
from sdrag.text.decoding.mapped import MappedText, Pieces
from sdrag.text.sentences import is_structured, line_after, line_before, sentences
from sdrag.vocabulary import Confidential, Span

__all__ = ["PlainText", "capitalised", "has_no_capitals", "mended", "plain_text"]


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
    """Say whether all letters are small, but for the word I."""
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


_ACCENTS = dict(
    zip(
        "`'^\"~=.uvHtcdbkr",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0361\u0327\u0323"
        "\u0331\u0328\u030a",
        strict=True,
    )
)
_TEX_LETTERS = {
    "ss": "\u00df",
    "o": "\u00f8",
    "O": "\u00d8",
    "l": "\u0142",
    "L": "\u0141",
    "aa": "\u00e5",
    "AA": "\u00c5",
    "ae": "\u00e6",
    "AE": "\u00c6",
    "oe": "\u0153",
    "OE": "\u0152",
    "i": "\u0131",
    "j": "\u0237",
}
_TYPESET = re.compile(
    r"\{?\\(?P<accent>[`'^\"~=.]|[uvHtcdbkr](?=\{| [A-Za-z]\b))\s?"
    r"\{?\\?(?P<letter>[A-Za-z])\}{0,2}"
    r"|\{?\\(?P<named>ss|[oOlLij]|aa|AA|ae|AE|oe|OE)(?:\{\}|\}| (?=[a-z])"
    r"|(?![A-Za-z{]))"
    r"|(?P<ligature>(?<=[A-Za-z]) (?:(?:ffi|ffl|ff|fi"
    r"|fl)(?![A-Za-z])(?: [a-z]{1,20}(?![A-Z"
    r"a-z]))?|ff[a-z]{1,20}(?![A-Za-z])))"
    r"|(?P<line>\r?\n[ \t>]*(?=[\w\"'(\u201c\u2018]))"
)
_WORD_BEFORE = re.compile(r"(?<![A-Za-z])[A-Za-z]+$")
_LONGEST_WORD = 20
_LINE_HYPHENS = ("-", "\u00ad", "\u2010")
_LETTERS = re.compile(r"[^\W\d_]+")
_TWO = 2
_NARROW = 24
"""A shorter line before one that begins with a capital is none of wrapped prose."""
_MAY_BE_TYPESET = re.compile(r"\n|\\|[A-Za-z] (?:ff|f[il]\b)")
_LOWER_CASE = re.compile(r"(?<!\w)[a-z]{2}")
_GOES_ON = re.compile(r"(?:[\w,;&'\")]|(?<![\w.])[A-Z]\.)$")


def mended(text: str) -> MappedText | None:
    """
    Return the text as it was before it was typeset, or `None` where it is the same.

    Wrapped lines of prose are joined, words that were hyphenated at the end of a line
    are whole, ligatures that a reader of PDF files split off are in their words
    (Gri ffi ths), and letters have the accents that TeX gives them.
    """
    if not _MAY_BE_TYPESET.search(text):
        return None
    pieces = Pieces()
    done = 0
    for match in _TYPESET.finditer(text):
        for part, first, last in _written(text, match):
            if first > done:
                pieces.add(text[done:first], done)
            pieces.add(part, first, last - first)
            done = last
    if not done:
        return None
    pieces.add(text[done:], done)
    return MappedText(*pieces.fields(), MappedText.of(text))


def _written(text: str, match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Yield what parts of a match were typeset from, and where they start and end."""
    start, end = match.span()
    if match["accent"] or match["named"]:
        letter = _TEX_LETTERS.get(match["named"] or "")
        if letter is None:
            letter = _accented(text, match)
        if letter:
            yield letter, start, end
    elif match["ligature"]:
        first = _WORD_BEFORE.search(text, max(0, start - _LONGEST_WORD), start)
        if first:
            for space in _split_at(text[first.start() : end]):
                position = first.start() + space
                yield "", position, position + 1
    else:
        while text[start - 1 : start] in (" ", "\t") and start:
            start -= 1
        hyphen = text[start - 1 : start] in _LINE_HYPHENS and text[end].isalpha()
        if hyphen and text[start - 2 : start - 1].isalpha():
            kept = text[start - 1] != "\u00ad" and text[end].isupper()
            yield "-" if kept else "", start - 1, end
        elif _is_wrapped(text, start, end):
            yield " ", start, end


def _accented(text: str, match: re.Match[str]) -> str:
    """Return the letter with its accent, unless a quotation mark is meant."""
    letter = unicodedata.normalize("NFC", match["letter"] + _ACCENTS[match["accent"]])
    word = _LETTERS.match(text, match.end("letter") - 1)
    begins = not text[match.start() - 1 : match.start()].isalpha()
    quoted = begins and "{" not in match.group() and word and is_common(word[0])
    return "" if len(letter) > 1 or quoted else letter


def _split_at(words: str) -> list[int]:
    """Return where spaces part a ligature from its word."""
    parts = words.split(" ")
    spaces = [len(parts[0])]
    if len(parts) > _TWO:
        spaces.append(len(parts[0]) + 1 + len(parts[1]))
        left, right = parts[0] + parts[1], parts[1] + parts[2]
        if not _is_known(parts[0] + right):
            if _is_known(left):
                return spaces[:1]
            if _is_known(right) and is_common(parts[0]):
                return spaces[1:]
    return spaces


def _is_known(word: str) -> bool:
    name = word.capitalize()
    return is_common(word) or name in tables.surnames() or name in tables.first_names()


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Say whether a line break wraps prose; after a title it always does."""
    before, after = line_before(text, start), line_after(text, end)
    last = before.rsplit(" ", 1)[-1]
    if last.rstrip(".") in TITLES:
        return True
    if not _GOES_ON.search(before) or is_structured(before) or is_structured(after):
        return False
    if text[end].isupper() and len(before) < _NARROW and before[-1] != ".":
        return False
    return bool(_LOWER_CASE.search(before) or _LOWER_CASE.search(after))
