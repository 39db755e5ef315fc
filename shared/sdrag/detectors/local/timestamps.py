"""
Moments as machines write them: ISO 8601, mail headers, logs, and months in capitals.

A date with a time behind it is one finding, with its fraction of a second and its
distance from Greenwich. The year is not looked at: what has this form is a moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import matches
from sdrag.detectors.local.found import Found

__all__ = ["timestamps"]

_SECONDS = r"[0-5]?\d[:.][0-5]\d(?:[:.][0-5]\d(?:[.,]\d{1,12})?)?"
_BASIC = r"[0-2]\d[0-5]\d(?:[0-5]\d(?:[.,]\d{1,12})?)?(?=Z|[+-]\d|[^\w:.-]|$)"
_OFFSET = r"(?: ?(?:Z\b|UTC\b|GMT\b|[+-][0-2]\d:?[0-5]\d\b|[+-][0-2]\d\b))"
_NAMES = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_CENTURY = r"(?:19|20)\d\d"
_STAMP = re.compile(
    r"(?<![\w./:-])(?:"
    rf"(?P<moment>\d{{4}}[-/.]?\d\d[-/.]?\d\d[Tt ](?:{_SECONDS}|{_BASIC}){_OFFSET}?"
    r"(?![\w:]))"
    rf"|(?P<numeric>\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}[T ,]{{1,2}}{_SECONDS}{_OFFSET}?"
    r"(?: ?[AaPp]\.?[Mm]\b)?(?![\w:]))"
    r"|(?P<week>\d{4}-?W[0-5]\d(?:-?[1-7])?(?!\w))"
    rf"|(?P<compact>{_CENTURY}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\w./:-]))"
    rf"|(?P<named>\d{{1,2}}[-/. ]?{_NAMES}(?:[-/. ]?\d{{4}}|[-/.]\d\d| ?'\d\d)"
    rf"(?:[T :,]{{1,2}}{_SECONDS}{_OFFSET}?)?(?![\w:]))"
    rf"|(?P<monthly>(?:{_NAMES}(?:[-/]\d{{4}}|[-/]\d{{1,2}}[-/]\d{{2,4}}|-\d\d)"
    rf"|\d{{1,2}}-{_NAMES}|\d{{4}}/{_NAMES}/\d{{1,2}})(?![\w/-]))"
    rf"|(?P<month>(?:0?[1-9]|1[0-2])/{_CENTURY}(?![\w/-]))"
    rf"|(?P<quarter>(?:Q[1-4][ /-]?{_CENTURY}|{_CENTURY}[ /-]?Q[1-4]|H[12] {_CENTURY})"
    r"(?!\w))"
    r")"
)
_CLOCK = re.compile(
    rf"(?<![\w.,/:-])(?:T?[0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{{1,12}})?)?{_OFFSET}"
    r"|[0-2]?\d:[0-5]\d:[0-5]\d[.,]\d{1,9}|[0-2]?\dh[0-5]\d"
    r"|[0-2]\d[0-5]\d ?(?:hrs?|hours)|[0-2]?\d[:.][0-5]\d ?(?:[Uu]hr|[ap]m(?!\.))"
    r"|[0-2]?\d[:.][0-5]\d[ap]"
    r"|[01]?\d(?::[0-5]\d){1,2} ?[AaPp]\.?[Mm]\.?,? (?:[A-Z]{1,3}T|UTC|GMT))(?!\w)"
)
_CONFIDENCE = {
    "moment": 1.0,
    "numeric": 1.0,
    "named": 0.95,
    "monthly": 0.9,
    "week": 0.8,
    "month": 0.75,
    "quarter": 0.8,
    "compact": 0.5,
}


def timestamps(text: str, places: list[int]) -> Iterator[Found]:
    """Yield dates with their times, and times with a fraction or an offset."""
    for match in matches(_STAMP, text, places):
        confidence = _CONFIDENCE[match.lastgroup or "compact"]
        yield Found(*match.span(), "DATE", confidence, "stamp")
    for match in matches(_CLOCK, text, places):
        yield Found(*match.span(), "TIME", 0.9, "stamp")
