"""
Scanning the passages of one request: their windows are embedded together, in one batch.

The strings of the metadata are read too, by the patterns: a title goes into the prompt
of many a host. So is what the host's templates print around a text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from sdrag.effects.steps import Failure, Outcome, Reply, Steps, replied, score, try_each
from sdrag.errors import HostError, SdragError
from sdrag.guardrails.injection.patterns import find
from sdrag.guardrails.injection.text_scan import (
    PatternScan,
    Scan,
    Suspicion,
    scan_patterns,
    with_suspected,
)
from sdrag.policy import InjectionSection
from sdrag.text.folding import fold
from sdrag.text.values import TooLarge, Walk
from sdrag.vocabulary import Passage, Span

__all__ = ["RULE", "Scanned", "scanned"]

RULE = "injection"
L = TypeVar("L")
R = TypeVar("R")
T = TypeVar("T")
_EDGE = 200
_NEIGHBOURS = 20
_ENDS = (*".!?\"'\u201d\u2019)\u3002\uff01\uff1f", "```")
"""After these no sentence goes on."""
_AT_ONCE = 20_000
"""The windows of so many characters are embedded together."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """
    What was found in a passage.

    Args:
        text: In its text.
        metadata: The pattern that was found in the metadata, by key.
        frame: The pattern that was found in its frame; empty for none.
    """

    text: Scan
    metadata: Mapping[str, str]
    frame: str = ""


def scanned(
    passages: Sequence[Passage],
    section: InjectionSection,
    *,
    classifier: bool,
    metadata_keys: Sequence[str] | None = None,
    together: bool = False,
) -> Steps[list[Outcome[Scanned]]]:
    """
    Scan passages; a passage that could not be scanned to its end is a `Failure`.

    Args:
        passages: At ingest or at retrieval.
        section: The policy's.
        classifier: Ask the classifier that was passed too.
        metadata_keys: Of the metadata that is read; all of it if None.
        together: They stand in one prompt, so an order may begin in one and go on in
            another.
    """
    try:
        scans = _scans(passages, section)
        if together:
            across = try_each(
                lambda index: Scan(tuple(_across(index, passages))),
                range(len(passages)),
            )
            scans = [
                _combined(alone, more, _joined)
                for alone, more in zip(scans, across, strict=True)
            ]
        around = try_each(
            lambda passage: _around(passage, metadata_keys, section), passages
        )
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)
    if classifier:
        theirs = yield from _asked(passages, section)
        scans = [
            _combined(ours, their, _joined)
            for ours, their in zip(scans, theirs, strict=True)
        ]
    return [
        _combined(text, found, lambda own, other: Scanned(own, *other))
        for text, found in zip(scans, around, strict=True)
    ]


def _combined(
    left: Outcome[L], right: Outcome[R], make: Callable[[L, R], T]
) -> Outcome[T]:
    """Make something of two answers, or return the first failure."""
    if isinstance(left, Failure):
        return left
    if isinstance(right, Failure):
        return right
    return Reply(make(left.value, right.value))


def _scans(
    passages: Sequence[Passage], section: InjectionSection
) -> list[Outcome[Scan]]:
    """Read each text by the patterns, then the windows by the head."""
    outcomes = try_each(lambda item: scan_patterns(item.text, section), passages)
    scans: list[Outcome[Scan]] = [
        outcome if isinstance(outcome, Failure) else Reply(outcome.value.found)
        for outcome in outcomes
    ]
    if not section.local_classifier:
        return scans
    lengths = [len(passage.text) for passage in passages]
    batches = list(_batches([_has_windows(outcome) for outcome in outcomes], lengths))
    judgements = try_each(
        lambda some: _by_head(
            [replied(outcomes[position]) for position in some], section
        ),
        batches,
    )
    for some, judgement in zip(batches, judgements, strict=True):
        for index, position in enumerate(some):
            scans[position] = (
                judgement
                if isinstance(judgement, Failure)
                else Reply(judgement.value[index])
            )
    return scans


def _has_windows(outcome: Outcome[PatternScan]) -> bool:
    """Say whether the head is to be asked."""
    return isinstance(outcome, Reply) and outcome.value.windows is not None


def _batches(asked: Sequence[bool], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts whose windows are embedded together."""
    batch: list[int] = []
    size = 0
    for index, length in enumerate(lengths):
        if not asked[index]:
            continue
        if batch and size + length > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += length
    if batch:
        yield batch


