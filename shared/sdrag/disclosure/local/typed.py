"""
Mentions of the types a constraint names.

A bare number is nobody's sum or code for itself: it counts only where its form could be
one. Officials who act in their office are not who a constraint on patients, witnesses
or children is about, unless it says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.officials import officials, speaks_of_officials
from sdrag.disclosure.local.reading import Reading
from sdrag.vocabulary import Finding, Mention

__all__ = ["typed"]

_YEARS = 110
_CODED = 3


def typed(
    dossier: Dossier, mentions: Sequence[Mention], readings: Sequence[Reading]
) -> Iterator[Finding]:
    """Yield a finding for every mention of a type that a constraint names."""
    in_office = officials(dossier.text, mentions)
    for reading in readings:
        spared = frozenset() if speaks_of_officials(reading.subject) else in_office
        for mention in mentions:
            if _wanted(mention, mention.span.of(dossier.text), reading) and not (
                mention.type == "PERSON" and mention.span in spared
            ):
                yield Finding(
                    mention.span, reading.constraint.id, "type", mention.confidence
                )


def _wanted(mention: Mention, value: str, reading: Reading) -> bool:
    if mention.type != "NUMBER":
        return mention.type in reading.types
    if "YEARS" in reading.types and _may_be_years(value):
        return True
    if "NUMBER" not in reading.types:
        return False
    if "MONEY" in reading.types or "CODE" in reading.types:
        return len(value) >= _CODED and value[0].isdigit()
    return value[0].isdigit()


def _may_be_years(number: str) -> bool:
    """Say whether a number could be somebody's age."""
    if number.isdigit():
        return 0 < int(number) <= _YEARS
    return number.isalpha() and number not in {"hundred", "thousand", "million"}
