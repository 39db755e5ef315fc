"""
Numbers that a state gives out, found by their scheme's name or by their form.

Behind the name of a scheme (NHS 943 476 5919) a number is read over its spaces and
hyphens as a whole. Some forms need no name: they mix letters and figures in an order
that prose has not. A check digit that holds makes a number certain; a wrong one never
turns it down. Names that are also everyday words ("pan", "sin") count in capitals only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sdrag.detectors.local.check_digits import (
    finnish_holds,
    holds,
    permit_holds,
    spanish_holds,
)
from sdrag.detectors.local.lexicon import SCHEME_NAMES, cased
from sdrag.detectors.local.tokens import Candidate, Tokens, cued, matches

__all__ = ["_GROUPED", "scheme_numbers", "written_numbers"]


_KINDS = {"ssn": "US_SSN", "ssns": "US_SSN"}
_BETWEEN = re.compile(
    r"(?:[ -](?i:numbers?|no|nr|num|numero|n\u00famero|num\u00e9ro|nummer|numaras\u0131"
    r"|code|id|idnr|identification|card|certificate|registration|member|beneficiary"
    r"|account|provider|transit|ref|reference|is|was|are|of|my|his|her|the|reads|ending"
    r"|with|\u00e8|es|est|ist|on|jest|tunnus|\u010d\u00edslo|di|guida|iva"
    r"|d'identit[\u00e0\u00e9])\b){0,5}[.]?(?: ?[:#=(]{1,2})? ?[\"'#]?"
)
_GROUPED = re.compile(
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
    rf"(?P<value>{_GROUPED.pattern})"
)


def scheme_numbers(tokens: Tokens) -> Iterator[Candidate]:
    """Yield numbers behind the name of their scheme or of a paper that has one."""
    text = tokens.text
    for paper in cued(_PAPER, tokens, _PAPERS):
        if _numbered(paper["value"]):
            yield Candidate(*paper.span("value"), "CODE", 0.84, "paper")
    for word in filter(SCHEME_NAMES.__contains__, tokens.where):
        scheme = word.lower()
        for index in tokens.where[word]:
            ahead = _BETWEEN.match(text, tokens.ends[index])
            value = _GROUPED.match(text, ahead.end()) if ahead else None
            if value and _numbered(value.group()):
                sure = 1.0 if holds(scheme, value.group()) else 0.9
                yield Candidate(
                    *value.span(), _KINDS.get(scheme, "CODE"), sure, "scheme"
                )


def _numbered(value: str) -> bool:
    """Say whether a value has the figures of a number and is no pair of years."""
    return sum(c.isdigit() for c in value) >= _DIGITS and not _YEARS.fullmatch(value)


_STATES = (
    "ATU|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI"
    "|SK|XI|CHE|NO"
)
_WRITTEN = re.compile(
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
_CONFIDENCE = {
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


def written_numbers(text: str, positions: list[int]) -> Iterator[Candidate]:
    """Yield national numbers by their form."""
    for match in matches(_WRITTEN, text, positions):
        kind, value = match.lastgroup or "", match.group()
        if kind == "insurance" and value[:2].islower() and value[:2] in _SMALL_WORDS:
            continue
        check = _CHECKS.get(kind)
        sure = 0.95 if check and check(value) else _CONFIDENCE[kind]
        yield Candidate(*match.span(), "CODE", sure, "written")


_SMALL_WORDS = frozenset(("am", "an", "as", "at", "be", "by", "he", "me", "my", "we"))
