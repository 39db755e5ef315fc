"""
Several detectors as one: what any of them finds is found.

A text that one of them could not read is a failure, since what that one would have
found is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sdrag.detectors import Detector
from sdrag.effects.steps import Failure, Outcome, Reply, Steps
from sdrag.errors import UsageError
from sdrag.vocabulary import Mention, Span

__all__ = ["UnionDetector"]


@dataclass(frozen=True, slots=True)
class UnionDetector:
    """
    Find what any of several detectors finds.

    Args:
        detectors: At least one.
    """

    detectors: tuple[Detector, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "detectors", tuple(self.detectors))
        if not self.detectors:
            raise UsageError("A union needs at least one detector.")

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        found: list[list[Outcome[tuple[Mention, ...]]]] = [[] for _ in texts]
        for detector in self.detectors:
            outcomes = yield from detector.detect(texts)
            for outcomes_of_text, outcome in zip(found, outcomes, strict=True):
                outcomes_of_text.append(outcome)
        return [_united(outcomes) for outcomes in found]


def _united(
    outcomes: Iterable[Outcome[tuple[Mention, ...]]],
) -> Outcome[tuple[Mention, ...]]:
    surest: dict[tuple[Span, str], Mention] = {}
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return outcome
        for mention in outcome.value:
            key = (mention.span, mention.type)
            known = surest.get(key)
            if known is None or known.confidence < mention.confidence:
                surest[key] = mention
    return Reply(tuple(surest[key] for key in sorted(surest)))
