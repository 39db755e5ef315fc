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
from itertools import compress

from sdrag.disclosure.forms import find_forms
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.lookup import ENCODED, Doubts, Found, Lookup, find_unreadable
from sdrag.disclosure.model.confirm import confirm
from sdrag.disclosure.model.extract import ModelFindings, extract
from sdrag.disclosure.setup import DisclosureSetup
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
from sdrag.text.decoding import decode
from sdrag.text.mapped import MappedText
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Finding, Passage

_BY_SCORER = frozenset({"scored", "again"})
"""The scorer knows no identifiers, and would mark digits of a UUID by chance."""
_QUOTED = b"quoted"
"""The engine of what half a verdict quoted; it is not kept in the state."""


@dataclass(slots=True, repr=False)
class _Reading(Confidential):
    """
    What was found in texts now.

    `decoded` holds the index of a text, what it decodes to, and the findings in that.
    """

    local: Found = field(default_factory=dict)
    quoted: Found = field(default_factory=dict)
    decoded: list[tuple[int, str, dict[bytes, list[Finding]]]] = field(
        default_factory=list
    )
    doubts: Doubts = field(default_factory=dict)


def locate_texts(
    texts: Texts,
    setup: DisclosureSetup,
    chosen: Collection[str],
    *,
    from_document: bool = False,
) -> Steps[Lookup]:
    """
    Look up what is known of texts, read what is not, and keep it.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.
        chosen: The ids of the constraints that a model is asked about.
        from_document: The texts are whole documents, in their order. Then a constraint
            that was not chosen counts as looked for.
    """
    lookup = Lookup(texts, setup)
    lookup.load()
    local = lookup.missing(lookup.local, from_document=from_document)
    model = lookup.missing(lookup.model, from_document=from_document)
    asked = {i: [n for n in names if n in chosen] for i, names in model.items()}
    reading = yield from _read(lookup, local, asked, from_document=from_document)
    seen = model if from_document else asked
    (kept,) = try_each(
        lambda read: _keep(lookup, read, local, seen, from_document), [reading]
    )
    replied(kept)
    doubts, lookup.fallbacks = _without_model(lookup)
    lookup.add(_find_quoted(lookup, lookup.fallbacks))
    lookup.doubts = doubts | reading.doubts
    lookup.findings, lookup.read = (
        _list_findings(reading),
        len(local.keys() | asked.keys()),
    )
    return lookup


def read_once(texts: Texts, setup: DisclosureSetup) -> Steps[tuple[Lookup, Doubts]]:
    """
    Read passages like those of the store, with the local engine, and keep nothing.

    Returns:
        The texts with what was found in them, and what could not be decided.
    """
    lookup = Lookup(texts, setup)
    wanted = dict(enumerate(texts.applied[: len(texts.passages)]))
    reading = yield from _read_locally(
        lookup, texts.groups(wanted), from_document=False
    )
    lookup.add(
        _rows(lookup, lookup.local, wanted, reading.local, (), from_document=False)
    )
    return lookup, reading.doubts


def _keep(
    lookup: Lookup,
    reading: _Reading,
    local: Mapping[int, Sequence[str]],
    seen: Mapping[int, Sequence[str]],
    from_document: bool,  # noqa: FBT001 -- as the rows'
) -> None:
    """Keep what was looked for and found, with what is to be known again."""
    rows = _rows(
        lookup, lookup.local, local, reading.local, reading.doubts, from_document
    )
    if lookup.model is not None:
        rows += _rows(
            lookup, lookup.model, seen, reading.quoted, lookup.failed, from_document
        )
    lookup.setup.state.findings.add(rows, _forms(lookup, reading))
    lookup.add(rows)


