"""
Locating: what constraints withhold, as facts about texts that are kept.

What is known is looked up, and what is not is read: by the local engine and, where
there is one, by a model. The model is asked for what has to go, and then about what the
local engine found alone. What it cannot decide, the local engine does, where it
understands the constraint and the text; it is not asked the same again for some
minutes.

A binder has whole documents read. A text that is met first at a question is read by
itself, so what was retrieved with it decides nothing; the shortest texts first, as far
as the limits of local work allow. A text in which something is encoded is read a second
time, decoded: what is found there goes where it is encoded, unasked.

Findings are kept as they were found, with what is to be known again in their document.
The readings are united.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from time import monotonic

from sdrag.disclosure.forms import find_forms
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.lookup import (
    ENCODED,
    Doubts,
    Found,
    KnownFindings,
    Located,
    Wanted,
    find_unreadable,
)
from sdrag.disclosure.model.confirm import confirm
from sdrag.disclosure.model.extract import extract
from sdrag.disclosure.setup import DisclosureSetup, ModelFailure
from sdrag.disclosure.texts import Group, Texts
from sdrag.effects.limits import readable
from sdrag.effects.steps import (
    Failure,
    Outcome,
    Steps,
    replied,
    try_each,
)
from sdrag.errors import InternalError, LocalLimitError
from sdrag.state.findings import FindingRow
from sdrag.state.register import Form
from sdrag.text.cells import PlainView, plain_view, read_cells
from sdrag.text.decoding import decode
from sdrag.text.mapped import MappedText
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Finding, Passage, Span

_BY_SCORER = frozenset({"scored", "again"})
"""The scorer knows no identifiers, and would mark digits of a UUID by chance."""
_QUOTED = b"quoted"
"""The engine of what half a verdict quoted; it is not kept in the state."""
_REMEMBERED = 600.0
"""Seconds for which a model is not asked again what it failed at."""
_Failures = dict[tuple[int, str], ModelFailure]


@dataclass(slots=True, repr=False)
class _Reading(Confidential):
    """
    What was found in texts now.

    `decoded` holds the index of a text, what it decodes to, and the findings in that;
    `failed` what the model failed at, now or before.
    """

    local: Found = field(default_factory=dict)
    quoted: Found = field(default_factory=dict)
    decoded: list[tuple[int, str, list[Finding]]] = field(default_factory=list)
    doubts: Doubts = field(default_factory=dict)
    failed: _Failures = field(default_factory=dict)


def locate_texts(
    texts: Texts,
    setup: DisclosureSetup,
    chosen: Collection[str],
    *,
    from_document: bool = False,
) -> Steps[Located]:
    """
    Look up what is known of texts, read what is not, and keep it.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.
        chosen: The ids of the constraints that a model is asked about.
        from_document: The texts are whole documents, in their order. Then a constraint
            that was not chosen counts as looked for.
    """
    known = KnownFindings(texts, setup)
    local = known.find_unread(setup.local_key, from_document=from_document)
    model = known.find_unread(setup.model_key, from_document=from_document)
    failed = known.find_failures(model)
    model = _drop_failing(model, failed)
    if from_document:
        local, model = known.widen_to_documents(local), known.widen_to_documents(model)
    asked = {i: [n for n in names if n in chosen] for i, names in model.items()}
    reading = _Reading(failed=failed)
    if local or asked:
        yield from _read_locally(
            known, texts.groups(local), reading, from_document=from_document
        )
        if setup.has_model:
            yield from _ask_model(known, asked, reading)
    seen = model if from_document else asked
    (kept,) = try_each(
        lambda read: _keep(known, read, local, seen, from_document), [reading]
    )
    rows = replied(kept)
    doubts, fallbacks = _split_failures(known, reading.failed)
    rows += _find_quoted(known, reading.failed, fallbacks)
    return Located(
        known,
        _join_rows(known, rows),
        doubts | reading.doubts,
        fallbacks,
        _list_findings(reading),
        len(local.keys() | asked.keys()),
    )


def read_once(texts: Texts, setup: DisclosureSetup) -> Steps[Located]:
    """Read passages like those of the store, with the local engine; keep nothing."""
    known, reading = KnownFindings(texts, setup, stored=False), _Reading()
    wanted = dict(enumerate(texts.applied[: len(texts.passages)]))
    groups = texts.groups(wanted)
    yield from _read_locally(known, groups, reading, from_document=False)
    rows = _rows(known, setup.local_key, wanted, reading.local, (), from_document=False)
    rows_by_text = _join_rows(known, rows)
    findings, read = _list_findings(reading), len(wanted)
    return Located(known, rows_by_text, reading.doubts, {}, findings, read)


def _drop_failing(unread: Wanted, failed: _Failures) -> Wanted:
    """Leave out what the model has just failed at: it is not asked again yet."""
    now = monotonic()
    failing = {pair for pair, failure in failed.items() if failure.until > now}
    left = {i: [n for n in ids if (i, n) not in failing] for i, ids in unread.items()}
    return {index: names for index, names in left.items() if names}


def _join_rows(
    known: KnownFindings, rows: Iterable[FindingRow]
) -> dict[bytes, list[FindingRow]]:
    """Return what was found before and now, by the text's key."""
    joined = {key: list(before) for key, before in known.rows.items()}
    for row in rows:
        joined.setdefault(row.text, []).append(row)
    return joined


