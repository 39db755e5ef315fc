"""
Numbers that a scheme's own name makes somebody's: NHS 943 476 5919, PESEL 44051401359.

Behind the name of a scheme a number is read over its spaces and hyphens as a whole. A
check digit that holds makes it certain. Names that are also everyday words ("pan",
"sin") count in capitals only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased, cued
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.national_checks import holds
from sdrag.detectors.local.scheme_names import SCHEME_NAMES
from sdrag.detectors.local.words import Tokens

__all__ = ["GROUPED", "nationals"]

_KINDS = {"ssn": "US_SSN", "ssns": "US_SSN"}
_AHEAD = re.compile(
    r"(?:[ -](?i:numbers?|no|nr|num|numero|n\u00famero|num\u00e9ro|nummer|numaras\u0131"
    r"|code|id|idnr|identification|card|certificate|registration|member|beneficiary"
    r"|account|provider|transit|ref|reference|is|was|are|of|my|his|her|the|reads|ending"
    r"|with|\u00e8|es|est|ist|on|jest|tunnus|\u010d\u00edslo|di|guida|iva"
    r"|d'identit[\u00e0\u00e9])\b){0,5}[.]?(?: ?[:#=(]{1,2})? ?[\"'#]?"
)
GROUPED = re.compile(
    r"(?:[A-Z]{1,6}[ -]){0,2}[A-Za-z]{0,6}\d[A-Za-z\d]{0,24}"
    r"(?:[ ./_-](?!\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))"
    r"(?:\d[A-Za-z\d]{0,12}|[A-Z]{1,3}\d[A-Z\d]{0,10}|[A-Z]{1,3}(?= ?\d)|[B-HJ-Z])"
    r"(?!\w)){0,8}(?!\w)"
)
_DIGITS = 5
_YEARS = re.compile(r"(?:1[5-9]|20)\d\d[ /-](?:(?:1[5-9]|20)?\d\d)")


_PAPERS = cased(
    (
        *("account", "licence", "license", "card", "identity", "insurance", "permit"),
        *("certificate", "registration", "policy", "security", "member", "tax"),
    )
) | {"ID"}
# Less than what check digits or a name say, more than what looks like a telephone.
_PAPER = re.compile(
    r"(?:(?:'s)? (?i:licen[cs]e|card|account))?(?: (?i:numbers?|no|nr|id|code)\b\.?"
    r"|(?=[:#])|(?<=ID)(?= \d))(?: (?:is|was))?(?: ?[:#]{1,2})? ?[\"'#]?"
    rf"(?P<value>{GROUPED.pattern})"
)


def nationals(tokens: Tokens) -> Iterator[Found]:
    """Yield numbers behind the name of their scheme or of a paper that has one."""
    text = tokens.text
    for paper in cued(_PAPER, tokens, _PAPERS):
        if _numbered(paper["value"]):
            yield Found(*paper.span("value"), "CODE", 0.84, "paper")
    for word in filter(SCHEME_NAMES.__contains__, tokens.where):
        scheme = word.lower()
        for index in tokens.where[word]:
            ahead = _AHEAD.match(text, tokens.ends[index])
            value = GROUPED.match(text, ahead.end()) if ahead else None
            if value and _numbered(value.group()):
                sure = 1.0 if holds(scheme, value.group()) else 0.9
                yield Found(*value.span(), _KINDS.get(scheme, "CODE"), sure, "scheme")


def _numbered(value: str) -> bool:
    """Say whether a value has the figures of a number and is no pair of years."""
    return sum(c.isdigit() for c in value) >= _DIGITS and not _YEARS.fullmatch(value)
