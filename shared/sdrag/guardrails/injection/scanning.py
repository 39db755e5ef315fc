"""
Scanning the passages of one request: their windows are embedded together, in one batch.

The strings of the metadata are read too, by the patterns: a title goes into the prompt
of many a host. A passage whose scan failed has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdrag.errors import SdragError
from sdrag.guardrails.injection.scan import Reading, Scan, Suspicion, judged, read
from sdrag.policy import InjectionSection
from sdrag.steps import Failure, Outcome, Steps, compute, replied, score
from sdrag.vocabulary import Passage, Span

__all__ = ["RULE", "Scanned", "scanned"]

RULE = "injection"
_DEPTH = 4


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
) -> Steps[list[Scanned | None]]:
    """
    Scan passages; None for one that could not be scanned.

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
    except SdragError:
        return [None] * len(passages)
    if classifier:
        theirs = yield from _asked(passages, section)
        scans = [_joined(one, other) for one, other in zip(scans, theirs, strict=True)]
    return [
        None if text is None or isinstance(keys, Failure) else Scanned(text, keys.value)
        for text, keys in zip(scans, told, strict=True)
    ]


def _scans(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Scan | None]]:
    """Read each text by the patterns, then the windows of all by the head."""
    outcomes = yield from compute(lambda one: read(one.text, section), passages)
    if not section.local_classifier:
        return [_found(one) for one in outcomes]
    readings = [None if isinstance(one, Failure) else one.value for one in outcomes]
    (scans,) = yield from compute(lambda given: _by_head(given, section), [readings])
    return replied(scans)


def _found(outcome: Outcome[Reading]) -> Scan | None:
    return None if isinstance(outcome, Failure) else outcome.value.found


def _by_head(
    readings: Sequence[Reading | None], section: InjectionSection
) -> list[Scan | None]:
    from sdrag.guardrails.injection.classifier import classify_all  # noqa: PLC0415 -- numpy

    asked = [one for one in readings if one is not None and one.cut is not None]
    windows = iter(classify_all([one.cut for one in asked if one.cut is not None]))
    return [
        None
        if one is None
        else one.found
        if one.cut is None
        else judged(one, next(windows), section)
        for one in readings
    ]


def _asked(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Scan | None]]:
    """Ask the classifier that was handed in about each passage as a whole."""
    try:
        answers = yield from score(
            ((passage.text, "") for passage in passages), model=RULE
        )
    except SdragError:
        return [None] * len(passages)
    return [
        _verdict(passage, answer, section)
        for passage, answer in zip(passages, answers, strict=True)
    ]


def _verdict(
    passage: Passage, answer: Outcome[float], section: InjectionSection
) -> Scan | None:
    if isinstance(answer, Failure) or not math.isfinite(answer.value):
        return None
    if answer.value < section.threshold or not passage.text:
        return Scan()
    everything = Span(0, len(passage.text))
    suspicion = Suspicion(everything, "classifier", min(1.0, answer.value))
    return Scan((suspicion,), whole=True)


def _joined(ours: Scan | None, theirs: Scan | None) -> Scan | None:
    if ours is None or theirs is None:
        return None
    return Scan(ours.suspicions + theirs.suspicions, ours.whole or theirs.whole)


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


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield every string inside a value, the keys of mappings included."""
    if isinstance(value, str):
        yield value
    elif depth < _DEPTH and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(key, depth + 1)
            yield from _strings(inner, depth + 1)
    elif depth < _DEPTH and isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _strings(inner, depth + 1)
