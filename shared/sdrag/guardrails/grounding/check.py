"""
Groundedness: each claim of an answer against the passages it was made from.

A claim that is not supported is a hallucination until shown otherwise. The evidence is
kept with each claim: which passages, which sentences, how sure. A claim that could not
be checked counts as unsupported, with a code of its own.

A yes or a no is judged by what it affirms or denies of the question. Under constraints
it is declined where the released text does not support that, whatever the policy says
of other claims: hidden values are never consulted, so another one gives the same answer
or is declined too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, ClaimSupport, Draft, Guarded
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.grounding.yes_no import (
    find_affirmed,
    is_bare_verdict,
    propositions,
    split_claim,
)
from sdrag.guardrails.statements.claims import Claim, claims
from sdrag.guardrails.statements.judging import ask
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage, Span

RULE = "grounding"

_MOST_NOVEL = 0.6
_CERTAIN = frozenset({"missing", "figures", "bounds", "names"})
_MOST_EVIDENCE = 2_000
"""Characters of each passage that a judge reads at once."""


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
        from sdrag.guardrails.grounding.support import support_each  # noqa: PLC0415 -- numpy

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
            support.novelty,
            support.faults,
        )
        for claim, support in zip(claims, supported, strict=True)
    ]


def at_answer(work: AnswerWork, section: GroundingSection) -> Steps[Guarded | None]:
    """Mark or drop the claims that no passage supports."""
    if not work.claims:
        return None
    if len(work.claims) > section.max_claims:
        return work.decline(RULE, "too-many-claims")
    parts = [split_claim(work.draft.question, claim.text) for claim in work.claims]
    read = [
        replace(claim, text=text)
        for claim, texts in zip(work.claims, parts, strict=True)
        for text in texts
    ]
    judged = iter((yield from supports(read, work.draft.passages, section)))
    work.supports = tuple(
        replace(min(islice(judged, len(texts)), key=_least), claim=claim)
        for claim, texts in zip(work.claims, parts, strict=True)
    )
    for index, support in enumerate(work.supports):
        if support.score is not None and support.score >= section.threshold:
            continue
        reason = "unchecked" if support.score is None else "unsupported"
        work.note(RULE, reason)
        if section.action == "drop":
            work.dropped.add(index)
        work.annotations.setdefault(index, reason)
    if section.action == "decline" and work.annotations:
        return work.decline(RULE, "unsupported")
    if work.dropped and len(work.dropped) == len(work.claims):
        return work.decline(RULE, "nothing-left")
    return None


def _least(support: ClaimSupport) -> float:
    return -1.0 if support.score is None else support.score


def find_unsupported(
    draft: Draft, policy: Policy, placeholders: Placeholders
) -> Steps[str]:
    """
    Say why a summary is not supported by what it was made of; nothing, if it is.

    All of it is in its few sentences, so the local scorer takes a word that is far from
    each of theirs for invented. It takes many a paraphrase for that, so where the
    policy names no method, the model is asked about what the scorer doubts. A figure,
    a bound or a name that is not there is no matter of doubt. Nor is what a yes or a no
    affirms: it is in the asker's words, which could tell the model what to say.
    """
    section = policy.grounding or GroundingSection()
    found = _read_claims(draft.answer, placeholders)
    if len(found) > section.max_claims:
        return "unsupported"
    read = [
        replace(claim, text=text)
        for claim in found
        for text in split_claim(draft.question, claim.text)
    ]
    own, doubted = "\n".join(claim.text for claim in found), []
    for support in (yield from supports(read, draft.passages, section)):
        if support.score is None:
            return "unchecked"
        if support.score < section.threshold or support.novelty > _MOST_NOVEL:
            doubted.append(support)
    if any(
        policy.grounding or _CERTAIN & {*each.faults} or each.claim.text not in own
        for each in doubted
    ):
        return "unsupported"
    whole = Passage("highlights", "\n".join(each.text for each in draft.passages))
    asked = [support.claim for support in doubted]
    confirmed = yield from supports(asked, [whole], GroundingSection(method="llm"))
    is_confirmed = all(_least(each) >= section.threshold for each in confirmed)
    return "" if is_confirmed else "unsupported"


def _read_claims(answer: str, placeholders: Placeholders) -> tuple[Claim, ...]:
    """Return the claims of an answer; a bare yes or no is one."""
    whole = Claim(Span(0, len(answer)), answer, ())
    found = claims(answer, placeholders=placeholders)
    return found or ((whole,) if is_bare_verdict(answer) else ())


def check_yes_or_no(work: AnswerWork) -> Steps[Guarded | None]:
    """
    Decline a yes or a no that the released text does not support.

    No yes or no to a question that asks for what is withheld can be supported, and
    other answers may be about somebody else.
    """
    question, answer = work.draft.question, work.draft.answer
    answered = _read_claims(answer, work.placeholders)
    statements = {
        text: replace(claim, text=text)
        for claim in answered
        for text in find_affirmed(question, claim.text)
    }
    if answered and work.asks_for_withheld:
        declines = work.policy.disclosure.on_guess == "decline"
        if statements or propositions(question) or declines:
            return work.decline("withheld", "not-in-context")
        work.note("withheld", "not-in-context", "flagged")
    section = work.policy.grounding or GroundingSection()
    judged = [*statements.values()]
    for support in (yield from supports(judged, work.draft.passages, section)):
        if support.score is None:
            return work.decline("withheld", "unchecked")
        if support.score < section.threshold:
            return work.decline("withheld", "unsupported")
    return None
