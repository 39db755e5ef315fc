"""
The local engine's reading of texts: as they are, as lines of a structure, decoded.

A binder has whole documents read. A text that is met first at a question is read by
itself, so what was retrieved with it decides nothing; the shortest texts first, as far
as the limits of local work allow: what `disclosure.local_seconds` does not reach is
left in doubt, and the next request goes on there. JSON, tables and their like are read
as lines of `label: value`. A text in which something is encoded is read a second time,
decoded: what is found there goes where it is encoded, unasked. A short
value of the metadata is read with its key, as a line of a structure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from time import monotonic

from sdrag.detectors.tagger import IDENTIFYING
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.lookup import ENCODED, Doubts, Found, KnownFindings
from sdrag.disclosure.setup import ModelFailure
from sdrag.disclosure.texts import Group
from sdrag.effects.limits import readable
from sdrag.effects.steps import Failure, Outcome, Steps, try_each
from sdrag.errors import InternalError, LocalLimitError
from sdrag.text.cells import PlainView, plain_view, read_cells, write_lead
from sdrag.text.decoding import decode
from sdrag.text.mapped import MappedText
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Finding, Passage, Span

_BY_SCORER = frozenset({"scored", "again"})
"""The scorer knows no identifiers, and would mark digits of a UUID by chance."""
Failures = dict[tuple[int, str], ModelFailure]
"""What a model failed at: by text and constraint."""


@dataclass(slots=True, repr=False)
class Reading(Confidential):
    """
    What was found in texts now.

    `decoded` holds the index of a text, what it decodes to, and the findings in that;
    `failed` what the model failed at, now or before.
    """

    local: Found = field(default_factory=dict)
    quoted: Found = field(default_factory=dict)
    decoded: list[tuple[int, str, list[Finding]]] = field(default_factory=list)
    doubts: Doubts = field(default_factory=dict)
    failed: Failures = field(default_factory=dict)


def file_findings(
    found: Found,
    known: KnownFindings,
    index: int,
    findings: Iterable[Finding],
    text: str | None,
) -> None:
    """
    Add findings to those of a text.

    What the policy lets stay of the text is left out, and what is in a placeholder.
    """
    chance = _BY_SCORER if known.texts.is_technical(index) else ()
    if text is not None:
        standing = SpanUnion(known.setup.placeholders.find(text))
        findings = [each for each in findings if not standing.contains(each.span)]
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.constraint_id in known.rules and finding.reason not in chance:
            by_name.setdefault(finding.constraint_id, []).append(finding)
    for name, listed in by_name.items():
        if text is not None:
            listed = apply_keeps(text, listed, known.constraints[name])  # noqa: PLW2901
        if listed:
            found.setdefault(index, []).extend(listed)


def read_locally(
    known: KnownFindings,
    groups: Sequence[Group],
    reading: Reading,
    *,
    from_document: bool,
) -> Steps[None]:
    """Ask the local engine; nothing limits what a binder asks."""
    texts = [text.text for group in groups for text in group.texts]
    fits = iter(readable(texts, known.setup.limits))
    seconds = known.setup.policy.disclosure.local_seconds
    singles: list[Group] = []
    for group in groups:
        if from_document:
            yield from _read_group(known, group, reading)
            continue
        marks = [next(fits) for _ in group.texts]
        for index, fit in zip(group.text_indices, marks, strict=True):
            if not fit:
                reading.doubts |= _doubt(index, group, "over-local-limit")
        part = _part(group, marks)
        if seconds is None:
            yield from _read_group(known, part, reading)
        else:
            every = range(len(part.texts))
            singles += (_part(part, [n == i for n in every]) for i in every)
    if singles and seconds is not None:
        yield from _read_in_time(known, singles, reading, monotonic() + seconds)


def _read_in_time(
    known: KnownFindings, singles: Sequence[Group], reading: Reading, end: float
) -> Steps[None]:
    """Have texts read until it is late, the shortest first, and one in any case."""
    by_length = sorted(singles, key=lambda single: len(single.texts[0].text))
    for number, single in enumerate(by_length):
        if number and monotonic() >= end:
            (index,) = single.text_indices
            reading.doubts |= _doubt(index, single, "over-local-seconds")
        else:
            yield from _read_group(known, single, reading)


def _read_group(known: KnownFindings, group: Group, reading: Reading) -> Steps[None]:
    """Have texts read in all ways; what could not be is in doubt."""
    labels, is_number = known.texts.labels, known.texts.is_number
    words = _select(group, [not is_number(index) for index in group.text_indices])
    yield from _read_words(known, words, reading)
    told = _select(group, [index in labels for index in group.text_indices])
    yield from _read_labelled(known, told, reading)


def _read_words(known: KnownFindings, group: Group, reading: Reading) -> Steps[None]:
    views = [plain_view(read_cells(text.text)) for text in group.texts]
    shown = [
        text if view is None else replace(text, text=view.text)
        for text, view in zip(group.texts, views, strict=True)
    ]
    outcomes = yield from _ask(known, shown, group)
    plain = try_each(decode, [text.text for text in shown])
    decoded: list[_Decoded] = []
    for index, text, view, outcome, read in zip(
        group.text_indices, shown, views, outcomes, plain, strict=True
    ):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        if isinstance(read, Failure):
            reading.doubts |= _doubt_all(index, group, read)
            continue
        if view is None:
            file_findings(reading.local, known, index, outcome.value, text.text)
        else:
            _file_lines(reading, known, index, outcome.value, view)
        if read.value.before is not None:
            name = f"{text.document_id} decoded"
            there = replace(text, text=read.value.text, document_id=name)
            decoded.append(_Decoded(index, there, read.value, view))
    yield from _read_decoded(known, group, reading, decoded)


def _read_labelled(known: KnownFindings, group: Group, reading: Reading) -> Steps[None]:
    """Have values of the metadata read with their keys, as a line of a structure."""
    labels = known.texts.labels
    leads = [write_lead(labels[index]) for index in group.text_indices]
    lines = [
        replace(text, text=f"{lead}{text.text}")
        for lead, text in zip(leads, group.texts, strict=True)
    ]
    outcomes = yield from _ask(known, lines, group)
    for index, text, lead, outcome in zip(
        group.text_indices, group.texts, leads, outcomes, strict=True
    ):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        within = (_from_line(each, len(lead)) for each in outcome.value)
        file_findings(reading.local, known, index, filter(None, within), text.text)


def _from_line(finding: Finding, start: int) -> Finding | None:
    """Return what of a finding in a line is of the value that starts there."""
    first, last = max(0, finding.span.start - start), finding.span.end - start
    return replace(finding, span=Span(first, last)) if last > first else None


@dataclass(frozen=True, slots=True, repr=False)
class _Decoded(Confidential):
    """A text as it decodes to, with the way back, through the lines of a structure."""

    text_index: int
    passage: Passage
    back: MappedText
    view: PlainView | None


def _read_decoded(
    known: KnownFindings, group: Group, reading: Reading, decoded: Sequence[_Decoded]
) -> Steps[None]:
    outcomes = yield from _ask(known, [each.passage for each in decoded], group)
    for each, outcome in zip(decoded, outcomes, strict=True):
        index, back = each.text_index, each.back
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        there: Found = {}
        as_written, encoded = _by_encoding(outcome.value, back)
        file_findings(there, known, index, as_written, back.text)
        file_findings(there, known, index, encoded, None)
        reading.decoded.append((index, back.text, there.get(index, [])))
        written = _as_encoded(outcome.value, back)
        if each.view is not None:
            written = each.view.trace(written, _kind)
        original = known.texts.all[index].text
        file_findings(reading.local, known, index, written, original)


def _file_lines(
    reading: Reading,
    known: KnownFindings,
    index: int,
    findings: Sequence[Finding],
    view: PlainView,
) -> None:
    """Add what was found in the lines of a structure: where it stands, as it reads."""
    original = known.texts.all[index].text
    file_findings(reading.local, known, index, view.trace(findings, _kind), original)
    there: Found = {}
    values = (
        replace(finding, span=span)
        for finding in findings
        for span, _ in view.origins(finding.span)
    )
    file_findings(there, known, index, values, view.text)
    reading.decoded.append((index, view.text, there.get(index, [])))


def _kind(finding: Finding) -> Hashable:
    """Return what keys are counted together for; the networks read no keys alone."""
    if finding.reason == "scored" or finding.type == IDENTIFYING:
        return None
    return finding.constraint_id, finding.reason, finding.type


def _by_encoding(
    findings: Iterable[Finding], back: MappedText
) -> tuple[list[Finding], list[Finding]]:
    """Part findings in a decoded text: those of plain words, and the others."""
    plain: list[Finding] = []
    encoded: list[Finding] = []
    for finding in findings:
        rewritten = back.is_rewritten(finding.span.start, finding.span.end)
        (encoded if rewritten else plain).append(finding)
    return plain, encoded


def _as_encoded(findings: Iterable[Finding], back: MappedText) -> Iterator[Finding]:
    """Yield findings in what a text decodes to as spans of the text itself."""
    for finding in findings:
        start, end = finding.span.start, finding.span.end
        reason = ENCODED if back.is_rewritten(start, end) else finding.reason
        yield replace(finding, span=back.span(start, end), reason=reason)


def _doubt_all(index: int, group: Group, failure: Failure) -> Doubts:
    """Say that no constraint of a group could be decided on a text, and why."""
    over = isinstance(failure.error, LocalLimitError)
    return _doubt(index, group, "over-local-limit" if over else "detector-failed")


def _doubt(index: int, group: Group, code: str) -> Doubts:
    return {(index, rule.id): code for rule in group.constraints}


def _ask(
    known: KnownFindings, texts: Sequence[Passage], group: Group
) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """Ask the local engine; whatever a plug-in does wrong puts all texts in doubt."""
    try:
        return (yield from known.setup.locator.locate(texts, group.constraints))
    except Exception as error:  # noqa: BLE001 -- its message may quote the texts
        fault = InternalError(f"The local engine failed with {type(error).__name__}.")
    return [Failure(fault)] * len(texts)


def _part(group: Group, marks: Sequence[bool]) -> Group:
    """Make each marked text a document of its own: its neighbours decide nothing."""
    part = _select(group, marks)
    numbered = zip(part.text_indices, part.texts, strict=True)
    texts = tuple(replace(text, document_id=f"text {n}") for n, text in numbered)
    return replace(part, texts=texts)


def _select(group: Group, marks: Sequence[bool]) -> Group:
    return replace(
        group,
        text_indices=tuple(compress(group.text_indices, marks)),
        texts=tuple(compress(group.texts, marks)),
    )
