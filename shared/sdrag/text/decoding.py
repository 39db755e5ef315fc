"""
What an encoded or disguised text says, with the way back to the text itself.

A model reads base64, HTML entities, percent signs and letters set apart as well as
plain words, so whatever looks for something in a text looks at what it decodes to as
well. What is found there is cut where it is encoded. Only codes and disguises of real
documents and real injections are read: entities, escapes, percent signs, base64, hex,
tag characters, markup inside words, words split over lines, `[at]`, look-alikes of
other scripts, `M e y e r s`, `https : // corp . com`.

Each pass rewrites what it can read and leaves the rest alone. Random letters seldom
decode to text, so what decodes to anything but text is no encoding. Every pattern is
bounded or possessive, so each pass is linear in the text.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import urllib.parse
from contextlib import suppress
from importlib.resources import files
from itertools import pairwise

from sdrag.text.mapped import MappedText, Pass, Piece, rewrite

_DEPTH = 3
"""So many encodings inside each other are undone."""
_LOOKALIKES = files("sdrag.text").joinpath("lookalikes.txt").read_text("utf-8")
LOOKALIKES = {
    lookalike: line[0]
    for line in _LOOKALIKES.splitlines()
    if not line.startswith("#")
    for lookalike in line[2:]
}
"""The Latin letter that each letter of another script looks like."""


def decode(text: str, depth: int = _DEPTH) -> MappedText:
    """
    Undo the encodings and disguises in a text, each within the last.

    Returns:
        A text that is never longer than a few times the given one; its `before` is
        `None` where nothing was encoded.
    """
    decoded = MappedText.of(text)
    for _ in range(depth):
        before = decoded
        decoded = rewrite(rewrite(decoded, _ENCODINGS), _SPELLINGS)
        if decoded is before:
            break
    return decoded


_LEAST = 3
_ZEROS = 0.4
_SPOKEN, _SPOKEN_SHORT = 0.6, 0.8
"""So much of what is decoded has to be letters, digits or spaces."""
_SHORT = 10
"""Fewer characters than that may be chance, unless they are plain ASCII."""
_ARCHIVES = (
    *(b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd", b"\x04\x22\x4d\x18"),
    *(b"PK\3\4", b"7z\xbc\xaf", b"Rar!", b"%PDF"),
    *(bytes((0x78, level)) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)
"""How something compressed begins."""
_PARTS = re.compile(r"[A-Za-z0-9]{8,}+={0,2}")

_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}+")
_ENTITY = re.compile(
    r"&(?:#\d{1,7}+;?|#[xX][0-9a-fA-F]{1,6}+;?|[A-Za-z][A-Za-z0-9]{1,31}+;)"
)
_ESCAPES = re.compile(
    r"(?:\\u\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})++"
)
_CODE = re.compile(r"\\[uU]\{?([0-9A-Fa-f]{1,8})")
_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})++")
_SIMPLE = re.compile(r"\\([nrt/\"'\\_*@.-])")
_BLANKS = {"n": "\n", "r": "\n", "t": " "}
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})++")
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,}+"
    r"(?:\r?\n[ \t]{0,8}[A-Za-z0-9+/_-]{8,}+)*+={0,2}"
)
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:0[xX])?(?:[0-9A-Fa-f]{2}){3,}+(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])(?:0[xX])?[0-9A-Fa-f]{2}"
    r"(?:[ ,:-]{1,2}(?:0[xX])?[0-9A-Fa-f]{2}(?![0-9A-Za-z])){2,}+"
)
_NOT_HEX = re.compile(r"0[xX]|\\x|[ ,:-]")


def is_text(text: str, least: int = _LEAST) -> bool:
    """Say whether decoding gave text."""
    if len(text) < least:
        return False
    if not text.isprintable() and not all(
        item.isprintable() or item in "\n\t\r" for item in text
    ):
        return False
    spoken = sum(item.isalnum() or item.isspace() for item in text)
    chance = len(text) < _SHORT and not text.isascii()
    least_spoken = (_SPOKEN_SHORT if chance else _SPOKEN) * len(text)
    return spoken >= least_spoken or _is_json(text)


def _is_json(text: str) -> bool:
    """Say whether a text with so many marks is JSON."""
    if text[0] not in '{["':
        return False
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return True
    return False


def is_packed(value: str) -> bool:
    """Say whether a value is base64 or hexadecimal of what cannot be unpacked."""
    run = value.rpartition(",")[2].strip()
    with suppress(ValueError):
        raw = bytes.fromhex(run) if _HEX.fullmatch(run) else _base64_bytes(run)
        return raw.startswith(_ARCHIVES) and not is_text(_text_of(raw))
    return False


def _text_of(raw: bytes) -> str:
    """Read bytes as UTF-8, or as UTF-16 where most of every second one is zero."""
    if raw.count(0) >= _ZEROS * len(raw) > 0:
        return raw.decode("utf-16-be" if raw[0] == 0 else "utf-16-le", errors="ignore")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def from_tags(run: str) -> str:
    """Read tag characters, which no screen shows."""
    return "".join(chr(ord(character) - 0xE0000) for character in run)


def from_base64(run: str) -> str:
    """Read base64 of either alphabet, with or without padding and line ends."""
    try:
        return _text_of(_base64_bytes(run))
    except (binascii.Error, ValueError):
        return ""


def _base64_bytes(run: str) -> bytes:
    plain = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def from_hex(run: str) -> str:
    """Read hexadecimal digits, two a byte, together or apart."""
    digits = _NOT_HEX.sub("", run)
    try:
        return _text_of(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    except ValueError:
        return ""


def from_escapes(run: str) -> str:
    r"""Read code points: `\u004d`, `\u{4d}`, `\U0000004d`."""
    codes = (int(match[1], 16) for match in _CODE.finditer(run))
    decoded = "".join(chr(code) for code in codes if code <= 0x10FFFF)
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _from_entity(match: re.Match[str]) -> str | None:
    decoded = html.unescape(match.group())
    return None if decoded == match.group() else decoded


def _from_bytes(match: re.Match[str]) -> str | None:
    return _if_text(_text_of(bytes.fromhex(match.group().replace("\\x", ""))), 1)


def _from_percent(match: re.Match[str]) -> str | None:
    decoded = urllib.parse.unquote(match.group(), errors="replace")
    return None if "\ufffd" in decoded else decoded


def _from_base64(match: re.Match[str]) -> str | list[Piece] | None:
    """Read a run as a whole or, in paths and URLs, by its parts."""
    run, offset, done = match.group(), match.start(), 0
    decoded = _if_text(from_base64(run))
    if decoded is not None or _PARTS.fullmatch(run):
        return decoded
    pieces: list[Piece] = []
    for part in _PARTS.finditer(run):
        decoded = _if_text(from_base64(part.group()))
        if decoded is not None:
            start, end = part.span()
            pieces.append((run[done:start], offset + done, offset + start))
            pieces.append((decoded, offset + start, offset + end))
            done = end
    if not pieces:
        return None
    return [*pieces, (run[done:], offset + done, match.end())]


def _if_text(text: str, least: int = _LEAST) -> str | None:
    return text if is_text(text, least) else None


_ENCODINGS = (
    Pass(_TAGS, lambda match: from_tags(match.group()), is_foreign=True),
    Pass(_ENTITY, _from_entity, "&"),
    Pass(_ESCAPES, lambda match: from_escapes(match.group()), "\\"),
    Pass(_BYTES, _from_bytes, "\\"),
    Pass(_SIMPLE, lambda match: _BLANKS.get(match[1], match[1]), "\\"),
    Pass(_PERCENT, _from_percent, "%"),
    Pass(_BASE64, _from_base64),
    Pass(_HEX, lambda match: _if_text(from_hex(match.group()))),
)
"""What finds each encoding, and how it is read; undone in this order."""

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
_SCHEME = re.compile(
    r"\b(?i:http(s?))(?:\s{1,2}:\s{0,2}/\s{0,2}/|:\s{1,2}/\s{0,2}/|:/\s{1,2}/|://\s)"
    r"\s{0,2}(?=\w)"
)
_TOP = r"(?:com|org|net|info|biz|xyz|app|dev|io|example)"
_HOST = re.compile(
    rf"(?<=\w)(?:[ ](?i:dot)[ ]|[ ]{{1,2}}\.[ ]{{0,2}}|\.[ ]{{1,2}})(?={_TOP}\b)"
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
    words = "".join(piece for piece, _, _ in pieces).split()
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
    Pass(_SCHEME, lambda match: f"http{match[1].lower()}://", ":"),
    Pass(_HOST, lambda _: ".", ".dD"),
    Pass(_LETTERS, _apart),
)
"""What finds each disguise, and how it is read; undone in this order."""

_HUMPS = (Pass(_HUMP, lambda match: [(" ", match.start(), match.end() + 1)]),)


def part_humps(text: MappedText) -> MappedText:
    """Part words that are run together: `getAnnLee`, `annLee7`, `1984-05-03T10`."""
    return rewrite(text, _HUMPS)
