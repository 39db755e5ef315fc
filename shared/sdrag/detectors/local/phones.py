"""Telephone numbers that a word in front tells, and those that end in a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased, cued
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["phones"]

_CUES = cased(
    (
        *("tel", "telephone", "phone", "mobile", "cell", "fax", "whatsapp", "hotline"),
        *(
            "call",
            "callto",
            "dial",
            "ring",
            "text",
            "sms",
            "signal",
            "handy",
            "telefon",
        ),
        *("telefono", "tel\u00e9fono", "t\u00e9l\u00e9phone", "m\u00f3vil", "celular"),
    )
)
_NUMBER = re.compile(
    r"(?: (?i:numbers?|no|nr|me|us|him|her|at|on|is)){0,4}[.:]{0,2} ?"
    r"(?P<value>\(?\+?\(?\d(?:[ ()./-]{0,3}\d){5,14}"
    r"(?:,? ?(?i:x|ext\.?|extension) ?\d{1,6})?)(?![\w/]|[.,]\d)"
)
_DATE = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}).*", re.DOTALL
)
_WORDED = re.compile(
    r"(?<![\w.-])\+?1?[ .-]?\(?8(?:00|33|44|55|66|77|88)\)?[ .-]"
    r"(?:\d{1,3}[ -])?[A-Z]{3,9}(?:-(?:[A-Z]{2,5}|\d{1,4}))?(?!\w)"
)
_FREE = ("800", "833", "844", "855", "866", "877", "888")


def phones(tokens: Tokens) -> Iterator[Found]:
    """Yield telephone numbers."""
    for match in cued(_NUMBER, tokens, _CUES):
        if not _DATE.fullmatch(match["value"]):
            yield Found(*match.span("value"), "PHONE_NUMBER", 0.85, "cue")
    for index in tokens.places(_FREE):
        start = max(0, tokens.starts[index] - 4)
        worded = _WORDED.search(tokens.text, start, tokens.ends[index] + 24)
        if worded:
            yield Found(*worded.span(), "PHONE_NUMBER", 0.85, "worded")
