"""
Mentions of the types a constraint names.

A bare number is nobody's sum or code for itself: it counts only where its form could be
one; spelled out, from twenty on, since smaller ones are also how prose counts. A name
that the detector takes for a place on weak grounds could be somebody's. Officials who
act in their office are not who a constraint on patients, witnesses or children is
about, unless it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.officials import officials, speaks_of_officials
from sdrag.disclosure.local.reading import Reading
from sdrag.vocabulary import Finding, Mention

__all__ = ["sparing_officials", "typed"]

_YEARS = 110
_UNSURE = 0.6
"""The confidence of a place that nothing but its surroundings makes one."""
_CODED = 3
_SPELLED = re.compile(
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty\b|\w[ -](?:hundred|thousand|million)",
    re.IGNORECASE,
)


def typed(
    dossier: Dossier, mentions: Sequence[Mention], readings: Sequence[Reading]
) -> Iterator[Finding]:
    """Yield a finding for every mention of a type that a constraint names."""
    for reading in readings:
        for mention in mentions:
            if _wanted(mention, mention.span.of(dossier.text), reading):
                yield Finding(
                    mention.span, reading.constraint.id, "type", mention.confidence
                )


def sparing_officials(
    findings: Iterable[Finding],
    dossier: Dossier,
    mentions: Sequence[Mention],
    readings: Sequence[Reading],
) -> Iterator[Finding]:
    """Leave out names of officials where a constraint is not about them."""
    named = {
        place
        for span in officials(dossier.text, mentions)
        for place in range(span.start, span.end)
    }
    private = {
        reading.constraint.id
        for reading in readings
        if not (reading.identifying or speaks_of_officials(reading.subject))
    }
    for finding in findings:
        if finding.constraint_id not in private or finding.span.start not in named:
            yield finding


def _wanted(mention: Mention, value: str, reading: Reading) -> bool:
    if mention.type != "NUMBER":
        unsure = mention.type == "LOCATION" and mention.confidence <= _UNSURE
        return mention.type in reading.types or (reading.people and unsure)
    if "YEARS" in reading.types and _may_be_years(value):
        return True
    if "NUMBER" not in reading.types:
        return False
    if _SPELLED.search(value):
        return "MONEY" in reading.types or "CODE" not in reading.types
    least = _CODED if {"MONEY", "CODE"} & reading.types else 1
    return value[0].isdigit() and len(value) >= least


def _may_be_years(number: str) -> bool:
    """Say whether a number could be somebody's age."""
    if number.isdigit():
        return 0 < int(number) <= _YEARS
    return number.isalpha() and number not in {"hundred", "thousand", "million"}
