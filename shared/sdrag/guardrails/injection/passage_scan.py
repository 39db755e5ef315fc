"""
Scanning the passages of one request: their windows are embedded together, in one batch.

The strings of the metadata are read too, by the patterns: a title goes into the prompt
of many a host.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sdrag.engine.steps import Failure, Outcome, Reply, Steps, compute, replied, score
from sdrag.errors import HostError, SdragError
from sdrag.guardrails.injection.text_scan import Reading, Scan, Suspicion, judged, read
from sdrag.policy import InjectionSection
from sdrag.text.nested_values import TooLarge, Walk
from sdrag.vocabulary import Passage, Span

__all__ = ["RULE", "Scanned", "scanned"]

RULE = "injection"
_AT_ONCE = 20_000
"""The windows of so many characters are embedded together."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """
    What was found in a passage.

    Args:
        text: In its text.
        metadata: The pattern that was found in the metadata, by key.
    """

    text: Scan
    metadata: Mapping[str, str]


def scanned(
    passages: Sequence[Passage],
    section: InjectionSection,
    *,
    classifier: bool,
    metadata_keys: Sequence[str] | None = None,
) -> Steps[list[Outcome[Scanned]]]:
    """
    Scan passages; a passage that could not be scanned to its end is a `Failure`.

    Args:
        passages: At ingest or at retrieval.
        section: The policy's.
        classifier: Ask the classifier that was handed in too.
        metadata_keys: Of the metadata that is read; all of it if None.
    """
    try:
        scans = yield from _scans(passages, section)
        told = yield from compute(
            lambda passage: _in_metadata(passage, metadata_keys, section), passages
        )
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)
    if classifier:
        theirs = yield from _asked(passages, section)
        scans = [_joined(one, other) for one, other in zip(scans, theirs, strict=True)]
    return [_both(text, keys) for text, keys in zip(scans, told, strict=True)]


def _both(text: Outcome[Scan], keys: Outcome[dict[str, str]]) -> Outcome[Scanned]:
    if isinstance(text, Failure):
        return text
    if isinstance(keys, Failure):
        return keys
    return Reply(Scanned(text.value, keys.value))


def _scans(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Outcome[Scan]]]:
    """Read each text by the patterns, then the windows by the head."""
    outcomes = yield from compute(lambda one: read(one.text, section), passages)
    scans: list[Outcome[Scan]] = [
        one if isinstance(one, Failure) else Reply(one.value.found) for one in outcomes
    ]
    if not section.local_classifier:
        return scans
    lengths = [len(passage.text) for passage in passages]
    batches = list(_batches([_cut_of(one) for one in outcomes], lengths))
    judgements = yield from compute(
        lambda some: _by_head([replied(outcomes[place]) for place in some], section),
        batches,
    )
    for some, judgement in zip(batches, judgements, strict=True):
        for index, place in enumerate(some):
            scans[place] = (
                judgement
                if isinstance(judgement, Failure)
                else Reply(judgement.value[index])
            )
    return scans


def _cut_of(outcome: Outcome[Reading]) -> bool:
    """Say whether the head is to be asked."""
    return isinstance(outcome, Reply) and outcome.value.cut is not None


def _batches(asked: Sequence[bool], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts whose windows are embedded together."""
    batch: list[int] = []
    size = 0
    for place, own in enumerate(lengths):
        if not asked[place]:
            continue
        if batch and size + own > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += own
    if batch:
        yield batch


def _by_head(readings: Sequence[Reading], section: InjectionSection) -> list[Scan]:
    from sdrag.guardrails.injection.classifier import classify_all  # noqa: PLC0415 -- numpy

    cuts = [one.cut for one in readings if one.cut is not None]
    return [
        judged(one, windows, section)
        for one, windows in zip(readings, classify_all(cuts), strict=True)
    ]


def _asked(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Outcome[Scan]]]:
    """Ask the classifier that was handed in about each passage as a whole."""
    try:
        answers = yield from score(
            ((passage.text, "") for passage in passages), model=RULE
        )
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)
    return [
        _verdict(passage, answer, section)
        for passage, answer in zip(passages, answers, strict=True)
    ]


def _verdict(
    passage: Passage, answer: Outcome[float], section: InjectionSection
) -> Outcome[Scan]:
    if isinstance(answer, Failure):
        return answer
    if not math.isfinite(answer.value):
        return Failure(HostError("The classifier gave no number."))
    if answer.value < section.threshold or not passage.text:
        return Reply(Scan())
    everything = Span(0, len(passage.text))
    suspicion = Suspicion(everything, "classifier", min(1.0, answer.value))
    return Reply(Scan((suspicion,), whole=True))


def _joined(ours: Outcome[Scan], theirs: Outcome[Scan]) -> Outcome[Scan]:
    if isinstance(ours, Failure):
        return ours
    if isinstance(theirs, Failure):
        return theirs
    one, other = ours.value, theirs.value
    return Reply(Scan(one.suspicions + other.suspicions, one.whole or other.whole))


def _in_metadata(
    passage: Passage, keys: Sequence[str] | None, section: InjectionSection
) -> dict[str, str]:
    """Return the keys of the metadata whose values give orders, and by what pattern."""
    plain = section.model_copy(update={"local_classifier": False})
    found: dict[str, str] = {}
    for key, value in passage.metadata.items():
        if keys is not None and key not in keys:
            continue
        for said in _strings(value):
            suspicions = read(said, plain).found.suspicions
            if suspicions:
                found.setdefault(key, suspicions[0].reason)
    return found


def _strings(value: Any) -> list[str]:
    """Return the strings inside a value as deep as it may leave, keys included."""
    found: list[str] = []

    def read_one(part: Any) -> None:
        if isinstance(part, str):
            found.append(part)

    with suppress(TooLarge):
        Walk(read_one, read_one, (list, tuple, set, frozenset)).copy(value)
    return found
