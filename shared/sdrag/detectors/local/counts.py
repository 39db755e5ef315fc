"""
Numbers that count something, in digits and in words.

What a bare number counts only its reader can say, so its confidence is low. A number of
three or more with a noun in the plural (seventy-one hearings) tells one case from
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import NUMBER_WORDS, UNITS, listed
from sdrag.detectors.local.tokens import Tokens

__all__ = ["counts"]

_ONE = frozenset(("one", "once", "half", "couple"))
_FEW = _ONE | {"two", "zero", "twice"}
_NUMBERS = NUMBER_WORDS | {word.capitalize() for word in NUMBER_WORDS}
_COUNTED = re.compile(
    r" (?:(?:other|more|different|separate|further|additional) )?([a-z-]{3,30}s)\b"
)
_NO_PLURAL = re.compile(r"(?:ss|us|is|ys|'s)$")
_SINGULAR = listed("was has his this its as thus does news series always perhaps")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d$")
_CUED = re.compile(
    r"(?:[\u00a7.(/:-]|\b(?:Articles?|Rules?|Sections?|[Pp]aragraphs?|Protocol|[A-Z]\w*)"
    r"|\b(?:paras?|nos?|page|p|and|or|to|at|of))\.? ?$"
)


def counts(tokens: Tokens) -> Iterator[Found]:
    """Yield numbers, and what they count."""
    for index in tokens.numbers:
        start, end = tokens.starts[index], tokens.ends[index]
        yield Found(start, end, "NUMBER", 0.3, "digits")
        word = tokens.words[index]
        if word not in {"0", "1", "2"} and not _YEAR.match(word):
            yield from _counted(tokens.text, start, end)
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
                yield from _counted(tokens.text, start, end)


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


def _counted(text: str, start: int, end: int) -> Iterator[Found]:
    match = _COUNTED.match(text, end)
    if match is None or match[1] in UNITS or match[1] in _SINGULAR:
        return
    if _NO_PLURAL.search(match[1]) or _CUED.search(text, max(0, start - 14), start):
        return
    yield Found(start, match.end(), "QUANTITY", 0.5, "plural")
