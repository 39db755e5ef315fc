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
from dataclasses import replace
from datetime import datetime

from sdrag.engine.steps import Failure, Steps, compute, replied, within_limits
from sdrag.errors import LocalLimitError
from sdrag.guardrails import staleness
from sdrag.guardrails.answer_work import DECLINED, AnswerWork, Draft, Guarded, Status
from sdrag.guardrails.claims import is_wordless
from sdrag.guardrails.notices import sources
from sdrag.guardrails.withheld import find_withheld, unknown
from sdrag.policy import GUARDS, Policy
from sdrag.state import State
from sdrag.text.spans import merge, splice
from sdrag.vocabulary import Span

__all__ = ["DECLINED", "Draft", "Guarded", "guard"]

MOST_CHARACTERS = 40_000
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


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
        policy: Each of its sections is a check.
        now: With its time zone.
        state: That the passages were released with, if the host keeps it.
    """
    passages = sources(draft.passages)
    work = AnswerWork(replace(draft, passages=passages), policy, draft.answer)
    if _malformed(draft.answer):
        return work.decline("answer", "malformed")
    if refusal := (yield from _cut_withheld(work, state)):
        return refusal
    for entry in GUARDS:
        section = entry.settings(policy)
        if entry.stage == "answer" and section is not None:
            refused: Guarded | None = yield from entry.load()(work, section)
            if refused:
                return refused
    return _finished(work, now)


def _malformed(answer: object) -> bool:
    """Say whether an answer is nothing that can be checked."""
    if not isinstance(answer, str) or is_wordless(answer):
        return True
    broken = (
        unicodedata.category(item) in {"Cc", "Cs", "Co"} and item not in "\n\r\t"
        for item in answer
    )
    return len(answer) > MOST_CHARACTERS or any(broken)


def _cut_withheld(work: AnswerWork, state: State | None) -> Steps[Guarded | None]:
    """Cut what was withheld; what is no longer known of was not looked for."""
    if state is None:
        return None
    passages, policy = work.draft.passages, work.policy
    looking = compute(
        lambda text: merge(find_withheld(passages, text, policy, state)), (work.text,)
    )
    (outcome,) = yield from within_limits(looking)
    if isinstance(outcome, Failure) and isinstance(outcome.error, LocalLimitError):
        return work.decline("withheld", "over-local-limit")
    if found := replied(outcome):
        work.text = splice(work.text, found, lambda _: policy.disclosure.mark)
        work.note("withheld", "reappeared", "redacted", len(found))
    if unknown(passages, policy, state):
        work.note("withheld", "unchecked", "flagged")
    return None


def _finished(work: AnswerWork, now: datetime) -> Guarded:
    """Write the marks into the answer, drop what is to be dropped, add the date."""
    marked: dict[Span, str] = {}
    for index, mark in work.marks.items():
        span = work.claims[index].span
        kept = "" if index in work.dropped else f"{span.of(work.text)} [{mark}]"
        marked[span] = kept
    text = splice(work.text, marked, marked.__getitem__).strip()
    if work.dropped:
        text = _GAP.sub(" ", text)
    annotated = bool(marked) or any(
        decision.action in {"flagged", "redacted"} for decision in work.decisions
    )
    if work.policy.staleness and work.draft.passages:
        section = work.policy.staleness
        fresh = staleness.disclaimer(work.sources_used(), section, now=now)
        text = f"{text}\n\n{fresh}" if fresh else text
    status: Status = "annotated" if annotated else "checked"
    if not annotated:
        work.note("answer", "checked", "released")
    guarded = Guarded(text, status, work.supports, work.faults, work.conflicts)
    return replace(guarded, decisions=tuple(work.decisions))
