"""
Every way in which a text can be read when something known is looked for in it.

As it is, decoded, with words that are run together parted, and with digits read as
the letters that they look like. What looks like an i and like an l is read as both in
the first places of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from sdrag.text.decoding import decode, part_humps
from sdrag.text.folding import Folded, fold
from sdrag.text.mapped import MappedText, Pieces

_LEET = str.maketrans("4@3!105$7+892|", "aaeiiossttbgzi")
_EITHER = re.compile(r"(?<!\S)[^\s1!|]*+[1!|]\S*+")
_UPRIGHT = re.compile(r"[1!|]")
_UPRIGHTS = 3
"""So many uprights of a word are read in both ways."""
_MARKUP = re.compile(
    r"^[ \t]*+(?:\|[ \t]*+)?:?-{2,}+:?[ \t|:-]*+$"  # the rule of a table, or a rule
    r"|^[ \t]*+(?:#{1,6}|>++|[-*+\u2022])[ \t]++"  # heading, quotation, list item
    r"|!?\[(?=[^\[\]\n]{1,200}\]\([^()\s]{1,500}\))|\]\([^()\s]{1,500}\)"  # link
    r"|(?<=[^\W\d_])[-\u2010\u2011\u00ad]\s*+(?=[^\W\d_])"  # hyphen
    r"|[*_~`]++|\\(?=[^\w\s])|\||<br\s*+/?>",
    re.MULTILINE,
)
_MIXED = re.compile(r"[@$!+0-9](?:(?<=[a-z].)|(?<!\+)(?=[a-z]))")


def readings(text: str) -> tuple[Folded, ...]:
    """Return the readings of a text in which every form is looked for, folded."""
    readings = [fold(text)]
    decoded = decode(text)
    if decoded.before is not None:
        readings.append(fold(decoded))
    apart = part_humps(decoded)
    if apart is not decoded:
        readings.append(fold(apart))
    last = readings[1] if decoded.before is not None else readings[0]
    if _MIXED.search(last.text):
        readings += (replace(last, text=letters) for letters in _unmasked(last.text))
    return tuple(readings)


def strip_markup(text: str) -> Folded:
    """Fold a text without hyphens in words, Markdown's marks and bars of tables."""
    pieces, done = Pieces(), 0
    for match in _MARKUP.finditer(text):
        pieces.add(text[done : match.start()], done)
        parts = match[0] == "|" or match[0].startswith("<") or match[0].endswith("-|")
        pieces.add(" " if parts else "", match.start(), len(match[0]))
        done = match.end()
    pieces.add(text[done:], done)
    return fold(MappedText(*pieces.fields(), None))


def _unmasked(text: str) -> Iterator[str]:
    """Yield a text with letters for digits, each upright of a word as i and as l."""
    yield text.translate(_LEET)
    count = max((_uprights(m.group()) for m in _EITHER.finditer(text)), default=0)
    for letters in product("il", repeat=min(count, _UPRIGHTS)):
        if "l" in letters:
            yield _EITHER.sub(partial(_lettered, letters), text).translate(_LEET)


def _uprights(word: str) -> int:
    word = word.strip("!|.,;:()")
    return len(_UPRIGHT.findall(word)) if any(map(str.isalpha, word)) else 0


def _lettered(letters: tuple[str, ...], word: re.Match[str]) -> str:
    places = iter(letters)
    return _UPRIGHT.sub(lambda _: next(places, letters[-1]), word.group())
