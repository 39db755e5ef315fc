"""
Scanning texts for injections: what is suspicious, where, and how sure.

Every reading of a text is searched by patterns, which are certain of what they find.
The trained head gives each window of sentences a score; the windows of all passages of
a request are embedded together. A text that is longer than the policy allows, or is
mostly padding, is suspicious as a whole: both push the rest of the context, or an
order, to where nobody looks.

The strings of the metadata are read too, by the patterns: a title goes into the prompt
of many a host.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sdrag.effects.steps import Failure, Outcome, Reply, Steps, replied, score, try_each
from sdrag.errors import HostError, SdragError
from sdrag.guardrails.injection import InjectionSection, patterns
from sdrag.guardrails.injection.disguises import Reading, is_hidden, views
from sdrag.text.folding import fold
from sdrag.text.nested import TooLarge, Walk
from sdrag.vocabulary import Passage, Span

if TYPE_CHECKING:
    from sdrag.guardrails.injection.classifier import Windows

RULE = "injection"
_BLANK = re.compile(r"\s{200,}+|[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]{20,}+")
_PADDED_LENGTH = 600
_LEAST_INFORMATION = 0.06
_EDGE = 200
_NEIGHBOURS = 20
_SCRAP = 60
"""Characters of a passage that can be the middle of a sentence."""
_MOST_SCRAPS = 6
_MARK = r"\.{2,}+|\u2026|[\u2013\u2014>/<|~*\u00ab\u00bb]|[\[(][^\[\]()]{0,24}[\])]"
_MARKS_AFTER = re.compile(rf"(?:\s|{_MARK}|\s-)+\Z")
_MARKS_BEFORE = re.compile(
    rf"(?:\s|{_MARK}|-|(?i:(?:part|step) )?\w{{1,2}}(?: of \w{{1,2}}|/\d)?[:.)])*+"
)
"""Marks of a text that goes on or went before: dots, dashes, arrows, part numbers."""
_ENDS = (*".!?\"'\u201d\u2019)\u3002\uff01\uff1f", "```")
"""After these no sentence goes on."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A stretch that speaks to the model, and what pattern or classifier found it."""

    span: Span
    reason: str
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class ScanResult:
    """
    What was found in a text or a passage.

    Args:
        whole: The text as a whole is suspicious; no part of it can be cut out.
        metadata: The pattern that was found in the metadata, by key.
    """

    suspicions: tuple[Suspicion, ...] = ()
    whole: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The highest score of a suspicion, 0 for a clean text."""
        return max((suspicion.score for suspicion in self.suspicions), default=0.0)

    def plus(self, *suspicions: Suspicion, whole: bool = False) -> ScanResult:
        """Return a scan with more suspicions."""
        return replace(
            self,
            suspicions=(*self.suspicions, *suspicions),
            whole=self.whole or whole,
        )


def scan_text(text: str, section: InjectionSection) -> ScanResult:
    """Scan a text with the patterns and, where the policy says so, the trained head."""
    (scan,) = _scan_texts([text], section)
    return replied(scan)


def scan_passages(
    passages: Sequence[Passage],
    section: InjectionSection,
    *,
    classifier: bool,
    metadata_keys: Sequence[str] | None = None,
    together: bool = False,
) -> Steps[list[Outcome[ScanResult]]]:
    """
    Scan passages; a passage that could not be scanned to its end is a `Failure`.

    `classifier`: ask the classifier that was passed too, about each text as a whole.
    `metadata_keys`: of the metadata that is read; all of it if None. `together`: they
    stand in one prompt, so an instruction may begin in one and go on in another.
    """
    scans = _scan_texts([passage.text for passage in passages], section)
    by_patterns = section.model_copy(update={"local_classifier": False})

    def read_rest(index: int) -> ScanResult:
        passage, scan = passages[index], replied(scans[index])
        across = _find_across(index, passages) if together else ()
        return replace(
            scan.plus(*across),
            metadata=_scan_metadata(passage, metadata_keys, by_patterns),
        )

    read = try_each(read_rest, range(len(passages)))
    if not classifier:
        return read
    try:
        answers = yield from score(((item.text, "") for item in passages), model=RULE)
    except SdragError as error:
        return [Failure(error.sealed())] * len(passages)

    def add_answer(index: int) -> ScanResult:
        scan, chance = replied(read[index]), replied(answers[index])
        if not math.isfinite(chance):
            raise HostError("The classifier gave no number.")
        text = passages[index].text
        if chance < section.threshold or not text:
            return scan
        return scan.plus(_whole(text, "classifier", min(1.0, chance)), whole=True)

    return try_each(add_answer, range(len(passages)))


def _scan_texts(
    texts: Sequence[str], section: InjectionSection
) -> list[Outcome[ScanResult]]:
    """Scan texts by the patterns, and by the head, which reads all windows at once."""
    readings = try_each(partial(_read, section=section), texts)
    scans: list[Outcome[ScanResult]] = [
        item if isinstance(item, Failure) else Reply(item.value[0]) for item in readings
    ]
    windows = {
        at: item.value[1]
        for at, item in enumerate(readings)
        if isinstance(item, Reply) and item.value[1] is not None
    }
    if not windows:
        return scans
    from sdrag.guardrails.injection import classifier  # noqa: PLC0415 -- numpy

    (judged,) = try_each(classifier.classify, [[*windows.values()]])
    for number, at in enumerate(windows):
        if isinstance(judged, Failure):
            scans[at] = judged
            continue
        suspicions = [
            Suspicion(span, "out-of-place", chance)
            for span, chance in judged.value[number]
            if chance >= section.threshold
        ]
        scans[at] = Reply(replied(scans[at]).plus(*suspicions))
    return scans


def _read(text: str, section: InjectionSection) -> tuple[ScanResult, Windows | None]:
    """Read a text by the patterns, and cut it for the head where that is asked."""
    if not text:
        return ScanResult(), None
    oversized = len(text) > section.max_characters
    if oversized or _is_padding(text):
        reason = "oversized" if oversized else "padding"
        return ScanResult((_whole(text, reason),), whole=True), None
    readings = tuple(views(text, section.decode_depth))
    scan = ScanResult(tuple(_find_patterns(text, readings)))
    if not section.local_classifier:
        return scan, None
    from sdrag.guardrails.injection.classifier import cut  # noqa: PLC0415 -- numpy

    return scan, cut(text, readings)


def _is_padding(text: str) -> bool:
    """Say whether a text hides behind blanks, or repeats itself to fill the context."""
    if _BLANK.search(text):
        return True
    if len(text) < _PADDED_LENGTH:
        return False
    raw = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(raw, 1)) < _LEAST_INFORMATION * len(raw)


def _whole(text: str, reason: str, score: float = 1.0) -> Suspicion:
    return Suspicion(Span(0, len(text)), reason, score)


def _find_patterns(text: str, readings: Sequence[Reading]) -> Iterator[Suspicion]:
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


def _find_across(index: int, passages: Sequence[Passage]) -> Iterator[Suspicion]:
    """
    Yield orders that begin at the open end of a passage and go on in others.

    Only the passage in which an instruction begins is suspicious: nobody can have
    another document withheld by what stands before it.
    """
    text = passages[index].text
    offset = max(0, len(text) - _EDGE)
    tail = _MARKS_AFTER.sub("", text[offset:])
    first = max(0, index - _NEIGHBOURS)
    near = [*passages[first:index], *passages[index + 1 : index + _NEIGHBOURS + 1]]
    heads = [_MARKS_BEFORE.sub("", passage.text[:_EDGE], count=1) for passage in near]
    for rest in _continuations(heads) if tail else ():
        for begun, glue in _openings(tail, rest):
            folded = fold(f"{begun}{glue}{rest}")
            for name, start, end in patterns.find(folded.text):
                span = folded.span(start, end)
                if span.start < len(begun) < span.end - len(glue):
                    here = Span(offset + span.start, offset + len(begun))
                    yield Suspicion(here, f"across:{name}")


def _openings(tail: str, rest: str) -> Iterator[tuple[str, str]]:
    """Yield the open end of a passage and what joins it to the rest of its sentence."""
    if tail.endswith("-"):
        yield tail[:-1], ""
    if not tail.endswith(_ENDS):
        yield tail.rstrip("-"), " "
    elif tail.endswith(".") and rest[:1].islower():
        yield tail[:-1], " "


def _continuations(heads: Sequence[str]) -> Iterator[str]:
    """Yield how other passages begin; a scrap also with what may come after it."""
    yield from heads
    scraps = [
        (at, scrap)
        for at, head in enumerate(heads)
        if len(head) <= _SCRAP and (scrap := _MARKS_AFTER.sub("", head))
        if not scrap.endswith(_ENDS)
    ]
    for at, scrap in scraps[:_MOST_SCRAPS]:
        yield from (
            f"{scrap} {head}" for other, head in enumerate(heads) if other != at
        )


def _scan_metadata(
    passage: Passage, keys: Sequence[str] | None, section: InjectionSection
) -> dict[str, str]:
    """Return the keys of the metadata whose values give orders, and by what pattern."""
    reasons = (
        (key, _scan_string(string, section))
        for key, value in passage.metadata.items()
        if keys is None or key in keys
        for string in _strings(value)
    )
    return {key: reason for key, reason in reasons if reason}


def _scan_string(string: str, section: InjectionSection) -> str:
    """Return the pattern by which a string is an instruction; empty for none."""
    suspicions = _read(string, section)[0].suspicions
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