def _keep(
    known: KnownFindings,
    reading: _Reading,
    local: Wanted,
    seen: Wanted,
    from_document: bool,  # noqa: FBT001 -- as the rows'
) -> list[FindingRow]:
    """Keep what was looked for and found, with what is to be known again."""
    of_local = known.setup.local_key, local, reading.local, reading.doubts
    rows = _rows(known, *of_local, from_document=from_document)
    if known.setup.model_key is not None:
        of_model = known.setup.model_key, seen, reading.quoted, reading.failed
        rows += _rows(known, *of_model, from_document=from_document)
    known.setup.state.findings.add(rows, _forms(known, reading))
    return rows


def _rows(
    known: KnownFindings,
    engine: bytes,
    wanted: Mapping[int, Sequence[str]],
    found: Found,
    doubts: Collection[tuple[int, str]],
    *,
    from_document: bool,
) -> list[FindingRow]:
    """Return what an engine looked for and found; what it doubts is not looked for."""
    rows = []
    for index, names in wanted.items():
        rules = {known.rules[n] for n in names if (index, n) not in doubts}
        if rules:
            spans = {
                rule: tuple(sorted({finding.span for finding in findings}))
                for rule, findings in _by_rule(known, found.get(index, ())).items()
                if rule in rules
            }
            key = known.keys[index]
            rows.append(FindingRow(key, engine, frozenset(rules), spans, from_document))
    return rows