def _rows(
    lookup: Lookup,
    engine: bytes,
    wanted: Mapping[int, Sequence[str]],
    by_text: Found,
    doubts: Collection[tuple[int, str]],
    from_document: bool,  # noqa: FBT001 -- as the row's
) -> list[FindingRow]:
    """Return what an engine looked for and found; what it doubts is not looked for."""
    rows = []
    for index, names in wanted.items():
        rules = {lookup.rules[n] for n in names if (index, n) not in doubts}
        if rules:
            spans = {
                rule: tuple(sorted({finding.span for finding in findings}))
                for rule, findings in by_text.get(index, {}).items()
                if rule in rules
            }
            rows.append(
                FindingRow(
                    lookup.keys[index], engine, frozenset(rules), spans, from_document
                )
            )
    return rows


def _without_model(lookup: Lookup) -> tuple[Doubts, Doubts]:
    """Split what a model failed on: what needs it, what the local engine decides."""
    setup = lookup.setup
    unsure = {pair: failure.code for pair, failure in lookup.failed.items()}
    if not unsure or setup.policy.disclosure.on_model_failure == "withhold":
        return unsure, {}
    unreadable = find_unreadable(lookup)
    doubts = {
        pair: code
        for pair, code in unsure.items()
        if pair[1] in setup.needing_model or pair in unreadable
    }
    return doubts, {pair: code for pair, code in unsure.items() if pair not in doubts}


def _find_quoted(
    lookup: Lookup, pairs: Iterable[tuple[int, str]]
) -> Iterator[FindingRow]:
    """Yield what the model quoted where it failed: it goes from this request."""
    for index, name in pairs:
        if spans := lookup.failed[index, name].spans:
            by_rule = {lookup.rules[name]: spans}
            yield FindingRow(lookup.keys[index], _QUOTED, frozenset(), by_rule)


def _forms(lookup: Lookup, reading: _Reading) -> dict[bytes, dict[Form, set[bytes]]]:
    """Return what is to be known again, by document."""
    keys = lookup.setup.state.keys
    rules = {lookup.rules[rule.id]: rule for rule in lookup.texts.constraints}
    grown: dict[bytes, dict[Form, set[bytes]]] = {}
    read = [
        (index, lookup.texts.all[index].text, by_rule)
        for by_text in (reading.local, reading.quoted)
        for index, by_rule in by_text.items()
    ]
    for index, text, by_rule in (*read, *reading.decoded):
        document = lookup.documents[index]
        document_keys, into = keys.of_document(document), grown.setdefault(document, {})
        for rule, findings in by_rule.items():
            for form in find_forms(text, findings, rules[rule], document_keys):
                into.setdefault(form, set()).add(rule)
    return grown


def _list_findings(reading: _Reading) -> dict[int, list[Finding]]:
    every: dict[int, list[Finding]] = {}
    for by_text in (reading.local, reading.quoted):
        for index, by_rule in by_text.items():
            for findings in by_rule.values():
                every.setdefault(index, []).extend(findings)
    return every


def _read(
    lookup: Lookup,
    local: dict[int, list[str]],
    model: dict[int, list[str]],
    *,
    from_document: bool,
) -> Steps[_Reading]:
    """Have the engines read what they have not looked at."""
    if not local and not model:
        return _Reading()
    texts, setup = lookup.texts, lookup.setup
    reading = yield from _read_locally(
        lookup, texts.groups(local), from_document=from_document
    )
    if not setup.has_model:
        return reading
    groups = texts.groups(model)
    extraction = yield from extract(groups, setup.policy.disclosure, setup.key)
    for index, names in model.items():
        for name in names:  # what it failed at before stays quoted
            if failure := lookup.failed.pop((index, name), None):
                earlier = [Finding(span, name, "model") for span in failure.spans]
                extraction.findings.setdefault(index, []).extend(earlier)
    reading.quoted = _file_all(lookup, extraction)
    for (index, name), code in extraction.doubts.items():
        quoted = reading.quoted.get(index, {}).get(lookup.rules[name], ())
        lookup.remember_failure(index, name, code, [each.span for each in quoted])
    found, reading.local = reading.local, {}
    sure: Found = {}
    doubtful = {(index, lookup.rules[name]) for index, name in lookup.failed}
    for index, by_rule in found.items():
        for rule, findings in by_rule.items():
            filed = reading.local if (index, rule) in doubtful else sure
            filed.setdefault(index, {})[rule] = findings
    confirmed = yield from confirm(lookup, sure, reading.quoted)
    for index, by_rule in confirmed.items():
        reading.local.setdefault(index, {}).update(by_rule)
    return reading


