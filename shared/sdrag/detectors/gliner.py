"""
GLiNER as a detector.

The model is the host's own, loaded from wherever the host keeps it; nothing is fetched
here. GLiNER reads a limited number of tokens and says nothing about the rest, so texts
are cut between sentences into windows that it can read to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from sdrag.detectors.text_windows import windows
from sdrag.effects.runner import try_within
from sdrag.effects.steps import Outcome, Steps
from sdrag.vocabulary import Mention, Span

__all__ = ["DEFAULT_LABELS", "GlinerDetector", "GlinerModel"]

DEFAULT_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "person": "PERSON",
        "organization": "ORGANIZATION",
        "location": "LOCATION",
        "address": "ADDRESS",
        "date": "DATE",
        "phone number": "PHONE_NUMBER",
        "email": "EMAIL_ADDRESS",
        "identification number": "CODE",
        "medical condition": "CONDITION",
        "medication dose": "DOSE",
        "amount of money": "MONEY",
        "job title": "JOB_TITLE",
        "nationality": "NATIONALITY",
        "age": "AGE",
    }
)
"""What GLiNER is asked for, and the type each label becomes."""


class GlinerModel(Protocol):
    """What is used of `gliner.GLiNER`."""

    def predict_entities(
        self, text: str, labels: list[str], **options: Any
    ) -> Sequence[Mapping[str, Any]]:
        """Return mappings with `start`, `end`, `label` and `score`."""
        ...


@dataclass(frozen=True, slots=True)
class GlinerDetector:
    """
    Find what a GLiNER model finds.

    Args:
        model: The host's.
        labels: Labels in plain words, and the type each becomes.
        threshold: The least score.
        window: The most characters the model is sure to read to the end: 384 tokens
            of GLiNER are about 1,500 characters of English.
        seconds: How long a text may take; one that takes longer is withheld, and so
            are those after it.
    """

    model: GlinerModel = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=lambda: DEFAULT_LABELS)
    threshold: float = 0.4
    window: int = 1200
    seconds: float = 60.0

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_within(self.seconds, self._found, texts)

    def _found(self, text: str) -> tuple[Mention, ...]:
        return tuple(sorted(self._mentions(text), key=lambda mention: mention.span))

    def _mentions(self, text: str) -> Iterator[Mention]:
        for window in windows(text, self.window):
            for entity in self.model.predict_entities(
                window.of(text), list(self.labels), threshold=self.threshold
            ):
                yield Mention(
                    Span(entity["start"] + window.start, entity["end"] + window.start),
                    self.labels.get(entity["label"], entity["label"].upper()),
                    min(1.0, max(0.0, float(entity["score"]))),
                    "gliner",
                )
