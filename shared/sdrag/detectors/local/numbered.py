"""Numbers that the word before them makes somebody's, such as staff number 40417."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found

__all__ = ["numbered"]

_CUE = re.compile(
    r"\b(?:[Nn]o|[Nn]os|[Nn]r|[Nn]umbers?|[Nn]umbered|[Cc]odes?|[Rr]ef(?:erence)?s?"
    r"|ID|[Ii]d|[Pp]lates?|PIN|[Pp]in|[Ss]erial|[Pp]asscode|[Cc]ombination|[Rr]oom"
    r"|[Pp]articipants?|[Ss]ubjects?|[Ss]amples?|[Aa]ccounts?|[Tt]icket|[Cc]ase|ZIP"
    r"|[Zz]ip|[Pp]ostcode|[Pp]lots?|[Ff]ile|[Ii]nvoice|[Oo]rder|[Pp]olicy|[Cc]ard)\b"
    r"(?: (?:number|no|code|was|is|of|are))?[.:#,]? ?#?"
    r"(?=[A-Z]{0,3}[-/]?\d)"
)
_VALUE = re.compile(r"[\w][\w./:-]{0,40}")
_DIGITED = re.compile(r"(?<![\w./:-])[A-Z]{0,4}\d[\w./:-]{3,40}")
_TELLING = 4
_JOIN = re.compile(r"(?:, and | and |, |/| or )(?=\d)")
_PLATE = re.compile(
    r"(?<![\w.,-])(?:[A-Z]{1,3}[ -]\d{3,4}(?:[ -][A-Z]{1,3})?"
    r"|\d{1,4}[A-Z]{1,3}(?:[ -]\d{2,4})?(?:[ -][A-Z]{1,3})?"
    r"|[A-Z]{1,3}\d{1,4}[ -][A-Z\d]{2,4}|\d{3,4}[ -][A-Z]{1,3})(?![\w-])"
)
_LEGAL = re.compile(
    r"\b(?:Protocol|Laws?|Articles?|Acts?|Rules?|Decree|Regulation|Section|Directive|Recital"
    r"|Paragraph|Order|Resolution) (?:\()?$"
)
_ZIP_CUE = re.compile(r"(?:ZIP|zip|postcode|Postcode|postal code)")


def numbered(text: str) -> Iterator[Found]:
    """Yield numbers identified by the word before them, and their look-alikes."""
    cued = list(_cued(text))
    yield from cued
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


def _cued(text: str) -> Iterator[Found]:
    for cue in _CUE.finditer(text):
        if _LEGAL.search(text, max(0, cue.start() - 16), cue.start()):
            continue
        type_ = "ZIP_CODE" if _ZIP_CUE.match(cue.group()) else "CODE"
        place: int | None = cue.end()
        while place is not None:
            value = _VALUE.match(text, place)
            if value is None:
                break
            end = value.start() + len(value.group().rstrip(".:-/"))
            yield Found(value.start(), end, type_, 0.9, "cue")
            join = _JOIN.match(text, end)
            place = join.end() if join else None
    for match in _PLATE.finditer(text):
        yield Found(*match.span(), "CODE", 0.7, "plate")
