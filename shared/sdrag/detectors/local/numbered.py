"""Numbers that the word before them makes somebody's, such as staff number 40417."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.words import Tokens

__all__ = ["numbered"]

_NAMES = """
        no nos nr number numbers numbered code codes ref refs reference references id
        plate plates pin serial passcode combination room participant participants
        subject subjects sample samples account accounts ticket case zip postcode plot
        plots parcel parcels block sheet lot file invoice order policy card passport
        licence license cell registration exhibit
        """
_CUES = frozenset(
    form for name in listed(_NAMES) for form in (name, name.capitalize(), name.upper())
)
_CUE = re.compile(
    r"(?: (?:number|no|code|was|is|of|are))?[.:#,]? ?#?(?=[A-Z]{0,3}[-/]?\d)"
)
_VALUE = re.compile(r"[\w][\w./:-]{0,40}")
_DIGITED = re.compile(r"(?<![\w./:-])[A-Z]{0,4}\d[\w./:-]{3,40}")
_TELLING = 4
_JOIN = re.compile(r"(?:, and | and |, |/| or )(?=\d)")
_PLATE = re.compile(
    r"(?<![\w.,-])(?:[A-Z]{1,3}[ -]\d{3,6}(?:[ -][A-Z]{1,3})?"
    r"|\d{1,4}[A-Z]{1,3}(?:[ -]\d{2,4})?(?:[ -][A-Z]{1,3})?"
    r"|[A-Z]{1,3}\d{1,4}[ -][A-Z\d]{2,4}|\d{3,4}[ -][A-Z]{1,3})(?![\w-])"
)
_LONGEST = 3
_LEGAL = re.compile(
    r"\b(?:Protocol|Laws?|Articles?|Acts?|Rules?|Decree|Regulation|Section|Directive|Recital"
    r"|Paragraph|Order|Resolution) (?:\()?$"
)
_ZIP_CUE = re.compile(r"(?i:zip|postcode)|(?<=ostal )code")


def numbered(tokens: Tokens) -> Iterator[Found]:
    """Yield numbers identified by the word before them, and their look-alikes."""
    text = tokens.text
    cued = list(_cued(tokens))
    yield from cued
    yield from _plates(tokens)
    shapes = {_shape(text[one.start : one.end]) for one in cued if one.type == "CODE"}
    shapes = {shape for shape in shapes if shape.count("9") > _TELLING}
    if shapes:
        for match in _DIGITED.finditer(text):
            value = match.group().rstrip(".:-/")
            if _shape(value) in shapes:
                end = match.start() + len(value)
                yield Found(match.start(), end, "CODE", 0.9, "shape")


def _shape(value: str) -> str:
    return re.sub(r"\d", "9", value)


def _cued(tokens: Tokens) -> Iterator[Found]:
    text = tokens.text
    for index in tokens.places(_CUES):
        start = tokens.starts[index]
        cue = _CUE.match(text, tokens.ends[index])
        if cue is None or _LEGAL.search(text, max(0, start - 16), start):
            continue
        type_ = "ZIP_CODE" if _ZIP_CUE.match(text, start) else "CODE"
        place: int | None = cue.end()
        while place is not None:
            value = _VALUE.match(text, place)
            if value is None:
                break
            end = value.start() + len(value.group().rstrip(".:-/"))
            yield Found(value.start(), end, type_, 0.9, "cue")
            join = _JOIN.match(text, end)
            place = join.end() if join else None


def _plates(tokens: Tokens) -> Iterator[Found]:
    """Yield what is shaped like a registration plate."""
    starts, ends = tokens.starts, tokens.ends
    for index in tokens.numbers:
        start = starts[index]
        if index and start - ends[index - 1] < 2:
            before = tokens.words[index - 1]
            if len(before) <= _LONGEST and before.isupper():
                start = starts[index - 1]
        match = _PLATE.match(tokens.text, start)
        if match:
            yield Found(*match.span(), "CODE", 0.7, "plate")