def _by_head(readings: Sequence[PatternScan], section: InjectionSection) -> list[Scan]:
    from sdrag.guardrails.injection.classifier import classify_all  # noqa: PLC0415 -- numpy

    cuts = [reading.windows for reading in readings if reading.windows is not None]
    return [
        with_suspected(reading, windows, section)
        for reading, windows in zip(readings, classify_all(cuts), strict=True)
    ]


def _asked(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Outcome[Scan]]]:
    """Ask the classifier that was passed about each passage as a whole."""
    try:
        answers = yield from score(
            ((passage.text, "") for passage in passages), model=RULE
        )
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)
    return [
        _scan_of(passage, answer, section)
        for passage, answer in zip(passages, answers, strict=True)
    ]


def _scan_of(
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


def _joined(ours: Scan, theirs: Scan) -> Scan:
    suspicions = ours.suspicions + theirs.suspicions
    return Scan(suspicions, whole=ours.whole or theirs.whole)


def _across(index: int, passages: Sequence[Passage]) -> Iterator[Suspicion]:
    """
    Yield orders that begin at the open end of a passage and go on in another.

    Only the passage in which an order begins is suspicious: nobody can have another
    document withheld by what stands before it.
    """
    text = passages[index].text
    tail = text[-_EDGE:].rstrip()
    if not tail or tail.endswith(_ENDS):
        return
    first = max(0, index - _NEIGHBOURS)
    for other in range(first, min(len(passages), index + _NEIGHBOURS + 1)):
        if other == index:
            continue
        folded = fold(f"{tail} {passages[other].text[:_EDGE]}")
        for name, start, end in find(folded.text):
            span = folded.span(start, end)
            if span.start < len(tail) < span.end - 1:
                offset = len(text) - len(text[-_EDGE:])
                yield Suspicion(
                    Span(offset + span.start, offset + len(tail)), f"across:{name}"
                )


def _around(
    passage: Passage, keys: Sequence[str] | None, section: InjectionSection
) -> tuple[dict[str, str], str]:
    """Return what gives orders in the metadata, by key, and in the frame."""
    patterns = section.model_copy(update={"local_classifier": False})
    found = _in_metadata(passage, keys, patterns)
    return found, _in_string(passage.frame, patterns) if passage.frame else ""


def _in_metadata(
    passage: Passage, keys: Sequence[str] | None, patterns: InjectionSection
) -> dict[str, str]:
    """Return the keys of the metadata whose values give orders, and by what pattern."""
    found: dict[str, str] = {}
    for key, value in passage.metadata.items():
        if keys is not None and key not in keys:
            continue
        for said in _strings(value):
            if reason := _in_string(said, patterns):
                found.setdefault(key, reason)
    return found


def _in_string(said: str, patterns: InjectionSection) -> str:
    """Return the pattern by which a string gives orders; empty for none."""
    suspicions = scan_patterns(said, patterns).found.suspicions
    return suspicions[0].reason if suspicions else ""


def _strings(value: Any) -> list[str]:
    """Return the strings inside a value as deep as it may leave, keys included."""
    found: list[str] = []

    def read_one(part: Any) -> None:
        if isinstance(part, str):
            found.append(part)

    with suppress(TooLarge):
        Walk(read_one, read_one, (list, tuple, set, frozenset)).copy(value)
    return found
