"""
Locating: what constraints withhold, as facts about texts that are kept.

What is known is looked up, and what is not is read. What a reading finds enters the
register of the document before any of its texts is closed, so no text of a document
shows what another one tells of it. Readings only add: to the register, and to spans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.closing import closed, disguised, recalled
from sdrag.disclosure.decoded import Decoded
from sdrag.disclosure.languages import find_unreadable
from sdrag.disclosure.placeholders import any_of
from sdrag.disclosure.reading_unseen import read
from sdrag.disclosure.registering import add_entries, surfaces
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.stored_findings import Doubts, Facts, Found, Lookup
from sdrag.disclosure.texts import Texts
from sdrag.effects.steps import Steps, compute, replied
from sdrag.state.entries import Entries
from sdrag.state.findings import Known, Located
from sdrag.state.keys import DOCUMENT_BYTES
from sdrag.state.register import Register
from sdrag.state.span_bytes import ClosedSpans, by_rule
from sdrag.text.folding import fold
from sdrag.vocabulary import Confidential, Finding, Span

__all__ = ["Chooser", "Facts", "located"]

Chooser = Callable[[], Steps[Collection[str]]]
"""Gives the ids of the constraints that a model is asked about."""

_Spans = dict[bytes, tuple[Span, ...]]
_HIDDEN: tuple[Span, ...] = ()
_LEAF = b"leaf"
_QUOTED = b"quoted"


@dataclass(frozen=True, slots=True, repr=False)
class _Looked(Confidential):
    """
    What one engine was to look for in which texts, and what it found there.

    Args:
        engine: Its key.
        wanted: The ids of constraints, by the text's index.
        found: What it found.
        doubts: What it could not judge: it counts as not looked for.
    """

    engine: bytes
    wanted: Mapping[int, Sequence[str]]
    found: Found
    doubts: Doubts


def located(
    texts: Texts, setup: DisclosureSetup, choose: Chooser, *, whole: bool = False
) -> Steps[Facts]:
    """
    Look up what is known of texts, and read what is not.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.
        choose: Called only where a model has something left to read.
        whole: The texts are whole documents, in their order. Then a constraint that was
            not chosen counts as looked for.

    Raises:
        SdragError: The state, or what chooses, failed.
    """
    lookup = Lookup(texts, setup)
    (answer,) = yield from compute(
        lambda keys: setup.state.findings.read(keys, lookup.local), [lookup.keys()]
    )
    lookup.known, lookup.versions = replied(answer)
    local, model = lookup.missing(whole=whole)
    asked = model
    if model:
        chosen = yield from choose()
        asked = {
            text_index: [name for name in names if name in chosen]
            for text_index, names in model.items()
        }
    reading = yield from read(lookup, local, asked, whole=whole)
    found = _joined((reading.found, reading.quoted))
    yield from _registered(
        lookup,
        found,
        reading.decoded,
        read_now=local.keys() | model.keys(),
    )
    looked = [_Looked(lookup.local, local, reading.found, reading.doubts)]
    if lookup.model is not None:
        seen = model if whole else asked
        looked.append(_Looked(lookup.model, seen, reading.quoted, reading.unsure))
    yield from _closed(_Closing(lookup, looked), whole=whole)
    undecided, fallbacks = _without_model(lookup, reading.unsure)
    _hide_quoted(lookup, reading.quoted, fallbacks)
    return lookup.facts(
        {**undecided, **reading.doubts},
        fallbacks,
        found,
        read=len(local.keys() | asked.keys()),
    )


def _without_model(lookup: Lookup, unsure: Doubts) -> tuple[Doubts, Doubts]:
    """Split what a model failed on: what needs it, what the local engine decides."""
    if not unsure:
        return {}, {}
    setup = lookup.setup
    unreadable = find_unreadable(lookup.texts, setup.policy)
    needing = setup.needing_model
    undecided = {
        pair: code
        for pair, code in unsure.items()
        if pair[1] in needing or (setup.locates_alone and pair in unreadable)
    }
    return undecided, {p: code for p, code in unsure.items() if p not in undecided}


def _hide_quoted(
    lookup: Lookup, quoted: Found, pairs: Iterable[tuple[int, str]]
) -> None:
    """Hide, from this request, what half a verdict quoted; the model is asked anew."""
    empty = Register(Entries(), lookup.setup.state.hashes)
    for text_index, name in pairs:
        rule = lookup.rules[name]
        findings = quoted.get(text_index, {}).get(rule)
        if findings is None:
            continue
        key, text = lookup.own[text_index], lookup.texts.all[text_index].text
        known = lookup.known.setdefault(key, Known())
        spans = ClosedSpans.of(closed(text, {rule: findings}, empty), text)
        row = Located(key, _QUOTED, (rule,), spans, known.version or 0)
        known.add(row, whole=False)


def _registered(
    lookup: Lookup,
    found: Found,
    decodings: Iterable[Decoded],
    read_now: Iterable[int],
) -> Steps[None]:
    """Let registers grow by what was found, and read those that texts are closed by."""
    store = lookup.setup.state.findings
    read = [
        (text_index, lookup.texts.all[text_index].text, own)
        for text_index, own in found.items()
    ]
    read += [(one.text_index, one.text, one.found) for one in decodings if one.found]
    entries = yield from _entries(lookup, read)
    if entries:
        (grown,) = yield from compute(store.grow, [entries])
        lookup.registers = replied(grown)
    wanted = lookup.late_documents()
    wanted |= {
        lookup.documents[text_index] for text_index in read_now
    } & lookup.versions.keys()
    wanted -= lookup.registers.keys()
    if wanted:
        (known,) = yield from compute(store.register, [wanted])
        registers: dict[bytes, Register] = replied(known)
        lookup.registers = {**lookup.registers, **registers}


def _joined(readings: Iterable[Found]) -> Found:
    joined: Found = {}
    for found in readings:
        for text_index, rules in found.items():
            for rule, findings in rules.items():
                joined.setdefault(text_index, {}).setdefault(rule, []).extend(findings)
    return joined


def _entries(
    lookup: Lookup, read: Sequence[tuple[int, str, Mapping[bytes, list[Finding]]]]
) -> Steps[dict[bytes, Entries]]:
    """Make entries for the registers of what was found in which text."""
    section, hashes = lookup.setup.policy.disclosure, lookup.setup.state.hashes
    marks = any_of(section.marks)
    by_rule = {lookup.rules[rule.id]: rule for rule in lookup.texts.constraints}

    def made(one: tuple[int, str, Mapping[bytes, list[Finding]]]) -> Entries:
        entries = Entries()
        _, text, found = one
        folded = fold(text)
        for rule, findings in found.items():
            forms = surfaces(text, findings, by_rule[rule], marks)
            add_entries(entries, rule, folded, findings, forms, hashes)
        return entries

    outcomes = yield from compute(made, read)
    grown: dict[bytes, Entries] = {}
    for (text_index, _, _), outcome in zip(read, outcomes, strict=True):
        grown.setdefault(lookup.documents[text_index], Entries()).add(replied(outcome))
    return grown


def _closed(closing: _Closing, *, whole: bool) -> Steps[None]:
    """Close what was read now and what is behind its register, and keep both."""
    lookup = closing.lookup
    store = lookup.setup.state.findings
    behind, leaves = closing.behind(), closing.leaves()
    mended = yield from compute(closing.mend, behind)
    made = yield from compute(closing.close, closing.new())
    held = yield from compute(closing.judge, leaves.items())
    late = [row for outcome in mended for row in replied(outcome)]
    rows = [row for outcome in made for row in replied(outcome)]
    rows += [replied(outcome) for outcome in held]
    for key in (*(lookup.own[text_index] for text_index in behind), *leaves):
        lookup.known.pop(key, None)
    for row in (*late, *rows):
        lookup.known.setdefault(row.text, Known()).add(row, whole=whole)
    if late:
        (kept,) = yield from compute(store.catch_up, [late])
        replied(kept)
    if rows:
        (kept,) = yield from compute(lambda r: store.write(r, whole=whole), [rows])
        replied(kept)


class _Closing(Confidential):
    """
    Makes rows of what was read and of what is behind.

    Args:
        lookup: The texts.
        looked: By the engines.
    """

    __slots__ = ("_empty", "_forms", "_looked", "lookup")

    def __init__(self, lookup: Lookup, looked: Sequence[_Looked]) -> None:
        self.lookup = lookup
        self._looked = looked
        self._empty = Register(Entries(), lookup.setup.state.hashes)
        self._forms: dict[bytes, Register] = {}

    def new(self) -> list[int]:
        """Return the indices of the texts that were read now."""
        return sorted({text_index for one in self._looked for text_index in one.wanted})

    def behind(self) -> list[int]:
        """Return the indices of the texts that are behind their register."""
        return [
            text_index
            for text_index, key in enumerate(self.lookup.own)
            if self._is_behind(key)
        ]

    def leaves(self) -> dict[bytes, str]:
        """Return the leaves that are to be checked, by their keys."""
        return {
            key: said
            for own in self.lookup.leaves
            for said, key in own.items()
            if key not in self.lookup.known or self._is_behind(key)
            if self._register(key)
        }

    def close(self, text_index: int) -> list[Located]:
        """Make a row of what each engine found in a text."""
        key, text = self.lookup.own[text_index], self.lookup.texts.all[text_index].text
        register = self._register_for(text_index)
        rows = []
        for one in self._looked:
            judged = (
                self.lookup.rules[name]
                for name in one.wanted.get(text_index, ())
                if (text_index, name) not in one.doubts
            )
            if rules := tuple(dict.fromkeys(judged)):
                spans = closed(text, one.found.get(text_index, {}), register)
                kept = ClosedSpans.of(self._kept(text_index, rules, spans), text)
                rows.append(Located(key, one.engine, rules, kept, register.version))
        return rows

    def mend(self, text_index: int) -> list[Located]:
        """Close the rows of a text again, under its register as it is now."""
        key, text = self.lookup.own[text_index], self.lookup.texts.all[text_index].text
        register = self._register_for(text_index)
        return [
            replace(
                row,
                spans=ClosedSpans.of(
                    self._kept(
                        text_index,
                        row.rules,
                        recalled(text, by_rule(row.spans.groups), register),
                    ),
                    text,
                ),
                version=register.version,
            )
            for row in self.lookup.known[key].rows
        ]

    def judge(self, leaf: tuple[bytes, str]) -> Located:
        """Make a row of what a leaf holds."""
        key, said = leaf
        register = self._register(key)
        held = dict.fromkeys(disguised(said, {}, self._forms_of(key)), _HIDDEN)
        rules = tuple(sorted(register.rules().union(self.lookup.rules.values())))
        return Located(key, _LEAF, rules, ClosedSpans.of(held, said), register.version)

    def _kept(self, text_index: int, rules: Sequence[bytes], spans: _Spans) -> _Spans:
        """Keep what an engine looked for; a string that is in disguise goes whole."""
        if text_index >= len(self.lookup.texts.passages):
            text = self.lookup.texts.all[text_index].text
            held = disguised(text, spans, self._register_for(text_index))
            spans = {**spans, **dict.fromkeys(held, _HIDDEN)}
        return {rule: spans[rule] for rule in rules if rule in spans}

    def _is_behind(self, key: bytes) -> bool:
        known = self.lookup.known.get(key)
        return known is not None and known.is_behind(self._register(key).version)

    def _register_for(self, text_index: int) -> Register:
        """Return what a text is closed by."""
        key = self.lookup.own[text_index]
        return self._register(key)

    def _forms_of(self, key: bytes) -> Register:
        """Return a register without words that are known by their neighbours."""
        document = key[:DOCUMENT_BYTES]
        if document not in self._forms:
            known = self._register(key)
            forms = Entries(known.entries.forms)
            self._forms[document] = Register(forms, known.hashes, known.version)
        return self._forms[document]

    def _register(self, key: bytes) -> Register:
        return self.lookup.registers.get(key[:DOCUMENT_BYTES], self._empty)
