"""
Disguises undone that need no code: letters apart, words split, `[at]`, look-alikes.

People write them to be read by people, and so does whoever wants a model to read what a
filter does not: `M e y e r s`, `ann.lee [at] corp.com`, a name split over two lines or
by markup, letters of other scripts among Latin ones.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sdrag.text.decoding.lookalikes import LOOKALIKES
from sdrag.text.decoding.mapped import MappedText, Pass, Piece, rewrite

__all__ = ["parted", "respelt"]

_GAP = r"(?:[^\w=&?]|_){1,4}"
"""What may be between letters; the parts of a query in a URL are no letters apart."""
_SINGLE = r"[^\W_](?![^\W_])"
_LETTERS = re.compile(
    rf"(?<![^\W_]){_SINGLE}(?:{_GAP}{_SINGLE}){{3,}}+"
    rf"|(?<![^\W_])[A-Z](?:{_GAP}[a-z](?![^\W_])){{2}}"
)
_SPLIT = re.compile(
    r"(?<=[^\W_])[-\u00ad\u2010][ \t]{0,4}\r?\n[\s>|*#/]{0,8}(?=[^\W_])"
    r"|(?<=[^\W_])\\\r?\n[ \t]{0,8}(?=[^\W_])"
)
_INSIDE = re.compile(
    r"(?<=[^\W\d_])(?:<!--[^<>]{0,200}-->|</?[A-Za-z][^<>]{0,100}>|\*{1,3}|__|~~|`"
    r"|\{\}|\[\]|\(\)){1,4}+(?=[^\W\d_])"
)
_TAG = re.compile(r"<!--[^<>]{0,200}-->|</?[A-Za-z][^<>]{0,100}>")
_AT = re.compile(
    r"[ \t]{0,3}(?:[\[({<]\s{0,2}(?:at|AT|At|@|\u00e4t|arroba)\s{0,2}[\])}>])[ \t]{0,3}"
    r"|(?<=\w)[ \t]{1,3}@[ \t]{0,3}(?=\w)|(?<=\w)@[ \t]{1,3}(?=\w)"
)
_DOT = re.compile(
    r"[ \t]{0,3}[\[({<]\s{0,2}(?:dot|DOT|Dot|\.|punkt|point|punto)\s{0,2}[\])}>]"
    r"[ \t]{0,3}"
)
_FOREIGN = re.compile(r"(?<![^\W\d_])[a-zA-Z]*+[^\x00-\x7f\W\d_][^\W\d_]*+")
_LOOKS_LIKE = str.maketrans(LOOKALIKES)
_HUMP = re.compile(
    r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    r"|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)


def _apart(match: re.Match[str]) -> list[Piece] | None:
    """
    Read single letters as words; a wider gap than the others parts two of them.

    "U.S. v. X" are four letters, and no word of any length.
    """
    run, offset = match.group(), match.start()
    letters = [at for at, item in enumerate(run) if item.isalnum()]
    gaps = [run[item + 1 : other] for item, other in pairwise(letters)]
    least, first = min(map(len, gaps)), letters[0]
    pieces: list[Piece] = [(run[first], offset + first, offset + first + 1)]
    for at, gap in zip(letters[1:], gaps, strict=True):
        word = len(gap) > least or (run[at].isupper() and pieces[-1][0].islower())
        if word:
            pieces.append((" ", offset + at - len(gap), offset + at))
        pieces.append((run[at], offset + at, offset + at + 1))
    words = "".join(said for said, _, _ in pieces).split()
    return pieces if any(map(_is_word, words)) else None


def _is_word(joined: str) -> bool:
    return len(joined) > 3 or (len(joined) == 3 and joined[1:].islower())


def _inside(match: re.Match[str]) -> str:
    """Drop markup inside a word, and see a break where there is any."""
    return "" if "<br" not in match.group().lower() else " "


def _plain(match: re.Match[str]) -> str | None:
    """Write a word in Latin letters that has some, or looks as if it had."""
    word = match.group()
    plain = word.translate(_LOOKS_LIKE)
    if plain == word:
        return None
    looks = sum(item != other for item, other in zip(word, plain, strict=True))
    latin = sum(item.isascii() for item in plain)
    return plain if latin == len(plain) or 2 * looks <= latin else None


_SPELLINGS = (
    Pass(_INSIDE, _inside, "<*_~`{[("),
    Pass(_TAG, lambda _: " ", "<"),
    Pass(_SPLIT, lambda _: "", "\n"),
    Pass(_FOREIGN, _plain, "".join(LOOKALIKES), is_foreign=True),
    Pass(_AT, lambda _: "@", "[({<@"),
    Pass(_DOT, lambda _: ".", "[({<"),
    Pass(_LETTERS, _apart),
)
"""What finds each disguise, and how it is read; undone in this order."""

_HUMPS = (Pass(_HUMP, lambda match: [(" ", match.start(), match.end() + 1)]),)


def respelt(text: MappedText) -> MappedText:
    """Undo every disguise once."""
    return rewrite(text, _SPELLINGS)


def parted(text: MappedText) -> MappedText:
    """Part words that are run together: `getAnnLee`, `annLee7`, `1984-05-03T10`."""
    return rewrite(text, _HUMPS)
