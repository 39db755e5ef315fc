"""Mentions of the types a constraint names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.vocabulary import Finding, Mention

__all__ = ["typed"]

_YEARS = 110


def typed(
    dossier: Dossier, mentions: Iterable[Mention], readings: Sequence[Reading]
) -> Iterator[Finding]:
    """Yield a finding for every mention of a type that a constraint names."""
    for mention in mentions:
        for reading in readings:
            if mention.type in reading.types or (
                mention.type == "NUMBER"
                and "YEARS" in reading.types
                and _may_be_years(mention.span.of(dossier.text))
            ):
                yield Finding(
                    mention.span, reading.constraint.id, "type", mention.confidence
                )


def _may_be_years(number: str) -> bool:
    """Say whether a number could be somebody's age."""
    if number.isdigit():
        return 0 < int(number) <= _YEARS
    return re.search(r"hundred|thousand|million", number) is None and number.isalpha()
