"""
Rephrasing among the other methods: before it come the cuts, after it the proof.

Constraints that are enforced by cutting are enforced first, so the model that rephrases
sees less. What it gives back is read like any redacted text: every form that was found
for any constraint is cut out of it, wherever it is. Without a model the cuts alone
enforce the constraint. The chunks of a document are rephrased together, as in the
paper: it is the one release that is made for a question, so it is remembered by exactly
what it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.closing import closed
from sdrag.disclosure.cutting import RedactedText, Taken, cut
from sdrag.disclosure.release import Enforcement
from sdrag.disclosure.rephrase import Rephrased, Source, rephrase
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.surface_forms import lasts
from sdrag.engine.steps import Reply, Steps, compute, replied
from sdrag.state.register import Register
from sdrag.text.folding import fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.vocabulary import Confidential, Span

__all__ = ["paraphrase"]


def paraphrase(enforcement: Enforcement, setup: DisclosureSetup) -> Steps[Enforcement]:
    """
    Enforce the constraints whose method is to rephrase.

    Returns:
        The same with rephrased passages in place of the cut ones.
    """
    sources, before = _sources(enforcement)
    if not sources:
        return enforcement
    section, store = setup.policy.disclosure, setup.state.replies
    key = store.key(_made_from(enforcement, sources, setup))
    text_indices = [
        text_index for source in sources for text_index in source.text_indices
    ]
    proof = yield from _proof(enforcement, text_indices, setup)
    (known,) = yield from compute(store.get, [key])
    if isinstance(known, Reply) and known.value is not None:
        given = _read(known.value)
    else:
        given = yield from rephrase(sources, section, setup.key)
    # What is remembered is proved again: more may be known of its document today.
    mended = yield from compute(
        lambda text_index: proof.mended(text_index, given.texts[text_index]),
        given.texts,
    )
    texts = dict(zip(given.texts, map(replied, mended), strict=True))
    if not given.doubts:
        kept = replace(given, texts=texts)
        yield from compute(lambda them: store.put(key, _written(them)), [kept])
    cuts = {
        text_index: _joined(enforcement, text_index, before[text_index], text)
        for text_index, text in texts.items()
    }
    merged = {p: into for p, into in given.merged.items() if p not in given.texts}
    return replace(enforcement, rephrased=cuts, merged=merged, failed=given.doubts)


def _sources(enforcement: Enforcement) -> tuple[list[Source], dict[int, RedactedText]]:
    """Cut what other methods cut, and gather what is to be rephrased together."""
    softened = {n for n, method in enforcement.methods.items() if method == "rephrase"}
    wanted = {
        index: softened.intersection(applied)
        for index, applied in enumerate(enforcement.applied)
        if not softened.isdisjoint(applied) and not enforcement.why_withheld(index)[0]
    }
    sources: list[Source] = []
    before: dict[int, RedactedText] = {}
    for group in enforcement.texts.groups(wanted):
        kept: list[int] = []
        for text_index in group.text_indices:
            others = [n for n in enforcement.applied[text_index] if n not in softened]
            before[text_index] = enforcement.cut_before(text_index, others)
            if before[text_index].text is not None:
                kept.append(text_index)
        held = tuple(
            replace(
                enforcement.texts.all[text_index], text=before[text_index].text or ""
            )
            for text_index in kept
        )
        if kept:
            sources.append(Source(tuple(kept), held, group.constraints))
    return sources, before


def _made_from(
    enforcement: Enforcement, sources: Sequence[Source], setup: DisclosureSetup
) -> list[str]:
    """Return everything that a rephrasing depends on."""
    parts = ["rephrased", setup.model_id, setup.policy.hash]
    for source in sources:
        parts += [",".join(rule.id for rule in source.constraints)]
        for text_index, text in zip(source.text_indices, source.texts, strict=True):
            parts += [
                str(text_index),
                str(text.document_id),
                text.text,
                enforcement.texts.all[text_index].text,
                ",".join(enforcement.applied[text_index]),
                repr(_listed(enforcement.facts.taken[text_index])),
            ]
    return parts


def _listed(taken: Taken) -> list[tuple[list[str], tuple[Span, ...]]]:
    return [(sorted(by), own) for by, own in taken.groups()]


@dataclass(frozen=True, slots=True, repr=False)
class _Proof(Confidential):
    """What must not be in a rephrased text, for each text that it was made from."""

    enforcement: Enforcement
    registers: Mapping[int, Register]
    rules: Mapping[str, bytes]
    needles: Mapping[int, Mapping[str, PhraseMatcher]]

    def spans(self, text_index: int, text: str) -> dict[str, tuple[Span, ...]]:
        """Return what is in a text and must not, by constraint."""
        folded = fold(text)
        known = closed(text, {}, self.registers[text_index])
        found = {}
        for name in self.enforcement.applied[text_index]:
            own = set(known.get(self.rules[name], ()))
            if name in self.needles[text_index]:
                own |= set(self.needles[text_index][name].find(folded))
            if own:
                found[name] = tuple(sorted(own))
        return found

    def mended(self, text_index: int, text: str) -> str:
        """Cut out of a rephrased text whatever survived."""
        spans = self.spans(text_index, text)
        names = self.enforcement.applied[text_index]
        taken = Taken.of((frozenset((name,)), own) for name, own in spans.items())
        return cut(text, taken, names, self.enforcement.marks).text or ""


def _proof(
    enforcement: Enforcement, text_indices: Sequence[int], setup: DisclosureSetup
) -> Steps[_Proof]:
    handles = {
        text_index: enforcement.facts.handles[text_index] for text_index in text_indices
    }
    (answer,) = yield from compute(
        setup.state.findings.register, [set(handles.values())]
    )
    known = replied(answer)
    keys = setup.state.keys
    return _Proof(
        enforcement,
        {text_index: known[handle] for text_index, handle in handles.items()},
        {rule.id: keys.rule(rule) for rule in enforcement.texts.constraints},
        {text_index: _needles(enforcement, text_index) for text_index in text_indices},
    )


def _needles(enforcement: Enforcement, text_index: int) -> dict[str, PhraseMatcher]:
    """Return what was taken from a passage, as forms to search for."""
    text = enforcement.texts.all[text_index].text
    forms: dict[str, set[str]] = {}
    for by, spans in enforcement.facts.taken[text_index].groups():
        for name in by:
            forms.setdefault(name, set()).update(span.of(text) for span in spans)
    return {name: PhraseMatcher(filter(lasts, own)) for name, own in forms.items()}


def _joined(
    enforcement: Enforcement, text_index: int, before: RedactedText, text: str
) -> RedactedText:
    """Say of a passage what was cut before, and that the rest was said again."""
    changed = text != enforcement.texts.all[text_index].text
    softened = {n for n, method in enforcement.methods.items() if method == "rephrase"}
    taken = enforcement.facts.taken[text_index].names.union(before.constraint_ids)
    names = tuple(
        name
        for name in enforcement.applied[text_index]
        if (name in taken and name not in softened) or (changed and name in softened)
    )
    return RedactedText(text or None, names, max(before.spans, int(changed)))


def _written(given: Rephrased) -> str:
    return json.dumps([list(given.texts.items()), list(given.merged.items())])


def _read(text: str) -> Rephrased:
    texts, merged = json.loads(text)
    return Rephrased(texts=dict(texts), merged=dict(merged))
