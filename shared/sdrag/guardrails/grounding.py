"""
Groundedness: each claim of an answer against the passages it was made from.

A claim that is not supported is a hallucination until shown otherwise. The evidence is
kept with each claim: which passages, which sentences, how sure. A claim that could not
be checked counts as unsupported, with a code of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, Guarded
from sdrag.guardrails.claims import Claim
from sdrag.guardrails.judging import ask
from sdrag.policy import GroundingSection
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage

RULE = "grounding"

_MOST_EVIDENCE = 2_000
"""Characters of each passage that a judge reads at once."""


@dataclass(frozen=True, slots=True, repr=False)
class ClaimSupport(Confidential):
    """
    What was found out about a claim.

    Args:
        score: The support, from 0 to 1; None where it could not be checked.
    """

    claim: Claim
    score: float | None
    passage_ids: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ClaimSupport(score={self.score}, {len(self.passage_ids)} passages)"


def supports(
    claims: Sequence[Claim], passages: Sequence[Passage], section: GroundingSection
) -> Steps[list[ClaimSupport]]:
    """Judge claims against the passages."""
    if not claims or not passages:
        return [ClaimSupport(claim, 0.0) for claim in claims]
    if section.method == "local":
        return _locally(claims, passages)
    pairs = [
        (passage.text[:_MOST_EVIDENCE], claim.text)
        for claim in claims
        for passage in passages
    ]
    values = yield from ask(pairs, "entailment", section.method)
    width = len(passages)
    return [
        _best(claim, passages, values[at * width : (at + 1) * width], section)
        for at, claim in enumerate(claims)
    ]


def _best(
    claim: Claim,
    passages: Sequence[Passage],
    values: Sequence[float | None],
    section: GroundingSection,
) -> ClaimSupport:
    """Take the best passage; a yes counts even where another judgment is missing."""
    known = [
        (value, passage.id)
        for value, passage in zip(values, passages, strict=True)
        if value is not None
    ]
    best = max((value for value, _ in known), default=None)
    if best is None or (best < section.threshold and len(known) < len(passages)):
        return ClaimSupport(claim, None)
    ranked = sorted(known, reverse=True)
    ids = tuple(name for value, name in ranked if value >= section.threshold)
    return ClaimSupport(claim, best, ids)


def _locally(
    claims: Sequence[Claim], passages: Sequence[Passage]
) -> list[ClaimSupport]:
    """Score each claim against the sentences of all passages together."""
    try:
        from sdrag.guardrails.support import support_each  # noqa: PLC0415 -- numpy

        evidence = [
            (passage.id, span.of(passage.text))
            for passage in passages
            for span in sentences(passage.text)
        ]
        supported = support_each(
            [claim.text for claim in claims], [sentence for _, sentence in evidence]
        )
    except Exception:  # noqa: BLE001 -- what could not be judged has no score
        return [ClaimSupport(claim, None) for claim in claims]
    return [
        ClaimSupport(
            claim,
            support.score,
            tuple(dict.fromkeys(evidence[at][0] for at in support.sentences)),
        )
        for claim, support in zip(claims, supported, strict=True)
    ]


def at_answer(work: AnswerWork, section: GroundingSection) -> Steps[Guarded | None]:
    """Mark or drop the claims that no passage supports."""
    if not work.claims:
        return None
    if len(work.claims) > section.max_claims:
        return work.decline(RULE, "too-many-claims")
    work.supports = tuple(
        (yield from supports(work.claims, work.draft.passages, section))
    )
    for index, support in enumerate(work.supports):
        if support.score is not None and support.score >= section.threshold:
            continue
        reason = "unchecked" if support.score is None else "unsupported"
        work.note(RULE, reason)
        if section.action == "drop":
            work.dropped.add(index)
        work.marks.setdefault(index, reason)
    if section.action == "decline" and work.marks:
        return work.decline(RULE, "unsupported")
    if work.dropped and len(work.dropped) == len(work.claims):
        return work.decline(RULE, "nothing-left")
    return None
