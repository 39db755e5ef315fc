"""
National numbers that their form gives away, with or without spaces, in any case.

The form mixes letters and figures in an order that prose has not, or carries check
digits that hold. Where a form may also be a telephone's, only its check digits tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sdrag.detectors.local.anchors import matches
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.national_checks import (
    finnish_holds,
    holds,
    permit_holds,
    spanish_holds,
)

__all__ = ["grouped"]

_STATES = (
    "ATU|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI"
    "|SK|XI|CHE|NO"
)
_FORM = re.compile(
    r"(?<![\w+.,/-])(?:"
    r"(?P<insurance>(?i:[a-z]{2}[ -]?\d\d[ -]?\d\d[ -]?\d\d[ -]?[a-d]))"
    r"|(?P<spanish>(?i:[xyz][ -]?\d{7}[ -]?[a-z])"
    r"|(?:\d{8}|\d{2}\.\d{3}\.\d{3})(?:[ -]?[A-HJ-NP-TV-Z]|-?[a-hj-np-tv-z]))"
    r"|(?P<fiscal>(?i:[a-z]{6}\d\d[a-ehlmprst]\d\d[a-z]\d{3}[a-z])"
    r"|[A-Z]{3} ?[A-Z]{3} ?\d[\dL-V] ?[A-EHLMPRST] ?[\dL-V]{2} ?[A-Z] ?[\dL-V]{3}"
    r" ?[A-Z])"
    r"|(?P<account>[A-Z]{5}[ -]?\d{4}[ -]?[A-Z]|[a-z]{5}\d{4}[a-z])"
    r"|(?P<permit>(?i:[stfgm])[ -]?\d{7}[ -]?(?i:[a-z]))"
    r"|(?P<finnish>\d{6}[-+A-FU-Ya-fu-y]\d{3}[0-9A-Za-z])"
    r"|(?P<beneficiary>\d[A-Z][A-Z\d]\d[ -]?[A-Z][A-Z\d]\d[ -]?[A-Z]{2}[ -]?\d\d)"
    r"|(?P<driver>[A-Z9]{5} ?\d{6} ?[A-Z9]{2} ?[A-Z\d] ?[A-Z]{2}"
    r"|(?i:[a-z9]{5}\d{6}[a-z9]{2}[a-z\d][a-z]{2}))"
    r"|(?P<pension>\d{2} ?\d{6} ?[A-Z] ?\d{3})"
    rf"|(?P<vat>(?:{_STATES})[ .-]?\d{{2,4}}(?:[ .-]?\d{{2,4}}){{1,3}}"
    r"(?: ?(?:MWST|B\d\d))?)"
    r"|(?P<register>HR[AB][ -]?\d{1,6}(?: [A-Z])?)"
    r"|(?P<voter>(?i:[a-z]{3})[ -]\d{7})"
    r"|(?P<passport>[A-Z]{1,3}[ -]?\d{6,9}[A-Z]?|[A-Z]\d{2} \d{5}|[A-Z] \d{2} \d{5}"
    r"|[A-Z]{1,2} \d{3} \d{3}(?: \d{3})?|[A-Z]{2} \d{5} ?[A-Z]{2})"
    r"|(?P<brazilian>\d{3}\.\d{3}\.\d{3}-\d{2})"
    r"|(?P<swiss>756[. ]\d{4}[. ]\d{4}[. ]\d{2})"
    r"|(?P<chilean>\d{1,2}\.\d{3}\.\d{3}-[\dkK])"
    r"|(?P<tax>9\d{2}[ -]\d{2}[ -]\d{4})"
    r"|(?P<security>\d{3}[ .]\d{2}[ .]\d{4})"
    r")(?![\w-]|[.,/]\d)"
)
_BARE = {
    "insurance": 0.85,
    "spanish": 0.6,
    "fiscal": 0.9,
    "account": 0.75,
    "permit": 0.7,
    "finnish": 0.75,
    "beneficiary": 0.8,
    "driver": 0.85,
    "pension": 0.7,
    "vat": 0.75,
    "register": 0.85,
    "voter": 0.7,
    "passport": 0.6,
    "brazilian": 0.7,
    "swiss": 0.85,
    "chilean": 0.7,
    "tax": 0.7,
    "security": 0.5,
}
_CHECKS: dict[str, Callable[[str], bool]] = {
    "spanish": spanish_holds,
    "finnish": finnish_holds,
    "permit": permit_holds,
    "brazilian": lambda value: holds("cpf", value),
}


def grouped(text: str, places: list[int]) -> Iterator[Found]:
    """Yield national numbers by their form."""
    for match in matches(_FORM, text, places):
        kind, value = match.lastgroup or "", match.group()
        if kind == "insurance" and value[:2].islower() and value[:2] in _SMALL:
            continue
        check = _CHECKS.get(kind)
        sure = 0.95 if check and check(value) else _BARE[kind]
        yield Found(*match.span(), "CODE", sure, "written")


_SMALL = frozenset(("am", "an", "as", "at", "be", "by", "he", "me", "my", "we"))
