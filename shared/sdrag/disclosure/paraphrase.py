"""
Rephrasing among the other methods: before it come the cuts, after it the proof.

Constraints that are enforced by cutting are enforced first, so the model that rephrases
sees less. What it gives back is read like any redacted text: every form that was found
for any constraint is cut out of it, wherever it stands. Without a model the cuts alone
enforce the constraint. The chunks of a document are rephrased together, as in the
paper: it is the one release that is made for a question, so it is remembered by exactly
what it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.closing import closed
from sdrag.disclosure.cutting import Cut, Taken, cut
from sdrag.disclosure.release import Judged
from sdrag.disclosure.rephrase import Rephrased, Source, rephrase
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.surface_forms import lasts
from sdrag.engine.steps import Reply, Steps, compute, replied
from sdrag.state.register import Register
from sdrag.text.folding import fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.vocabulary import Confidential, Span

__all__ = ["periphrasis"]


def periphrasis(judged: Judged, setup: DisclosureSetup) -> Steps[Judged]:
    """
    Enforce the constraints whose method is to rephrase.

    Returns:
        The same with rephrased passages in place of the cut ones.
    """
    sources, before = _sources(judged)
    if not sources:
        return judged
    section, store = setup.policy.disclosure, setup.state.replies
    key = store.key(_made_from(judged, sources, setup))
    places = [place for source in sources for place in source.places]
    proof = yield from _proof(judged, places, setup)
    (known,) = yield from compute(store.get, [key])
    if isinstance(known, Reply) and known.value is not None:
        given = _read(known.value)
    else:
        given = yield from rephrase(sources, section, setup.key)
    # What is remembered is proved again: more may be known of its document today.
    mended = yield from compute(
        lambda place: proof.mended(place, given.texts[place]), given.texts
    )
    texts = dict(zip(given.texts, map(replied, mended), strict=True))
    if not given.doubts:
        kept = replace(given, texts=texts)
        yield from compute(lambda them: store.put(key, _written(them)), [kept])
    cuts = {
        place: _joined(judged, place, before[place], text)
        for place, text in texts.items()
    }
    merged = {p: into for p, into in given.merged.items() if p not in given.texts}
    return replace(judged, rephrased=cuts, merged=merged, failed=given.doubts)


def _sources(judged: Judged) -> tuple[list[Source], dict[int, Cut]]:
    """Cut what other methods cut, and gather what is to be rephrased together."""
    softened = {n for n, method in judged.methods.items() if method == "rephrase"}
    wanted = {
        index: softened.intersection(applied)
        for index, applied in enumerate(judged.applied)
        if not softened.isdisjoint(applied) and not judged.why_withheld(index)[0]
    }
    sources: list[Source] = []
    before: dict[int, Cut] = {}
    for group in judged.texts.groups(wanted):
        kept: list[int] = []
        for place in group.places:
            others = [n for n in judged.applied[place] if n not in softened]
            before[place] = judged.cut_before(place, others)
            if before[place].text is not None:
                kept.append(place)
        held = tuple(
            replace(judged.texts.all[place], text=before[place].text or "")
            for place in kept
        )
        if kept:
            sources.append(Source(tuple(kept), held, group.constraints))
    return sources, before


def _made_from(
    judged: Judged, sources: Sequence[Source], setup: DisclosureSetup
) -> list[str]:
    """Return everything that a rephrasing depends on."""
    parts = ["rephrased", setup.model_id, setup.policy.hash]
    for source in sources:
        parts += [",".join(rule.id for rule in source.constraints)]
        for place, text in zip(source.places, source.texts, strict=True):
            parts += [
                str(place),
                str(text.document_id),
                text.text,
                judged.texts.all[place].text,
                ",".join(judged.applied[place]),
                repr(_listed(judged.facts.taken[place])),
            ]
    return parts


def _listed(taken: Taken) -> list[tuple[list[str], tuple[Span, ...]]]:
    return [(sorted(by), own) for by, own in taken.groups()]


@dataclass(frozen=True, slots=True, repr=False)
class _Proof(Confidential):
    """What must not stand in a rephrased text, for each place it was made from."""

    judged: Judged
    registers: Mapping[int, Register]
    rules: Mapping[str, bytes]
    needles: Mapping[int, Mapping[str, PhraseMatcher]]

    def spans(self, place: int, text: str) -> dict[str, tuple[Span, ...]]:
        """Return what stands in a text and must not, by constraint."""
        folded = fold(text)
        known = closed(text, {}, self.registers[place])
        found = {}
        for name in self.judged.applied[place]:
            own = set(known.get(self.rules[name], ()))
            if name in self.needles[place]:
                own |= set(self.needles[place][name].find(folded))
            if own:
                found[name] = tuple(sorted(own))
        return found

    def mended(self, place: int, text: str) -> str:
        """Cut out of a rephrased text whatever survived."""
        spans = self.spans(place, text)
        names = self.judged.applied[place]
        taken = Taken.of((frozenset((name,)), own) for name, own in spans.items())
        return cut(text, taken, names, self.judged.placeholders).text or ""


def _proof(
    judged: Judged, places: Sequence[int], setup: DisclosureSetup
) -> Steps[_Proof]:
    handles = {place: judged.facts.handles[place] for place in places}
    (answer,) = yield from compute(
        setup.state.findings.register, [set(handles.values())]
    )
    known = replied(answer)
    keys = setup.state.keys
    return _Proof(
        judged,
        {place: known[handle] for place, handle in handles.items()},
        {rule.id: keys.rule(rule) for rule in judged.texts.constraints},
        {place: _needles(judged, place) for place in places},
    )


def _needles(judged: Judged, place: int) -> dict[str, PhraseMatcher]:
    """Return what was taken from a passage, as forms to search for."""
    text = judged.texts.all[place].text
    forms: dict[str, set[str]] = {}
    for by, spans in judged.facts.taken[place].groups():
        for name in by:
            forms.setdefault(name, set()).update(span.of(text) for span in spans)
    return {name: PhraseMatcher(filter(lasts, own)) for name, own in forms.items()}


def _joined(judged: Judged, place: int, before: Cut, text: str) -> Cut:
    """Say of a passage what was cut before, and that the rest was said again."""
    changed = text != judged.texts.all[place].text
    softened = {n for n, method in judged.methods.items() if method == "rephrase"}
    taken = judged.facts.taken[place].names.union(before.constraint_ids)
    names = tuple(
        name
        for name in judged.applied[place]
        if (name in taken and name not in softened) or (changed and name in softened)
    )
    return Cut(text or None, names, max(before.spans, int(changed)))


def _written(given: Rephrased) -> str:
    return json.dumps([list(given.texts.items()), list(given.merged.items())])


def _read(text: str) -> Rephrased:
    texts, merged = json.loads(text)
    return Rephrased(texts=dict(texts), merged=dict(merged))
