"""
The guard after generation: what may be said of an answer, and what is left of it.

An answer passes, in this order: it is readable at all; it holds nothing that redaction
withheld; nothing only an injection would have put there; every claim is grounded;
every claim is rightly cited; no passage contradicts it; and where the policy wants it,
it says how fresh its sources are. Whatever cannot be checked is said to be unchecked:
an answer has the status `checked` only if every check that the policy asks for was
made and passed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sdrag.engine.steps import Failure, Steps, compute, replied, within_limits
from sdrag.errors import LocalLimitError
from sdrag.guardrails import citations, contradictions, monitoring, staleness
from sdrag.guardrails.claims import Claim, claims, is_wordless
from sdrag.guardrails.comparison import Conflict
from sdrag.guardrails.grounding import ClaimSupport, supports
from sdrag.guardrails.notices import sources
from sdrag.guardrails.withheld import find_withheld, unknown
from sdrag.policy import GroundingSection, Policy
from sdrag.state import State
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge, splice
from sdrag.vocabulary import Confidential, Decision, Passage, Span

__all__ = ["DECLINED", "Draft", "Guarded", "guard"]

DECLINED = "This question cannot be answered reliably from the available sources."
SUBJECT = "answer"
MOST_CHARACTERS = 40_000

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")

Status = Literal["checked", "annotated", "declined"]


@dataclass(frozen=True, slots=True, repr=False)
class Draft(Confidential):
    """
    An answer, and what it was made from.

    Args:
        question: What was asked.
        answer: What the model said.
        passages: What the host's prompt received, in its order.
        citations: The citations, where they came as data.
    """

    question: str
    answer: str
    passages: tuple[Passage, ...]
    citations: Any = None


@dataclass(frozen=True, slots=True, repr=False)
class Guarded(Confidential):
    """
    What may be shown, and why.

    Args:
        text: The answer as it may be shown.
        status: `checked` only where every check was made and passed.
        supports: The evidence of each claim.
        faults: What is wrong with citations.
        conflicts: Between passages (`left`) and claims (`right`).
        decisions: Without content.
    """

    text: str
    status: Status
    supports: tuple[ClaimSupport, ...] = ()
    faults: tuple[citations.CitationFault, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    decisions: tuple[Decision, ...] = ()

    def __repr__(self) -> str:
        return f"Guarded({self.status}, {len(self.text)} characters)"


@dataclass(slots=True, repr=False)
class _Work(Confidential):
    """What the checks of one answer have come to; used in one call and forgotten."""

    draft: Draft
    text: str
    claims: tuple[Claim, ...] = ()
    supports: tuple[ClaimSupport, ...] = ()
    faults: tuple[citations.CitationFault, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    marks: dict[int, str] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    decisions: list[Decision] = field(default_factory=list)

    def note(
        self, rule: str, reason: str, action: Any = "annotated", spans: int = 0
    ) -> None:
        self.decisions.append(Decision(SUBJECT, action, rule, reason, spans=spans))

    def decline(self, rule: str, reason: str) -> Guarded:
        self.note(rule, reason, "withheld")
        return Guarded(
            DECLINED,
            "declined",
            self.supports,
            self.faults,
            self.conflicts,
            tuple(self.decisions),
        )


def guard(
    draft: Draft,
    policy: Policy,
    *,
    now: datetime,
    state: State | None = None,
) -> Steps[Guarded]:
    """
    Check an answer, and annotate, cut or decline it as the policy says.

    Args:
        draft: The answer and what it was made from.
        policy: Each section that stands in it is a check.
        now: With its time zone.
        state: That the passages were released with, if the host keeps it.
    """
    work = _Work(replace(draft, passages=sources(draft.passages)), draft.answer)
    if _malformed(draft.answer):
        return work.decline("answer", "malformed")
    if refusal := (yield from _cut_withheld(work, policy, state)):
        return refusal
    if refusal := _monitored(work, policy):
        return refusal
    work.claims = claims(work.text, placeholder=policy.disclosure.placeholder)
    for check in (_grounded, _contradicted, _cited):
        refusal = yield from check(work, policy)
        if refusal:
            return refusal
    return _finished(work, policy, now)


def _malformed(answer: object) -> bool:
    """Say whether an answer is nothing that can be checked."""
    if not isinstance(answer, str) or is_wordless(answer):
        return True
    broken = (
        unicodedata.category(one) in {"Cc", "Cs", "Co"} and one not in "\n\r\t"
        for one in answer
    )
    return len(answer) > MOST_CHARACTERS or any(broken)


def _cut_withheld(
    work: _Work, policy: Policy, state: State | None
) -> Steps[Guarded | None]:
    """Cut what was withheld; what is no longer known of was not looked for."""
    if state is None:
        return None
    passages = work.draft.passages
    looking = compute(
        lambda text: merge(find_withheld(passages, text, policy, state)), (work.text,)
    )
    (outcome,) = yield from within_limits(looking)
    if isinstance(outcome, Failure) and isinstance(outcome.error, LocalLimitError):
        return work.decline("withheld", "over-local-limit")
    if found := replied(outcome):
        work.text = splice(work.text, found, lambda _: policy.disclosure.placeholder)
        work.note("withheld", "reappeared", "redacted", len(found))
    if unknown(passages, policy, state):
        work.note("withheld", "unchecked", "flagged")
    return None


def _monitored(work: _Work, policy: Policy) -> Guarded | None:
    section = policy.monitoring
    if section is None:
        return None
    texts = [passage.text for passage in work.draft.passages]
    found = monitoring.indicators(work.text, work.draft.question, texts, section)
    for one in found:
        work.note("monitoring", f"{one.kind}:{one.origin}", "flagged")
    if found and section.action == "decline":
        return work.decline("monitoring", "indicators")
    if found and section.action == "strip":
        touched = [
            span
            for span in sentences(work.text)
            if any(span.overlaps(one.span) for one in found)
        ]
        work.text = splice(work.text, touched, lambda _: "").strip()
        if not work.text:
            return work.decline("monitoring", "nothing-left")
    return None


def _grounded(work: _Work, policy: Policy) -> Steps[Guarded | None]:
    section = policy.grounding
    if section is None or not work.claims:
        return None
    if len(work.claims) > section.max_claims:
        return work.decline("grounding", "too-many-claims")
    held = yield from supports(work.claims, work.draft.passages, section)
    work.supports = tuple(held)
    for place, one in enumerate(held):
        if one.score is not None and one.score >= section.threshold:
            continue
        reason = "unchecked" if one.score is None else "unsupported"
        work.note("grounding", reason)
        if section.action == "drop":
            work.dropped.add(place)
        work.marks.setdefault(place, reason)
    if section.action == "decline" and work.marks:
        return work.decline("grounding", "unsupported")
    if work.dropped and len(work.dropped) == len(work.claims):
        return work.decline("grounding", "nothing-left")
    return None


def _contradicted(work: _Work, policy: Policy) -> Steps[Guarded | None]:
    section = policy.contradictions
    if section is None or not work.claims or not work.draft.passages:
        return None
    texts = [claim.text for claim in work.claims]
    found = yield from contradictions.contradicted(texts, work.draft.passages, section)
    work.conflicts = found
    for one in found:
        work.note("contradictions", one.reason)
        mark = "unchecked" if one.reason == "unchecked" else "contradicted by a source"
        work.marks.setdefault(one.right, mark)
    passages = [work.draft.passages[one.left] for one in found]
    if any(contradictions.is_critical(one, section) for one in passages):
        return work.decline("contradictions", "critical")
    if found and section.strategy == "decline":
        return work.decline("contradictions", "contradicted")
    return None


def _cited(work: _Work, policy: Policy) -> Steps[Guarded | None]:
    section = policy.citations
    if section is None:
        return None
    if section.format == "structured" and work.draft.citations is None:
        work.note("citations", "malformed", "flagged")
    if not work.claims:
        return None
    faults = yield from citations.check(
        work.claims,
        work.draft.passages,
        section,
        judge=policy.grounding or GroundingSection(),
        conflicts=work.conflicts,
        data=work.draft.citations,
    )
    work.faults = faults
    for one in faults:
        reason = f"{one.fault}-unchecked" if one.unchecked else one.fault
        work.note("citations", reason)
        work.marks.setdefault(one.claim, f"citation: {reason}")
    if faults and section.action == "decline":
        return work.decline("citations", faults[0].fault)
    return None


def _finished(work: _Work, policy: Policy, now: datetime) -> Guarded:
    """Write the marks into the answer, drop what is to be dropped, add the date."""
    marked: dict[Span, str] = {}
    for place, mark in work.marks.items():
        span = work.claims[place].span
        kept = "" if place in work.dropped else f"{span.of(work.text)} [{mark}]"
        marked[span] = kept
    text = splice(work.text, marked, marked.__getitem__).strip()
    if work.dropped:
        text = _GAP.sub(" ", text)
    annotated = bool(marked) or any(
        one.action in {"flagged", "redacted"} for one in work.decisions
    )
    if policy.staleness and work.draft.passages:
        fresh = staleness.disclaimer(work.draft.passages, policy.staleness, now=now)
        text = f"{text}\n\n{fresh}" if fresh else text
    status: Status = "annotated" if annotated else "checked"
    if not annotated:
        work.note("answer", "checked", "released")
    held = Guarded(text, status, work.supports, work.faults, work.conflicts)
    return replace(held, decisions=tuple(work.decisions))
