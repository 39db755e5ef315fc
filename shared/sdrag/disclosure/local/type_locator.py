"""
Mentions of the types a constraint names.

A bare number is nobody's sum or code for itself: it counts only where its form could be
one; spelled out, from twenty on, since smaller ones are also how prose counts. A name
that the detector takes for a place on weak grounds could be somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.vocabulary import Finding, Mention

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
_BARE = re.compile(r"\d[\d.,]*")
_SPELLED = re.compile(
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty\b|\w[ -](?:hundred|thousand|million"
    r"|billion|trillion)",
    re.IGNORECASE,
)


def typed(
    text: str, mentions: Sequence[Mention], asked: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """
    Yield a finding for every mention of a type that a constraint names.

    Args:
        text: Of a document.
        mentions: What a detector found in it.
        asked: The constraints.
    """
    for parsed in asked:
        for mention in mentions if parsed.types else ():
            if _wanted(mention, mention.span.of(text), parsed):
                yield Finding(
                    mention.span,
                    parsed.constraint.id,
                    "checked" if _is_checked(mention) else "type",
                    mention.confidence,
                    mention.type,
                )


def _is_checked(mention: Mention) -> bool:
    """Say whether the form alone tells what it is."""
    if mention.type == "CODE":
        return mention.reason in _CHECKED_CODES
    return mention.type in _CHECKED


def _wanted(mention: Mention, value: str, parsed: ParsedConstraint) -> bool:
    if mention.type == "NUMBER":
        return _counts(value, parsed)
    if mention.type in parsed.types:
        return True
    if mention.type == "LOCATION":
        return parsed.people and mention.confidence <= _UNSURE
    # A quantity without a unit may be a sum or a code as well.
    bare = mention.type == "QUANTITY" and _BARE.fullmatch(value) is not None
    return bare and _counts(value, parsed)


def _counts(number: str, parsed: ParsedConstraint) -> bool:
    """Say whether a bare number may be what a constraint asks for."""
    if "YEARS" in parsed.types and _may_be_years(number):
        return True
    if "NUMBER" not in parsed.types:
        return False
    if _SPELLED.search(number):
        return "MONEY" in parsed.types or "CODE" not in parsed.types
    least = _CODED if {"MONEY", "CODE"} & parsed.types else 1
    return number[0].isdigit() and len(number) >= least


def _may_be_years(number: str) -> bool:
    """Say whether a number could be somebody's age."""
    if number.isdigit():
        return 0 < int(number) <= _YEARS
    return number.isalpha() and number not in {"hundred", "thousand", "million"}
