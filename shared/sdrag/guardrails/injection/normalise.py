"""
Undoing disguises: every reading of a text that a model might take.

A model reads through zero-width characters, lookalike letters from other scripts, tag
characters that no screen shows, HTML comments, and base64. So the scan looks at views:
the folded text with lookalikes made plain, and whatever hidden or encoded stretches
turn out to say, each encoding undone within the last, to a depth. A view knows which
characters of the original it came from, so that a finding can be cut out.

Bounded: each level decodes disjoint stretches into fewer characters than they have, so
all views of a text together are at most `depth` + 2 times as long as the text.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sdrag.folding import fold
from sdrag.vocabulary import Confidential, Span

__all__ = ["View", "views"]

# Letters of other scripts that look like Latin ones (a part of Unicode's
# confusables.txt: Cyrillic, Greek, Armenian, small capitals and IPA).
_CONFUSABLE = str.maketrans(
    dict(
        zip(
            # The lookalikes themselves, each above what it is taken for.
            "аеорсухіјѕԁһԛԝкмтвнгпзьяѵӏαεορυνικτηγχωβօսոցհɡıɑʏɪʀɴᴀᴇᴏᴜ",
            "aeopcyxijsdhqwkmtbhrnзbяvlaeopuviktnyxwbouoghgiayirnaeou",
            strict=True,
        )
    )
)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_COMMENT = re.compile(r"<!--((?:[^-]|-(?!->))*+)(?:-->|\Z)")
_HIDDEN = re.compile(
    r"<(\w{1,10})\b[^<>]{0,300}\b(?:display:\s{0,5}none|visibility:\s{0,5}hidden"
    r"|font-size:\s{0,5}0|opacity:\s{0,5}0|hidden\b)[^<>]{0,300}>([^<]{1,5000})",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,}+")
_PERCENT = re.compile(r"(?:[\w.~+-]*+%[0-9A-Fa-f]{2}){3,}+[\w.~+-]*+")
_ENTITIES = re.compile(r"(?:[\w .,!?'-]{0,40}+&#?\w{2,8};){3,}+[\w .,!?'-]*+")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){4,}+")
_NOT_HEX = re.compile(r"0x|\\x|[ ,:]")
_READABLE = frozenset(string.ascii_letters + " .,:;!?'\"\n-")
_LEAST = 8


@dataclass(frozen=True, slots=True, repr=False)
class View(Confidential):
    """
    One reading of a text.

    Args:
        text: What a model may make of it.
        locate: Gives the original characters behind `text[start:end]`.
        disguise: How it was hidden, such as `base64`; empty for what anyone reads.
    """

    text: str
    locate: Callable[[int, int], Span]
    disguise: str = ""


def views(text: str, depth: int = 3) -> Iterator[View]:
    """
    Yield the readings of a text, the plain one first.

    Args:
        text: As the store holds it.
        depth: How many encodings inside each other are undone.
    """
    folded = fold(text)
    yield View(folded.text.translate(_CONFUSABLE), folded.span)
    yield from _disguised(text, Span, depth)


def _disguised(
    text: str, locate: Callable[[int, int], Span], depth: int
) -> Iterator[View]:
    """Yield what is hidden in `text`, and what is hidden in that."""
    if depth <= 0:
        return
    for disguise, start, end, hidden in _hidden(text):
        span = locate(start, end)
        inner = _fixed(span)
        yield View(fold(hidden).text.translate(_CONFUSABLE), inner, disguise)
        yield from _disguised(hidden, inner, depth - 1)


def _fixed(span: Span) -> Callable[[int, int], Span]:
    return lambda _start, _end: span


def _hidden(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield each stretch that is hidden or encoded, and what it says."""
    for disguise, pattern, read in _DISGUISES:
        for match in pattern.finditer(text):
            said = read(match)
            if said and _readable(said):
                yield disguise, match.start(), match.end(), said


def _readable(text: str) -> bool:
    """Say whether decoding gave words: mostly letters and what stands between them."""
    if len(text) < _LEAST:
        return False
    plain = sum(
        character in _READABLE or (character.isalpha() and ord(character) > 127)
        for character in text
    )
    return plain >= 0.8 * len(text)


def _from_tags(match: re.Match[str]) -> str:
    return "".join(chr(ord(character) - 0xE0000) for character in match.group())


def _from_base64(match: re.Match[str]) -> str:
    run = match.group().rstrip("=").replace("-", "+").replace("_", "/")
    run = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return _utf8(base64.b64decode(run + "=" * (-len(run) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _from_hex(match: re.Match[str]) -> str:
    digits = _NOT_HEX.sub("", match.group())
    try:
        return _utf8(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    except ValueError:
        return ""


def _from_escapes(match: re.Match[str]) -> str:
    codes = match.group().split("\\u")[1:]
    return "".join(chr(int(code, 16)) for code in codes)


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-16-le", errors="ignore") if b"\x00" in raw else ""


_DISGUISES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("tags", _TAGS, _from_tags),
    ("comment", _COMMENT, lambda match: match.group(1)),
    ("invisible", _HIDDEN, lambda match: match.group(2)),
    ("base64", _BASE64, _from_base64),
    ("hex", _HEX, _from_hex),
    ("url", _PERCENT, lambda match: urllib.parse.unquote_plus(match.group())),
    ("entities", _ENTITIES, lambda match: html.unescape(match.group())),
    ("escapes", _ESCAPES, _from_escapes),
)
