"""
Mentions of the types a constraint asks for.

Types that its words name, and structured identifiers, count wherever they are; the
types of a subject it speaks of count in sentences with a cue of that subject.

A bare number is nobody's sum or code for itself: it counts only where its form could be
one; spelled out, from twenty on, since smaller ones are also how prose counts. A name
that the detector takes for a place on weak grounds could be somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.local.cue_locator import CuedText
from sdrag.vocabulary import Finding, Mention, Span

__all__ = ["typed"]

_YEARS = 110
_UNSURE = 0.6
"""The confidence of a place that nothing but its surroundings makes one."""
_CODED = 3
_CHECKED = frozenset(
    {
        "CREDENTIAL",
        "CREDIT_CARD",
        "EMAIL_ADDRESS",
        "IBAN_CODE",
        "IP_ADDRESS",
        "PHONE_NUMBER",
        "US_SSN",
    }
)
_CHECKED_CODES = frozenset({"check-digits", "mac", "pattern", "scheme"})
_BORN = re.compile(
    r"\b(?:born|births?|birth ?dates?|birthdays?|d\.?o\.?b|n\u00e9e?)\b", re.IGNORECASE
)
_NEAR_BIRTH = 60
_BIRTH_YEAR = re.compile(
    r"(?<!\d)(?:19\d\d|20(?:0\d|1[0-5]))(?!\d)|\b(?:nineteen|two thousand)\b",
    re.IGNORECASE,
)
"""Years in which somebody who is written about may have been born."""
_DAY = re.compile(
    r"\d{1,4}\W+(?:\d{1,2}|[A-Za-z]{3,})\W+\d|[A-Za-z]{3,}\W+\d{1,2}\W+\d|\d{8}|(?:st|nd|rd|th)\b"
)
_SORT_CODE = re.compile(r"\d{2}-\d{2}-\d{2}")
_BARE = re.compile(r"\d[\d.,]*")
_SPELLED = re.compile(
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty\b|\w[ -](?:hundred|thousand|million"
    r"|billion|trillion)",
    re.IGNORECASE,
)


def typed(
    text: str,
    mentions: Sequence[Mention],
    asked: Sequence[ParsedConstraint],
    parts: Sequence[Span] | None = None,
) -> Iterator[Finding]:
    """
    Yield a finding for every mention that a constraint asks for by its type.

    Args:
        text: Of a document.
        mentions: What a detector found in it.
        asked: The constraints.
        parts: Its sentences; found here when missing.
    """
    read = CuedText(text, parts) if any(p.topics for p in asked) else None
    for parsed in asked:
        beside = [
            (topic.types, read.beside(topic))
            for topic in parsed.topics
            if read is not None and topic.types
        ]
        for mention in mentions if parsed.types else ():
            value = mention.span.of(text)
            if (
                _wanted(mention, value, parsed.everywhere)
                or ("BIRTH_DATE" in parsed.everywhere and _is_birth_date(text, mention))
                or any(
                    _wanted(mention, value, types)
                    and not told.isdisjoint(read.indices(mention.span))
                    for types, told in beside
                    if read is not None
                )
            ):
                yield Finding(
                    mention.span,
                    parsed.constraint.id,
                    "checked" if _is_checked(mention) else "type",
                    mention.confidence,
                    mention.type,
                )


def _is_birth_date(text: str, mention: Mention) -> bool:
    """Say whether a date is beside a word of birth, or full and of a plausible year."""
    if mention.type != "DATE":
        return False
    start, end = mention.span.start, mention.span.end
    if _BORN.search(text[max(0, start - _NEAR_BIRTH) : end + _NEAR_BIRTH]):
        return True
    value = mention.span.of(text)
    return _BIRTH_YEAR.search(value) is not None and _DAY.search(value) is not None


def _is_checked(mention: Mention) -> bool:
    """Say whether the form alone tells what it is."""
    if mention.type == "CODE":
        return mention.reason in _CHECKED_CODES
    return mention.type in _CHECKED


def _wanted(mention: Mention, value: str, types: frozenset[str]) -> bool:
    if mention.type == "NUMBER":
        return _counts(value, types)
    if mention.type in types:
        return True
    if mention.type == "DATE":
        return "IBAN_CODE" in types and _SORT_CODE.fullmatch(value) is not None
    if mention.type == "LOCATION":
        return "PERSON" in types and mention.confidence <= _UNSURE
    # A quantity without a unit may be a sum or a code as well.
    bare = mention.type == "QUANTITY" and _BARE.fullmatch(value) is not None
    return bare and _counts(value, types)


def _counts(number: str, types: frozenset[str]) -> bool:
    """Say whether a bare number may be of one of the types."""
    if "YEARS" in types and _may_be_years(number):
        return True
    if "NUMBER" not in types:
        return False
    if _SPELLED.search(number):
        return "MONEY" in types or "CODE" not in types
    least = _CODED if {"MONEY", "CODE"} & types else 1
    return number[0].isdigit() and len(number) >= least


def _may_be_years(number: str) -> bool:
    """Say whether a number could be somebody's age."""
    if number.isdigit():
        return 0 < int(number) <= _YEARS
    return number.isalpha() and number not in {"hundred", "thousand", "million"}
