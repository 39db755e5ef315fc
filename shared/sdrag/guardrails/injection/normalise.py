"""
Undoing disguises: every reading of a text that a model might take.

A model reads through zero-width characters, lookalike letters from other scripts, tag
characters that no screen shows, HTML comments, base64 and shifted letters. So the scan
looks at views: the folded text with lookalikes made plain, and whatever hidden or
encoded stretches turn out to say, each encoding undone within the last, to a depth.
A view knows which characters of the original it came from, so that a finding can be
cut out.

Bounded: each level decodes disjoint stretches into fewer characters than they have, so
all views of a text together are at most a few times as long as the text.
"""

from __future__ import annotations

import html
import re
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sdrag.guardrails.injection.shifted import unshifted
from sdrag.text.decoding import (
    LOOKALIKES,
    from_base64,
    from_escapes,
    from_hex,
    from_tags,
)
from sdrag.text.folding import fold
from sdrag.vocabulary import Confidential, Span

__all__ = ["CIPHERS", "TextView", "plain", "views"]

_LOOKALIKES = str.maketrans(LOOKALIKES)
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_COMMENT = re.compile(r"<!--(?P<said>(?:[^-]|-(?!->))*+)(?:-->|\Z)")
_HIDDEN = re.compile(
    r"<(\w{1,10})\b[^<>]{0,300}\b(?:display:\s{0,5}none|visibility:\s{0,5}hidden"
    r"|font-size:\s{0,5}0|opacity:\s{0,5}0|hidden\b)[^<>]{0,300}>(?P<said>[^<]{1,5000})",
    re.IGNORECASE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,}+")
_BINARY = re.compile(r"(?<![\w.])[01]{8}(?:[ ,]{0,2}[01]{8}){7,}+(?!\w)")
_PERCENT = re.compile(
    r"(?<![\w.~+-])[\w.~+-]{0,60}+(?:%[0-9A-Fa-f]{2}[\w.~+-]{0,60}+){3,}+"
)
_ENTITIES = re.compile(r"(?:[\w .,!?'-]{0,40}+&#?\w{2,8};){3,}+[\w .,!?'-]*+")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){4,}+")
_LEAST = 8


@dataclass(frozen=True, slots=True, repr=False)
class TextView(Confidential):
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


def views(text: str, depth: int = 3) -> Iterator[TextView]:
    """
    Yield the readings of a text, the plain one first.

    Args:
        text: As the store holds it.
        depth: How many encodings inside each other are undone.
    """
    yield _view(text, Span)
    yield from _disguised(text, Span, depth)


def plain(text: str) -> str:
    """Return a text folded, with lookalike letters made plain."""
    return fold(text).text.translate(_LOOKALIKES).strip()


def _disguised(
    text: str, locate: Callable[[int, int], Span], depth: int
) -> Iterator[TextView]:
    """Yield what is hidden in `text`, and what is hidden in that."""
    if depth <= 0:
        return
    for disguise, pattern in _CONCEALED:
        for match in pattern.finditer(text):
            yield _view(match["said"], _shifted(locate, match.start("said")), disguise)
    for span, said in unshifted(text):
        yield _view(said, _shifted(locate, span.start), "shifted")
    for disguise, mark, pattern, decode in _ENCODED:
        for match in pattern.finditer(text) if mark in text else ():
            said = decode(match.group())
            if _is_text(said):
                inner = _fixed(locate(*match.span()))
                yield _view(said, inner, disguise)
                yield from _disguised(said, inner, depth - 1)


def _view(
    said: str, locate: Callable[[int, int], Span], disguise: str = ""
) -> TextView:
    folded = fold(said)

    def original(start: int, end: int) -> Span:
        span = folded.span(start, end)
        return locate(span.start, span.end)

    return TextView(folded.text.translate(_LOOKALIKES), original, disguise)


def _fixed(span: Span) -> Callable[[int, int], Span]:
    """A part of what was decoded represents the whole encoded stretch."""
    return lambda _start, _end: span


def _shifted(
    locate: Callable[[int, int], Span], offset: int
) -> Callable[[int, int], Span]:
    return lambda start, end: locate(start + offset, end + offset)


def _from_binary(run: str) -> str:
    """Read binary digits, eight a byte, together or apart."""
    bits = "".join(item for item in run if item in "01")
    codes = (int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
    return bytes(codes).decode(errors="ignore")


def _is_text(said: str) -> bool:
    """Say whether decoding gave text: nearly all of it can be printed."""
    printed = sum(item.isprintable() or item in "\n\t\r" for item in said)
    return len(said) >= _LEAST and printed >= 0.95 * len(said)


CIPHERS = frozenset({"tags", "base64", "hex", "binary", "shifted"})
"""Disguises that nobody reads at sight: whoever hides a request so has a reason."""

_CONCEALED = (("comment", _COMMENT), ("invisible", _HIDDEN))
"""Written as it is, where nobody looks; the group `said` is the text there."""

_ENCODED: tuple[tuple[str, str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("tags", "", _TAGS, from_tags),
    ("base64", "", _BASE64, from_base64),
    ("hex", "", _HEX, from_hex),
    ("binary", "", _BINARY, _from_binary),
    ("url", "%", _PERCENT, urllib.parse.unquote_plus),
    ("entities", "&", _ENTITIES, html.unescape),
    ("escapes", "\\u", _ESCAPES, from_escapes),
)
"""The name of an encoding, a mark that every match has, what it is, and its undoing."""