def _by_rule(
    known: KnownFindings, findings: Iterable[Finding]
) -> dict[bytes, list[Finding]]:
    by_rule: dict[bytes, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(known.rules[finding.constraint_id], []).append(finding)
    return by_rule


def _split_failures(known: KnownFindings, failed: _Failures) -> tuple[Doubts, Doubts]:
    """Split what a model failed on: what needs it, what the local engine decides."""
    setup = known.setup
    unsure = {pair: failure.code for pair, failure in failed.items()}
    if not unsure or setup.policy.disclosure.on_model_failure == "withhold":
        return unsure, {}
    unreadable = find_unreadable(known)
    doubts = {
        pair: code
        for pair, code in unsure.items()
        if pair[1] in setup.needing_model or pair in unreadable
    }
    return doubts, {pair: code for pair, code in unsure.items() if pair not in doubts}


def _find_quoted(
    known: KnownFindings, failed: _Failures, pairs: Iterable[tuple[int, str]]
) -> Iterator[FindingRow]:
    """Yield what the model quoted where it failed: it goes from this request."""
    for index, name in pairs:
        if spans := failed[index, name].spans:
            by_rule = {known.rules[name]: spans}
            yield FindingRow(known.keys[index], _QUOTED, frozenset(), by_rule)


def _forms(
    known: KnownFindings, reading: _Reading
) -> dict[bytes, dict[Form, set[bytes]]]:
    """Return what is to be known again, by document."""
    keys = known.setup.state.keys
    rules = {known.rules[rule.id]: rule for rule in known.texts.constraints}
    grown: dict[bytes, dict[Form, set[bytes]]] = {}
    read = [
        (index, known.texts.all[index].text, findings)
        for index, findings in chain(reading.local.items(), reading.quoted.items())
    ]
    for index, text, found in (*read, *reading.decoded):
        document = known.documents[index]
        document_keys, into = keys.of_document(document), grown.setdefault(document, {})
        for rule, findings in _by_rule(known, found).items():
            for form in find_forms(text, findings, rules[rule], document_keys):
                into.setdefault(form, set()).add(rule)
    return grown


def _list_findings(reading: _Reading) -> Found:
    """Return what both engines found."""
    every: Found = {}
    for index, found in chain(reading.local.items(), reading.quoted.items()):
        every.setdefault(index, []).extend(found)
    return every


def _ask_model(known: KnownFindings, asked: Wanted, reading: _Reading) -> Steps[None]:
    """Ask a model for what has to go, then about what the local engine found alone."""
    texts, setup = known.texts, known.setup
    groups = texts.groups(asked)
    extraction = yield from extract(groups, setup.policy.disclosure, setup.key)
    for index, names in asked.items():
        for name in names:  # what it failed at before stays quoted
            if failure := reading.failed.pop((index, name), None):
                earlier = [Finding(span, name, "model") for span in failure.spans]
                extraction.findings.setdefault(index, []).extend(earlier)
    for index, findings in extraction.findings.items():
        _file(reading.quoted, known, index, findings, texts.all[index].text)
    for (index, name), code in extraction.doubts.items():
        rule = known.rules[name]
        quoted = _by_rule(known, reading.quoted.get(index, ())).get(rule, ())
        seconds = 0.0 if code == "model-failed" else _REMEMBERED
        spans, until = tuple(each.span for each in quoted), monotonic() + seconds
        reading.failed[index, name] = failure = ModelFailure(code, spans, until)
        setup.failures.put((known.keys[index], rule), failure)
    doubtful = {(index, known.rules[name]) for index, name in reading.failed}
    kept: Found = {}
    sure: Found = {}
    for index, findings in reading.local.items():
        for finding in findings:
            is_doubtful = (index, known.rules[finding.constraint_id]) in doubtful
            into = kept if is_doubtful else sure
            into.setdefault(index, []).append(finding)
    confirmed = yield from confirm(known, sure, reading.quoted)
    for index, findings in confirmed.items():
        kept.setdefault(index, []).extend(findings)
    reading.local = kept


def _file(
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


def _read_locally(
    known: KnownFindings,
    groups: Sequence[Group],
    reading: _Reading,
    *,
    from_document: bool,
) -> Steps[None]:
    """Ask the local engine; nothing limits what a binder asks."""
    texts = [text.text for group in groups for text in group.texts]
    fits = iter(readable(texts, known.setup.limits))
    over = Failure(LocalLimitError("A text is over the limit."))
    for group in groups:
        if from_document:
            yield from _read_group(known, group, reading)
            continue
        marks = [next(fits) for _ in group.texts]
        for index, fit in zip(group.text_indices, marks, strict=True):
            if not fit:
                reading.doubts |= _doubt_all(index, group, over)
        yield from _read_group(known, _part(group, marks), reading)


def _read_group(known: KnownFindings, group: Group, reading: _Reading) -> Steps[None]:
    """
    Have texts read as they are and decoded; what could not be is in doubt.

    JSON, tables and their like are read as lines of `label: value`.
    """
    views = [plain_view(read_cells(text.text)) for text in group.texts]
    shown = tuple(
        text if view is None else replace(text, text=view.text)
        for text, view in zip(group.texts, views, strict=True)
    )
    outcomes = yield from _ask(known, shown, group)
    decoded: list[tuple[int, Passage, MappedText, PlainView | None]] = []
    plain = try_each(decode, [text.text for text in shown])
    for index, text, view, outcome, read in zip(
        group.text_indices, shown, views, outcomes, plain, strict=True
    ):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        if isinstance(read, Failure):
            reading.doubts |= _doubt_all(index, group, read)
            continue
        if view is not None:
            _file_lines(reading, known, index, outcome.value, view)
        else:
            _file(reading.local, known, index, outcome.value, text.text)
        back = read.value
        if back.before is not None:
            name = f"{text.document_id} decoded"
            decoded.append(
                (index, replace(text, text=back.text, document_id=name), back, view)
            )
    outcomes = yield from _ask(known, tuple(text for _, text, *_ in decoded), group)
    for (index, _, back, view), outcome in zip(decoded, outcomes, strict=True):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        there: Found = {}
        as_written, encoded = _by_encoding(outcome.value, back)
        _file(there, known, index, as_written, back.text)
        _file(there, known, index, encoded, None)
        reading.decoded.append((index, back.text, there.get(index, [])))
        original = known.texts.all[index].text
        written = _as_encoded(outcome.value, back)
        if view is not None:
            written = _from_lines(written, view)
        _file(reading.local, known, index, written, original)


def _file_lines(
    reading: _Reading,
    known: KnownFindings,
    index: int,
    findings: Sequence[Finding],
    view: PlainView,
) -> None:
    """Add what was found in the lines of a structure: where it stands, as it reads."""
    original = known.texts.all[index].text
    _file(reading.local, known, index, _from_lines(findings, view), original)
    there: Found = {}
    values = (
        replace(finding, span=span)
        for finding in findings
        for span, _ in view.origins(finding.span)
    )
    _file(there, known, index, values, view.text)
    reading.decoded.append((index, view.text, there.get(index, [])))


def _from_lines(findings: Iterable[Finding], view: PlainView) -> Iterator[Finding]:
    """Yield findings in the lines of a structure as spans of the structure."""
    in_labels: dict[tuple[str, str, str], list[tuple[Span, float]]] = {}
    for finding in findings:
        how = (finding.constraint_id, finding.reason, finding.type)
        in_labels.setdefault(how, []).append((finding.span, finding.confidence))
        for _, span in view.origins(finding.span):
            yield replace(finding, span=span)
    for (constraint_id, reason, type_), found in in_labels.items():
        if reason != "scored":
            for span in view.find_keys(found):
                yield Finding(span, constraint_id, reason, type=type_)


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
    """Say that no constraint of a group could be decided on a text."""
    over = isinstance(failure.error, LocalLimitError)
    code = "over-local-limit" if over else "detector-failed"
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
    pairs = list(compress(zip(group.text_indices, group.texts, strict=True), marks))
    return replace(
        group,
        text_indices=tuple(index for index, _ in pairs),
        texts=tuple(replace(text, document_id=f"text {n}") for n, text in pairs),
    )
