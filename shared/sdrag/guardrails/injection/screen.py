"""
What becomes of passages that talk to the model: drop, strip the sentence, or flag.

"Malicious content enters through a trusted channel (the knowledge base) rather than
from the user" (section 3.5), so retrieved text gets the suspicion that user input
gets. A passage that could not be scanned to its end is doubt, and is dropped whatever
the action. What was stripped is scanned again, and dropped if it is still suspicious.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sdrag.errors import SdragError
from sdrag.guardrails.injection.scan import Scan, Suspicion, scan
from sdrag.guardrails.screened import Screened
from sdrag.policy import InjectionSection
from sdrag.sentences import sentences
from sdrag.spans import merge, splice
from sdrag.steps import Failure, Steps, compute, score
from sdrag.vocabulary import Decision, Passage, Span

__all__ = ["screen"]

RULE = "injection"


def screen(
    passages: Sequence[Passage],
    section: InjectionSection | None,
    *,
    classifier: bool = False,
) -> Steps[Screened]:
    """
    Scan passages and do with each what the policy says.

    Args:
        passages: At ingest or at retrieval.
        section: None: nothing is scanned.
        classifier: Ask the classifier that was handed in too, as `Score` pairs of the
            text and nothing, under the name `injection`; it answers the probability
            of an injection.
    """
    if section is None:
        return Screened(tuple(passages))
    scans = yield from _scans(passages, section, classifier=classifier)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for passage, found in zip(passages, scans, strict=True):
        passed, decision = yield from _decide(passage, found, section)
        kept += [passed] if passed else []
        decisions += [decision] if decision else []
    return Screened(tuple(kept), tuple(decisions))


def _decide(
    passage: Passage, found: Scan | None, section: InjectionSection
) -> Steps[tuple[Passage | None, Decision | None]]:
    """Return the passage as it goes on, if it does, and what was decided."""
    if found is None:
        return None, Decision(passage.id, "dropped", RULE, "scan-failed")
    if not found.suspicions:
        return passage, None
    reason = max(found.suspicions, key=lambda one: one.score).reason
    if section.action == "flag" and not found.whole:
        return passage, Decision(passage.id, "flagged", RULE, reason)
    if section.action == "strip" and not found.whole:
        stripped, cuts = _stripped(passage, found.suspicions)
        if stripped and (yield from _is_clean(stripped, section)):
            decision = Decision(passage.id, "redacted", RULE, reason, spans=cuts)
            return stripped, decision
    return None, Decision(passage.id, "dropped", RULE, reason)


def _scans(
    passages: Sequence[Passage], section: InjectionSection, *, classifier: bool
) -> Steps[list[Scan | None]]:
    """Scan each passage; None for one that could not be scanned."""
    try:
        outcomes = yield from compute(
            lambda passage: scan(passage.text, section), passages
        )
    except SdragError:
        return [None] * len(passages)
    found = [None if isinstance(one, Failure) else one.value for one in outcomes]
    if not classifier:
        return found
    judged = yield from _judged(passages, section)
    return [
        None if ours is None or theirs is None else _joined(ours, theirs)
        for ours, theirs in zip(found, judged, strict=True)
    ]


def _judged(
    passages: Sequence[Passage], section: InjectionSection
) -> Steps[list[Scan | None]]:
    """Ask the classifier that was handed in about each passage as a whole."""
    try:
        answers = yield from score(
            ((passage.text, "") for passage in passages), model=RULE
        )
    except SdragError:
        return [None] * len(passages)
    scans: list[Scan | None] = []
    for passage, answer in zip(passages, answers, strict=True):
        if isinstance(answer, Failure) or not math.isfinite(answer.value):
            scans.append(None)
        elif answer.value >= section.threshold and passage.text:
            everything = Span(0, len(passage.text))
            suspicion = Suspicion(everything, "classifier", min(1.0, answer.value))
            scans.append(Scan((suspicion,), whole=True))
        else:
            scans.append(Scan())
    return scans


def _joined(ours: Scan, theirs: Scan) -> Scan:
    return Scan(ours.suspicions + theirs.suspicions, ours.whole or theirs.whole)


def _stripped(
    passage: Passage, suspicions: Sequence[Suspicion]
) -> tuple[Passage | None, int]:
    """Cut every sentence that a suspicion touches; None when nothing is left."""
    text = passage.text
    touched = merge(
        sentence
        for sentence in (*sentences(text), *(one.span for one in suspicions))
        if any(sentence.overlaps(one.span) for one in suspicions)
    )
    rest = splice(text, touched, lambda _: "").strip()
    return (replace(passage, text=rest) if rest else None), len(touched)


def _is_clean(passage: Passage, section: InjectionSection) -> Steps[bool]:
    (found,) = yield from _scans([passage], section, classifier=False)
    return found is not None and not found.suspicions
