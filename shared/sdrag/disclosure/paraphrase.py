"""
Rephrasing among the other methods: before it come the cuts, after it the proof.

Constraints that are enforced by cutting are enforced first, so the model that rephrases
sees less. What it gives back is read like any redacted text: every form that was found
for any constraint is cut out of it, wherever it is. Without a model, and where it
fails, the cuts alone enforce the constraint. The chunks of a document are rephrased
together, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.closing import closed
from sdrag.disclosure.cutting import RedactedText, Taken, cut
from sdrag.disclosure.release import Enforcement
from sdrag.disclosure.rephrase import Source, rephrase
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.surface_forms import lasts
from sdrag.effects.steps import Steps, compute, replied
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
    given = yield from rephrase(sources, setup.policy.disclosure, setup.key)
    failed = {text_index for text_index, _ in given.doubts}
    rephrased = [text_index for text_index in given.texts if text_index not in failed]
    proof = yield from _proof(enforcement, rephrased, setup)
    mended = yield from compute(
        lambda text_index: proof.mended(text_index, given.texts[text_index]), rephrased
    )
    cuts = {
        text_index: _joined(enforcement, text_index, before[text_index], replied(text))
        for text_index, text in zip(rephrased, mended, strict=True)
    }
    merged = {
        text_index: into
        for text_index, into in given.merged.items()
        if text_index not in cuts and into in cuts
    }
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
