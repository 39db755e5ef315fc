"""
Scanning texts for injections: what is suspicious, where, and how sure.

Every reading of a text is searched by patterns, which are certain of what they find.
The trained head gives each window of sentences a score; the windows of all passages of
a request are embedded together. A text that is longer than the policy allows, or is
mostly padding, is suspicious as a whole: both push the rest of the context, or an
order, to where nobody looks.

The strings of the metadata are read too, by the patterns: a title goes into the prompt
of many a host. So is what the host's templates print around a text.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sdrag.effects.steps import Failure, Outcome, Reply, Steps, replied, score, try_each
from sdrag.errors import HostError, SdragError
from sdrag.guardrails.injection import patterns
from sdrag.guardrails.injection.disguises import View, is_hidden, views
from sdrag.policy import InjectionSection
from sdrag.text.folding import fold
from sdrag.text.values import TooLarge, Walk
from sdrag.vocabulary import Confidential, Passage, Span

if TYPE_CHECKING:
    from sdrag.guardrails.injection.classifier import Windows

RULE = "injection"
_BLANK = re.compile(r"\s{200,}+|[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]{20,}+")
_PADDED_LENGTH = 600
_LEAST_INFORMATION = 0.06
_EDGE = 200
_NEIGHBOURS = 20
_ENDS = (*".!?\"'\u201d\u2019)\u3002\uff01\uff1f", "```")
"""After these no sentence goes on."""
_AT_ONCE = 20_000
"""The windows of so many characters are embedded together."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """
    A stretch that speaks to the model.

    Args:
        span: In the text as it was given.
        reason: The pattern or classifier that found it; never its words.
        score: From 0 to 1.
    """

    span: Span
    reason: str
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Scan:
    """
    What was found in a text or a passage.

    Args:
        suspicions: In no particular order; empty for a clean text.
        whole: The text as a whole is suspicious; no part of it can be cut out.
        metadata: The pattern that was found in the metadata, by key.
        frame: The pattern that was found in a passage's frame; empty for none.
    """

    suspicions: tuple[Suspicion, ...] = ()
    whole: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    frame: str = ""

    @property
    def score(self) -> float:
        """The highest score of a suspicion, 0 for a clean text."""
        return max((suspicion.score for suspicion in self.suspicions), default=0.0)

    def plus(self, *suspicions: Suspicion, whole: bool = False) -> Scan:
        """Return a scan with more suspicions."""
        return replace(
            self,
            suspicions=(*self.suspicions, *suspicions),
            whole=self.whole or whole,
        )


Classify = Callable[["Windows"], Sequence[tuple[Span, float]]]
"""Gives windows and the probability of each that it is an injection."""


@dataclass(frozen=True, slots=True)
class _Reading(Confidential):
    """What the patterns found in a text, and its windows where the head is asked."""

    scan: Scan
    windows: Windows | None = None


def scan_text(
    text: str, section: InjectionSection, *, classify: Classify | None = None
) -> Scan:
    """
    Scan a text with the patterns and, where the policy says so, the trained head.

    Args:
        text: As the store holds it.
        section: The policy's.
        classify: Another head than the shipped one.

    Raises:
        MissingExtraError: The head is asked for and the extra `local` is missing.
    """
    reading = _read(text, section)
    if reading.windows is None:
        return reading.scan
    if classify is None:
        from sdrag.guardrails.injection import classifier  # noqa: PLC0415 -- numpy

        classify = classifier.classify
    return reading.scan.plus(*_suspect(classify(reading.windows), section))


def scan_passages(
    passages: Sequence[Passage],
    section: InjectionSection,
    *,
    classifier: bool,
    metadata_keys: Sequence[str] | None = None,
    together: bool = False,
) -> Steps[list[Outcome[Scan]]]:
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

    def read(index: int) -> _Reading:
        passage = passages[index]
        reading = _read(passage.text, section)
        across = _across(index, passages) if together else ()
        scan = replace(
            reading.scan.plus(*across),
            metadata=_in_metadata(passage, metadata_keys, section),
            frame=_in_string(passage.frame, section),
        )
        return replace(reading, scan=scan)

    readings = try_each(read, range(len(passages)))
    scans = _ask_head(readings, [len(passage.text) for passage in passages], section)
    if classifier:
        return (yield from _ask_classifier(passages, scans, section))
    return scans


def _read(text: str, section: InjectionSection) -> _Reading:
    """Read a text by the patterns, and cut it for the head where that is asked."""
    if not text:
        return _Reading(Scan())
    oversized = len(text) > section.max_characters
    if oversized or _is_padding(text):
        reason = "oversized" if oversized else "padding"
        return _Reading(Scan().plus(_everything(text, reason), whole=True))
    readings = tuple(views(text, section.decode_depth))
    scan = Scan(tuple(_find_patterns(text, readings)))
    if not section.local_classifier:
        return _Reading(scan)
    from sdrag.guardrails.injection.classifier import cut  # noqa: PLC0415 -- numpy

    return _Reading(scan, cut(text, readings))


def _is_padding(text: str) -> bool:
    """Say whether a text hides behind blanks, or repeats itself to fill the context."""
    if _BLANK.search(text):
        return True
    if len(text) < _PADDED_LENGTH:
        return False
    raw = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(raw, 1)) < _LEAST_INFORMATION * len(raw)


def _everything(text: str, reason: str, score: float = 1.0) -> Suspicion:
    return Suspicion(Span(0, len(text)), reason, score)


def _find_patterns(text: str, readings: Sequence[View]) -> Iterator[Suspicion]:
    """Yield what patterns find; in what nobody reads at sight, any order to act."""
    for view in readings:
        for name, start, end in patterns.find(view.text, ciphered=view.is_decoded):
            span = view.folded.span(start, end)
            if not view.is_decoded:
                yield Suspicion(span, name)
            elif is_hidden(view.text[start:end], span, text):
                yield Suspicion(span, f"encoded:{name}")
            elif name != "order":
                yield Suspicion(span, name)


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
    offset = len(text) - len(text[-_EDGE:])
    first = max(0, index - _NEIGHBOURS)
    for other in range(first, min(len(passages), index + _NEIGHBOURS + 1)):
        if other == index:
            continue
        folded = fold(f"{tail} {passages[other].text[:_EDGE]}")
        for name, start, end in patterns.find(folded.text):
            span = folded.span(start, end)
            if span.start < len(tail) < span.end - 1:
                begun = Span(offset + span.start, offset + len(tail))
                yield Suspicion(begun, f"across:{name}")


def _in_metadata(
    passage: Passage, keys: Sequence[str] | None, section: InjectionSection
) -> dict[str, str]:
    """Return the keys of the metadata whose values give orders, and by what pattern."""
    reasons = (
        (key, _in_string(string, section))
        for key, value in passage.metadata.items()
        if keys is None or key in keys
        for string in _strings(value)
    )
    return {key: reason for key, reason in reasons if reason}


def _in_string(string: str, section: InjectionSection) -> str:
    """Return the pattern by which a string gives orders; empty for none."""
    patterns_alone = section.model_copy(update={"local_classifier": False})
    suspicions = _read(string, patterns_alone).scan.suspicions
    return suspicions[0].reason if suspicions else ""


def _strings(value: Any) -> list[str]:
    """Return the strings inside a value as deep as it may leave, keys included."""
    strings: list[str] = []

    def read(part: Any) -> None:
        if isinstance(part, str):
            strings.append(part)

    with suppress(TooLarge):
        Walk(read, read, (list, tuple, set, frozenset)).copy(value)
    return strings


def _ask_head(
    readings: Sequence[Outcome[_Reading]],
    lengths: Sequence[int],
    section: InjectionSection,
) -> list[Outcome[Scan]]:
    """Add what the head suspects; the windows of several texts are embedded at once."""
    scans: list[Outcome[Scan]] = [
        item if isinstance(item, Failure) else Reply(item.value.scan)
        for item in readings
    ]
    batches = list(_batches(readings, lengths))
    judged = try_each(
        lambda batch: _classify([replied(readings[at]) for at in batch], section),
        batches,
    )
    for batch, outcome in zip(batches, judged, strict=True):
        for number, at in enumerate(batch):
            if isinstance(outcome, Failure):
                scans[at] = outcome
            else:
                scans[at] = Reply(outcome.value[number])
    return scans


def _batches(
    readings: Sequence[Outcome[_Reading]], lengths: Sequence[int]
) -> Iterator[list[int]]:
    """Yield the places of texts whose windows are embedded together."""
    batch: list[int] = []
    size = 0
    for at, (reading, length) in enumerate(zip(readings, lengths, strict=True)):
        if isinstance(reading, Failure) or reading.value.windows is None:
            continue
        if batch and size + length > _AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += length
    if batch:
        yield batch


def _classify(readings: Sequence[_Reading], section: InjectionSection) -> list[Scan]:
    from sdrag.guardrails.injection.classifier import classify_all  # noqa: PLC0415 -- numpy

    cuts = [reading.windows for reading in readings if reading.windows is not None]
    return [
        reading.scan.plus(*_suspect(windows, section))
        for reading, windows in zip(readings, classify_all(cuts), strict=True)
    ]


def _suspect(
    windows: Sequence[tuple[Span, float]], section: InjectionSection
) -> Iterator[Suspicion]:
    for span, chance in windows:
        if chance >= section.threshold:
            yield Suspicion(span, "out-of-place", chance)


def _ask_classifier(
    passages: Sequence[Passage],
    scans: Sequence[Outcome[Scan]],
    section: InjectionSection,
) -> Steps[list[Outcome[Scan]]]:
    """Ask the classifier that was passed about each passage as a whole."""
    pairs = ((passage.text, "") for passage in passages)
    try:
        answers = yield from score(pairs, model=RULE)
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)
    return [
        _with_answer(passage.text, scan, answer, section)
        for passage, scan, answer in zip(passages, scans, answers, strict=True)
    ]


def _with_answer(
    text: str, scan: Outcome[Scan], answer: Outcome[float], section: InjectionSection
) -> Outcome[Scan]:
    if isinstance(scan, Failure):
        return scan
    if isinstance(answer, Failure):
        return answer
    if not math.isfinite(answer.value):
        return Failure(HostError("The classifier gave no number."))
    if answer.value < section.threshold or not text:
        return scan
    chance = min(1.0, answer.value)
    return Reply(scan.value.plus(_everything(text, "classifier", chance), whole=True))
