"""
What the guards after generation take, share and return.

An answer that is no text is passed on unchanged, so that the guard declines it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sdrag.guardrails.results import import_evidence
from sdrag.guardrails.statements.claims import Claim, claims
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy
from sdrag.vocabulary import Action, Confidential, Decision, Passage, Principal, Span

DECLINED = "This question cannot be answered reliably from the available sources."
SUBJECT = "answer"

Status = Literal["checked", "annotated", "declined"]
Fault = Literal["presence", "validity", "accuracy", "completeness"]


@dataclass(frozen=True, slots=True, repr=False)
class Draft(Confidential):
    """An answer, and what it was made from."""

    question: str
    answer: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ClaimSupport(Confidential):
    """
    What was found out about a claim.

    Args:
        score: The support, from 0 to 1; None where it could not be checked.
        novelty: How far its words are from the passages', as the local scorer has it.
        faults: The local scorer's rules that it fails.
    """

    claim: Claim
    score: float | None
    passage_ids: tuple[str, ...] = ()
    novelty: float = 0.0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationFault:
    """What is wrong with a claim's citations; `unchecked` is no better."""

    claim: int
    fault: Fault
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """
    Two passages that contradict each other, by their places.

    Args:
        right: The place of the other, or of a claim of the answer.
        reason: `figures`, `negation`, `antonym`, `model`, or `unchecked`.
    """

    left: int
    right: int
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Guarded(Confidential):
    """What may be shown, and why."""

    text: str
    status: Status
    supports: tuple[ClaimSupport, ...] = ()
    faults: tuple[CitationFault, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    decisions: tuple[Decision, ...] = ()
    principal: Principal | None = None


def draft_of(
    question: str, answer: Any, passages: Sequence[Passage], policy: Policy
) -> Draft:
    """Pair an answer with its passages, whose evidence the policy may have renamed."""
    key = policy.metadata.evidence
    read = tuple(import_evidence(passage, key) for passage in passages)
    return Draft(question, answer, read)


def report_of(guarded: Guarded) -> dict[str, Any]:
    """Return what the checks came to as plain data, for use next to the answer."""
    return {
        "answer": guarded.text,
        "status": guarded.status,
        "claims": [
            {
                "start": support.claim.span.start,
                "end": support.claim.span.end,
                "support": support.score,
                "passages": list(support.passage_ids),
            }
            for support in guarded.supports
        ],
        "citations": [
            {"claim": fault.claim, "fault": fault.fault, "unchecked": fault.unchecked}
            for fault in guarded.faults
        ],
        "conflicts": [
            {
                "passage": conflict.left,
                "claim": conflict.right,
                "reason": conflict.reason,
            }
            for conflict in guarded.conflicts
        ],
        "reasons": [
            f"{decision.rule}:{decision.reason}" for decision in guarded.decisions
        ],
    }


@dataclass(repr=False)
class AnswerWork(Confidential):
    """
    What the checks of one answer have come to; used in one call and forgotten.

    A guard of answers is a function `at_answer(work, section)` whose steps return a
    `Guarded` where the answer is declined, and otherwise None. The pipeline adds to
    `withheld` what disclosure finds in an answer that its context does not hold, and
    says whether a question `asks_for_withheld` values.
    """

    draft: Draft
    policy: Policy
    placeholders: Placeholders
    text: str
    withheld: tuple[Span, ...] = ()
    asks_for_withheld: bool = False
    is_unchecked: bool = False
    supports: tuple[ClaimSupport, ...] = ()
    faults: tuple[CitationFault, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    annotations: dict[int, str] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    decisions: list[Decision] = field(default_factory=list)
    cited: frozenset[int] = frozenset()

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the text, as it is when they are first asked for."""
        ids = frozenset(passage.id for passage in self.draft.passages)
        return claims(self.text, placeholders=self.placeholders, ids=ids)

    def sources_used(self) -> tuple[Passage, ...]:
        """
        Return the passages that the answer rests on.

        They are those it cites and those that support what is left of it. Where no
        check knows of any, all of them may have been used.
        """
        supporting = {
            name
            for index, support in enumerate(self.supports)
            if index not in self.annotations
            for name in support.passage_ids
        }
        passages = self.draft.passages
        used = tuple(
            passage
            for index, passage in enumerate(passages)
            if index in self.cited or passage.id in supporting
        )
        return used or passages

    def note(
        self, rule: str, reason: str, action: Action = "annotated", spans: int = 0
    ) -> None:
        """Record a decision on the answer."""
        self.decisions.append(Decision(SUBJECT, action, rule, reason, spans=spans))

    def decline(self, rule: str, reason: str) -> Guarded:
        """Return that nothing may be said."""
        self.note(rule, reason, "withheld")
        return self.conclude(DECLINED, "declined")

    def conclude(self, text: str, status: Status) -> Guarded:
        """Return what may be shown, with all that was found out."""
        found = self.supports, self.faults, self.conflicts, tuple(self.decisions)
        return Guarded(text, status, *found)
