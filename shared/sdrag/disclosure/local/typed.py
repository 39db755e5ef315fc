"""Mentions of the types a constraint names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.vocabulary import Finding, Mention

__all__ = ["typed"]


def typed(
    dossier: Dossier, mentions: Iterable[Mention], readings: Sequence[Reading]
) -> Iterator[Finding]:
    """Yield a finding for every mention of a type that a constraint names."""
    for mention in mentions:
        for reading in readings:
            wanted = mention.type in reading.types or (
                reading.people and mention.type == "PERSON"
            )
            if wanted:
                yield Finding(
                    mention.span, reading.constraint.id, "type", mention.confidence
                )