def _file_all(lookup: Lookup, extraction: ModelFindings) -> Found:
    filed: Found = {}
    for index, findings in extraction.findings.items():
        _file(filed, lookup, index, findings, lookup.texts.all[index].text)
    return filed


def _file(
    by_text: Found,
    lookup: Lookup,
    index: int,
    findings: Iterable[Finding],
    text: str | None,
) -> None:
    """
    File findings by their rules.

    What the policy lets stay of the text is left out, and what is in a placeholder.
    """
    chance = _BY_SCORER if lookup.texts.is_technical(index) else ()
    if text is not None:
        standing = SpanUnion(lookup.setup.placeholders.find(text))
        findings = [each for each in findings if not standing.contains(each.span)]
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.constraint_id in lookup.rules and finding.reason not in chance:
            by_rule.setdefault(finding.constraint_id, []).append(finding)
    for name, listed in by_rule.items():
        if text is not None:
            listed = apply_keeps(text, listed, lookup.constraints[name])  # noqa: PLW2901
        if listed:
            filed = by_text.setdefault(index, {})
            filed.setdefault(lookup.rules[name], []).extend(listed)


def _read_locally(
    lookup: Lookup, groups: Sequence[Group], *, from_document: bool
) -> Steps[_Reading]:
    """Ask the local engine; nothing limits what a binder asks."""
    reading = _Reading()
    texts = [text.text for group in groups for text in group.texts]
    fits = iter(readable(texts, lookup.setup.limits))
    over = Failure(LocalLimitError("A text is over the limit."))
    for group in groups:
        if from_document:
            yield from _read_group(lookup, group, reading)
            continue
        marks = [next(fits) for _ in group.texts]
        for index, fit in zip(group.text_indices, marks, strict=True):
            if not fit:
                reading.doubts |= _doubt_all(index, group, over)
        yield from _read_group(lookup, _part(group, marks), reading)
    return reading


def _read_group(lookup: Lookup, group: Group, reading: _Reading) -> Steps[None]:
    """Have texts read as they are and decoded; what could not be is in doubt."""
    outcomes = yield from _ask(lookup, group.texts, group)
    decoded: list[tuple[int, Passage, MappedText]] = []
    plain = try_each(decode, [text.text for text in group.texts])
    for index, text, outcome, read in zip(
        group.text_indices, group.texts, outcomes, plain, strict=True
    ):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        if isinstance(read, Failure):
            reading.doubts |= _doubt_all(index, group, read)
            continue
        _file(reading.local, lookup, index, outcome.value, text.text)
        back = read.value
        if back.before is not None:
            name = f"{text.document_id} decoded"
            decoded.append(
                (index, replace(text, text=back.text, document_id=name), back)
            )
    outcomes = yield from _ask(lookup, tuple(text for _, text, _ in decoded), group)
    for (index, _, back), outcome in zip(decoded, outcomes, strict=True):
        if isinstance(outcome, Failure):
            reading.doubts |= _doubt_all(index, group, outcome)
            continue
        there: Found = {}
        as_written, encoded = _by_encoding(outcome.value, back)
        _file(there, lookup, index, as_written, back.text)
        _file(there, lookup, index, encoded, None)
        reading.decoded.append((index, back.text, there.get(index, {})))
        original = lookup.texts.all[index].text
        _file(reading.local, lookup, index, _as_encoded(outcome.value, back), original)


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
    lookup: Lookup, texts: Sequence[Passage], group: Group
) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """Ask the local engine; whatever a plug-in does wrong puts all texts in doubt."""
    try:
        return (yield from lookup.setup.locator.locate(texts, group.constraints))
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
