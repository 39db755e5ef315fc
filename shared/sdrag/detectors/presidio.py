"""
Presidio as a detector.

The analyzer is the host's own, with the models it loaded; nothing is fetched here. Two
cautions: an analyzer made without arguments downloads a language model, and a pattern
that Presidio stops for time is skipped by it without a word, so unite it with the local
detector where that matters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from sdrag.effects.runner import try_within
from sdrag.effects.steps import Outcome, Steps
from sdrag.vocabulary import Mention, Span

__all__ = ["DEFAULT_TYPES", "PresidioAnalyzer", "PresidioDetector"]


class PresidioAnalyzer(Protocol):
    """What is used of `presidio_analyzer.AnalyzerEngine`."""

    def analyze(self, text: str, language: str, **options: Any) -> Sequence[Any]:
        """Return results with `start`, `end`, `entity_type` and `score`."""
        ...


DEFAULT_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "CRYPTO": "CODE",
        "DATE_TIME": "DATE",
        "MAC_ADDRESS": "CODE",
        "MEDICAL_LICENSE": "CODE",
        "NRP": "NATIONALITY",
        "US_SSN": "US_SSN",
        "UUID": "CODE",
    }
)
"""The types that Presidio's entities become, where the two have other names."""
_OF_A_COUNTRY = re.compile(r"[A-Z]{2}_")
"""Presidio's names of national identifiers, such as `UK_NHS`, begin so."""


@dataclass(frozen=True, slots=True)
class PresidioDetector:
    """
    Find what a Presidio analyzer finds.

    Args:
        analyzer: The host's `AnalyzerEngine`.
        language: Of the texts, as Presidio names it.
        entities: Presidio's names of what to look for; all it knows when empty.
        threshold: The least score.
        types: The types that entities become, by Presidio's names. An entity that is
            not named keeps its name; a national identifier becomes a `CODE`.
        seconds: How long a text may take; one that takes longer is withheld, and so
            are those after it.
    """

    analyzer: PresidioAnalyzer = field(repr=False)
    language: str = "en"
    entities: tuple[str, ...] = ()
    threshold: float = 0.0
    types: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TYPES)
    seconds: float = 60.0

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_within(self.seconds, self._found, texts)

    def _found(self, text: str) -> tuple[Mention, ...]:
        results = self.analyzer.analyze(
            text=text,
            language=self.language,
            entities=list(self.entities) or None,
            score_threshold=self.threshold,
        )
        mentions = (
            Mention(
                Span(result.start, result.end),
                self._type(result.entity_type),
                min(1.0, max(0.0, float(result.score))),
                "presidio",
            )
            for result in results
            if result.start < result.end
        )
        return tuple(sorted(mentions, key=lambda mention: mention.span))

    def _type(self, entity: str) -> str:
        is_national = _OF_A_COUNTRY.match(entity) is not None
        return self.types.get(entity, "CODE" if is_national else entity)
