"""
Rephrasing among the other methods: before it come the cuts, after it the proof.

Constraints that are enforced by cutting are enforced first, so the model that rephrases
sees less. What it gives back is read like any redacted text: every form that was found
for any constraint is cut out of it, wherever it stands, and a text that does not come
to rest is withheld. Without a model the cuts alone enforce the constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sdrag.disclosure.redaction import Cut, cut
from sdrag.disclosure.release import Judged
from sdrag.disclosure.rephrase import Source, rephrase
from sdrag.disclosure.texts import Texts
from sdrag.folding import fold
from sdrag.policy import DisclosureSection
from sdrag.steps import Steps, compute, replied
from sdrag.vocabulary import Finding

__all__ = ["periphrasis"]


def periphrasis(
    judged: Judged,
    findings: Mapping[int, Sequence[Finding]],
    section: DisclosureSection,
) -> Steps[Judged]:
    """
    Enforce the constraints whose method is to rephrase.

    Args:
        judged: What extraction made of passages and metadata; the latter stays so.
        findings: What was found in each text, by its place.
        section: Gives the token budget and the batch size.

    Returns:
        The same with the rephrased passages in place of the cut ones.
    """
    texts, swept = judged.texts, judged.swept
    sources, before = yield from _sources(judged, findings)

    def survives(places: Sequence[int], text: str) -> bool:
        folded = fold(text)
        return any(
            swept[place].needles[name].occur(folded)
            for place in places
            for name in texts.applied[place]
        )

    given = yield from rephrase(sources, section, judged.key, survives)
    mended = yield from compute(
        lambda place: cut(given.texts[place], (), texts.applied[place], swept[place]),
        given.texts,
    )
    cuts = list(judged.cuts)
    for place, outcome in zip(given.texts, mended, strict=True):
        cuts[place] = _joined(texts, place, before[place], replied(outcome))
    merged = {p: into for p, into in given.merged.items() if p not in given.texts}
    doubts = {**judged.doubts, **given.doubts}
    return replace(judged, cuts=cuts, doubts=doubts, merged=merged)


def _sources(
    judged: Judged, findings: Mapping[int, Sequence[Finding]]
) -> Steps[tuple[list[Source], dict[int, Cut]]]:
    """Cut what other methods cut, and gather what is to be rephrased together."""
    texts = judged.texts
    softened = {rule.id for rule in texts.constraints if rule.method == "rephrase"}
    sources: list[Source] = []
    before: dict[int, Cut] = {}
    for group in texts.groups():
        rules = tuple(rule for rule in group.constraints if rule.id in softened)
        others = [rule.id for rule in group.constraints if rule.id not in softened]
        places = [
            place
            for place in group.places
            if place < len(texts.passages) and not judged.why_withheld(place)[0]
        ]
        if not rules or not places:
            continue
        cuts = yield from _cut_before(judged, findings, places, others)
        before |= cuts
        kept = tuple(place for place in places if cuts[place].text is not None)
        held = tuple(
            replace(texts.all[place], text=cuts[place].text or "") for place in kept
        )
        sources.append(Source(kept, held, rules))
    return sources, before


def _cut_before(
    judged: Judged,
    findings: Mapping[int, Sequence[Finding]],
    places: Sequence[int],
    names: Sequence[str],
) -> Steps[dict[int, Cut]]:
    texts = judged.texts.all
    outcomes = yield from compute(
        lambda place: cut(
            texts[place].text, findings[place], names, judged.swept[place]
        ),
        places,
    )
    return dict(zip(places, map(replied, outcomes), strict=True))


def _joined(texts: Texts, place: int, before: Cut, after: Cut) -> Cut:
    """Say of a passage what was cut before, and what rephrasing and mending took."""
    changed = after.text != texts.all[place].text
    softened = {rule.id for rule in texts.constraints if rule.method == "rephrase"}
    taken = {*before.constraint_ids, *after.constraint_ids}
    names = tuple(
        name
        for name in texts.applied[place]
        if name in taken or (changed and name in softened)
    )
    return Cut(after.text or None, names, max(before.spans + after.spans, int(changed)))
