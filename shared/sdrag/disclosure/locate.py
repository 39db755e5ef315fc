"""
Locating: what constraints withhold, as facts about texts that are kept.

What is known is looked up, and what is not is read: by the local engine and, where
there is one, by a model. The model is asked for what has to go, and then about what the
local engine found alone. What it cannot decide, the local engine does, where it
understands the constraint and the text; it is not asked the same again for some
minutes.

Findings are kept as they were found, with what is to be known again in their document.
The readings are united.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from time import monotonic

from sdrag.disclosure.local_reading import (
    Failures,
    Reading,
    file_findings,
    read_locally,
)
from sdrag.disclosure.lookup import (
    Doubts,
    Found,
    KnownFindings,
    Located,
    Wanted,
    find_unreadable,
)
from sdrag.disclosure.model.confirm import confirm
from sdrag.disclosure.model.extract import extract
from sdrag.disclosure.propagation import find_forms
from sdrag.disclosure.setup import REMEMBERED, DisclosureSetup, ModelFailure
from sdrag.disclosure.texts import Texts
from sdrag.effects.steps import (
    Steps,
    replied,
    try_each,
)
from sdrag.state.findings import FindingRow
from sdrag.state.register import Form
from sdrag.vocabulary import Finding

_QUOTED = b"quoted"
"""The engine of what half a verdict quoted; it is not kept in the state."""


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
    model = {i: names for i, names in model.items() if not texts.is_number(i)}
    if setup.asks_singly and model:  # the rest is not asked, so not looked for
        model = _find_hard(known, model)
    asked = {i: [n for n in names if n in chosen] for i, names in model.items()}
    reading = Reading(failed=failed)
    if local or asked:
        yield from read_locally(
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
    known, reading = KnownFindings(texts, setup, stored=False), Reading()
    wanted = dict(enumerate(texts.applied[: len(texts.passages)]))
    groups = texts.groups(wanted)
    yield from read_locally(known, groups, reading, from_document=False)
    rows = _rows(known, setup.local_key, wanted, reading.local, (), from_document=False)
    rows_by_text = _join_rows(known, rows)
    findings, read = _list_findings(reading), len(wanted)
    return Located(known, rows_by_text, reading.doubts, {}, findings, read)


def _drop_failing(unread: Wanted, failed: Failures) -> Wanted:
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
    reading: Reading,
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


def _split_failures(known: KnownFindings, failed: Failures) -> tuple[Doubts, Doubts]:
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
    known: KnownFindings, failed: Failures, pairs: Iterable[tuple[int, str]]
) -> Iterator[FindingRow]:
    """Yield what the model quoted where it failed: it goes from this request."""
    for index, name in pairs:
        if spans := failed[index, name].spans:
            by_rule = {known.rules[name]: spans}
            yield FindingRow(known.keys[index], _QUOTED, frozenset(), by_rule)


def _forms(
    known: KnownFindings, reading: Reading
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


def _list_findings(reading: Reading) -> Found:
    every: Found = {}
    for index, found in chain(reading.local.items(), reading.quoted.items()):
        every.setdefault(index, []).extend(found)
    return every


def _find_hard(known: KnownFindings, unread: Wanted) -> Wanted:
    """Return what is not decided by the local engine where it reads the text."""
    unreadable = find_unreadable(known)
    hard = {
        index: [n for n in names if n in known.setup.hard or (index, n) in unreadable]
        for index, names in unread.items()
    }
    return {index: names for index, names in hard.items() if names}


def _ask_model(known: KnownFindings, asked: Wanted, reading: Reading) -> Steps[None]:
    """Ask a model for what has to go, then about what the local engine found alone."""
    texts, setup = known.texts, known.setup
    extraction = yield from extract(texts.groups(asked), setup)
    for index, names in asked.items():
        for name in names:  # what it failed at before stays quoted
            if failure := reading.failed.pop((index, name), None):
                earlier = [Finding(span, name, "model") for span in failure.spans]
                extraction.findings.setdefault(index, []).extend(earlier)
    for index, findings in extraction.findings.items():
        file_findings(reading.quoted, known, index, findings, texts.all[index].text)
    for (index, name), code in extraction.doubts.items():
        rule = known.rules[name]
        quoted = _by_rule(known, reading.quoted.get(index, ())).get(rule, ())
        seconds = 0.0 if code == "model-failed" else REMEMBERED
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
    confirmed = sure
    if not setup.is_small:  # the no of a small one would free what has to go
        confirmed = yield from confirm(known, sure, reading.quoted)
    for index, findings in confirmed.items():
        kept.setdefault(index, []).extend(findings)
    reading.local = kept
