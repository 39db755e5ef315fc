"""
Numbers that count something, in digits and in words.

What a bare number counts only its reader can say, so its confidence is low. A number of
two or more with a noun in the plural (seventy-one hearings) tells one case from
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import NUMBER_WORDS, UNITS, listed
from sdrag.detectors.local.words import Tokens

__all__ = ["counts"]

_ONE = frozenset(("one", "once", "half", "couple"))
_FEW = _ONE | {"zero", "twice"}
_NUMBERS = NUMBER_WORDS | {word.capitalize() for word in NUMBER_WORDS}
_COUNTED = re.compile(
    r" (?:(?:other|more|different|separate|further|additional) )?"
    r"([a-z-]{3,30}s|children|people|men|women)\b"
)
_QUALIFIED = re.compile(r" (?:[\w-]{3,30} ){0,2}?([a-z-]{3,30}s)\b")
_LARGE = re.compile(r"\d{3}|\d{5}|\d{1,3}(?:,\d{3})+")
_NO_PLURAL = re.compile(r"(?:ss|us|is|ys|'s)$")
_SINGULAR = listed("was has his this its as thus does news series always perhaps")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d$")
_CUED = re.compile(
    r"(?:[\u00a7.(/:-]|\b(?:Articles?|Rules?|Sections?|[Pp]aragraphs?|Protocol|[A-Z]\w*)"
    r"|\b(?:paras?|nos?|pages?|p|ss?|at)|\d(?:,| and| or| to))\.? ?$"
)


def counts(tokens: Tokens) -> Iterator[Found]:
    """Yield numbers, and what they count."""
    for index in tokens.numbers:
        start, end = tokens.starts[index], tokens.ends[index]
        yield Found(start, end, "NUMBER", 0.3, "digits")
        word = tokens.words[index]
        if word in {"0", "1"} or _YEAR.match(word):
            continue
        if _CUED.search(tokens.text, max(0, start - 14), start):
            continue
        large = _LARGE.fullmatch(word) is not None
        if large:
            yield Found(start, end, "QUANTITY", 0.5, "large")
        yield from _counted(tokens.text, start, end, _QUALIFIED if large else _COUNTED)
    done = -1
    for index in sorted(tokens.places(_NUMBERS)):
        if index <= done:
            continue
        done = _last(tokens, index)
        word = tokens.words[index].lower()
        if word not in _ONE or done > index:
            start, end = tokens.starts[index], tokens.ends[done]
            yield Found(start, end, "NUMBER", 0.2, "words")
            if word not in _FEW:
                yield from _counted(tokens.text, start, end, _COUNTED)


def _last(tokens: Tokens, index: int) -> int:
    """Return the last word of the number that begins with the token."""
    last = index
    while (
        last + 1 < len(tokens.words)
        and tokens.words[last + 1] in NUMBER_WORDS
        and tokens.gap(last + 1) in (" ", "-")
    ):
        last += 1
    return last


def _counted(text: str, start: int, end: int, noun: re.Pattern[str]) -> Iterator[Found]:
    match = noun.match(text, end)
    if match is None or match[1] in UNITS or match[1] in _SINGULAR:
        return
    if not _NO_PLURAL.search(match[1]):
        yield Found(start, match.end(), "QUANTITY", 0.5, "plural")
