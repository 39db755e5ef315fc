"""
Contradictions: sources that disagree are never silently chosen between.

"The model must have a strategy for handling the contradiction" (section 3.5).

Sentences of different passages are compared where they are about the same; local rules
judge, or a model that was passed. The strategies are the source's five: present
both sides, prefer the more authoritative, prefer the newer, refuse where the topic is
critical (and tell the host, who escalates), flag for review. A preference that cannot
be decided, since a date or a rank is missing or equal, presents both. A judgment that
could not be had is reported as `unchecked`, and refuses where a contradiction would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.errors import UsageError
from sdrag.guardrails.answer_work import AnswerWork, Guarded
from sdrag.guardrails.comparison import Conflict, compared
from sdrag.guardrails.notices import disagreement, notice
from sdrag.guardrails.screened import Screened, evidence, stamped
from sdrag.guardrails.staleness import instant
from sdrag.policy import ContradictionsSection
from sdrag.privacy.audit import AuditEvent
from sdrag.vocabulary import Confidential, Decision, Passage

__all__ = [
    "Conflict",
    "Reconciled",
    "at_answer",
    "at_release",
    "contradicted",
    "is_critical",
    "on_contradiction",
    "reconcile",
]

RULE = "contradictions"


Facts = Mapping[str, Any]
"""The metadata of a passage, as the host stored it."""


@dataclass(frozen=True, slots=True, repr=False)
class Reconciled(Confidential):
    """
    Passages among which contradictions were dealt with.

    Args:
        passages: What may be answered from.
        conflicts: Places in the passages that came in.
        declined: Nothing may be answered; the host escalates.
        note: For the prompt or the reader: which sources disagree, by their numbers
            among what may be answered from, counted from 1. Without content.
        decisions: As elsewhere.
    """

    passages: tuple[Passage, ...]
    conflicts: tuple[Conflict, ...] = ()
    declined: bool = False
    note: str = ""
    decisions: tuple[Decision, ...] = ()

    def __repr__(self) -> str:
        return f"Reconciled({len(self.passages)} passages, {self.conflicts})"


def at_release(
    passages: Sequence[Passage], section: ContradictionsSection, facts: Sequence[Facts]
) -> Steps[Screened]:
    """
    Settle what contradicts itself among what is released.

    Args:
        passages: What is released.
        section: The strategy.
        facts: The metadata of each, as the host stored it.
    """
    settled = yield from reconcile(passages, section, facts=facts)
    told = settled.note if section.notice else ""
    notices = (notice("contradictions", told),) if told else ()
    return Screened(settled.passages, settled.decisions, notices)


def reconcile(
    passages: Sequence[Passage],
    section: ContradictionsSection | None,
    *,
    facts: Sequence[Facts] | None = None,
) -> Steps[Reconciled]:
    """
    Find the contradictions among passages, and apply the policy's strategy.

    Args:
        passages: What would be answered from.
        section: None: nothing is compared.
        facts: The metadata to decide by, where it is not the passages' own.

    Returns:
        The passages that disagree name each other, by id, under `contradicts`; those
        about a critical topic say so, for the guard after the answer.
    """
    if section is None:
        return Reconciled(tuple(passages))
    known = [item.metadata for item in passages] if facts is None else facts
    marked = [
        stamped(passage, {"critical": True} if _on_critical(held, section) else {})
        for passage, held in zip(passages, known, strict=True)
    ]
    texts = [passage.text for passage in passages]
    pairs = list(combinations(range(len(texts)), 2))
    conflicts = (yield from compared(texts, texts, pairs, section)) if pairs else ()
    if not conflicts:
        return Reconciled(tuple(marked))
    return _settled(marked, known, conflicts, section)


def on_contradiction(
    escalate: Callable[[Sequence[Decision]], None],
) -> Callable[[AuditEvent], None]:
    """
    Return an audit sink that calls a function where a contradiction withheld an answer.

    Pass it as `audit=[log_event, on_contradiction(escalate)]`.

    Args:
        escalate: Takes the decisions of the request, which hold ids and codes only.

    Raises:
        UsageError: It cannot be called.
    """
    if not callable(escalate):
        raise UsageError(
            f"`escalate` must be callable, got {type(escalate).__name__}.",
            hint="It takes the decisions of a request.",
        )

    def sink(event: AuditEvent) -> None:
        if any(
            decision.rule == RULE and decision.action == "withheld"
            for decision in event.decisions
        ):
            escalate(event.decisions)

    return sink


def contradicted(
    claims: Sequence[str], passages: Sequence[Passage], section: ContradictionsSection
) -> Steps[tuple[Conflict, ...]]:
    """
    Find the claims of an answer that a passage contradicts.

    Returns:
        Conflicts whose `left` is the passage's place and `right` the claim's.
    """
    pairs = [(at, to) for at in range(len(passages)) for to in range(len(claims))]
    texts = [passage.text for passage in passages]
    return (yield from compared(texts, claims, pairs, section))


def _settled(
    passages: Sequence[Passage],
    facts: Sequence[Facts],
    conflicts: tuple[Conflict, ...],
    section: ContradictionsSection,
) -> Reconciled:
    touched = sorted(
        {index for conflict in conflicts for index in (conflict.left, conflict.right)}
    )
    critical = any(is_critical(passages[index], section) for index in touched)
    if critical or section.strategy == "decline":
        return _declined(passages, touched, conflicts, critical=critical)
    losers = {_loser(facts, conflict, section) for conflict in conflicts} - {None}
    open_conflicts = [
        conflict
        for conflict in conflicts
        if not {conflict.left, conflict.right} & losers
    ]
    reason = "review" if section.strategy == "review" else "contradicted"
    decisions = [
        Decision(
            passages[at].id, "dropped" if at in losers else "flagged", RULE, reason
        )
        for at in touched
    ]
    kept = [at for at in range(len(passages)) if at not in losers]
    return Reconciled(
        tuple(_naming(at, passages, open_conflicts) for at in kept),
        conflicts,
        note=_note(open_conflicts, kept),
        decisions=tuple(decisions),
    )


def _declined(
    passages: Sequence[Passage],
    touched: Sequence[int],
    conflicts: tuple[Conflict, ...],
    *,
    critical: bool,
) -> Reconciled:
    reason = "critical" if critical else "contradicted"
    refusal = Decision("query", "withheld", RULE, reason)
    ids = [Decision(passages[at].id, "dropped", RULE, reason) for at in touched]
    return Reconciled((), conflicts, declined=True, decisions=(refusal, *ids))


def _naming(
    place: int, passages: Sequence[Passage], conflicts: Sequence[Conflict]
) -> Passage:
    """Let a passage name those that disagree with it."""
    others = sorted(
        {
            conflict.right if conflict.left == place else conflict.left
            for conflict in conflicts
            if place in (conflict.left, conflict.right)
        }
    )
    ids = [passages[other].id for other in others]
    return stamped(passages[place], {"contradicts": ids} if ids else {})


def _loser(
    facts: Sequence[Facts], conflict: Conflict, section: ContradictionsSection
) -> int | None:
    """Return the place of the passage that gives way, if one does."""
    if conflict.reason == "unchecked":
        return None
    left, right = (
        _rank(facts[index], section) for index in (conflict.left, conflict.right)
    )
    if left is None or right is None or left == right:
        return None
    return conflict.left if left < right else conflict.right


def _rank(facts: Facts, section: ContradictionsSection) -> float | None:
    if section.strategy == "authoritative":
        value = facts.get(section.authority_key)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if number and value is not None else None
    if section.strategy == "recent":
        date = instant(facts.get(section.updated_key))
        return date.timestamp() if date else None
    return None


def _note(conflicts: Sequence[Conflict], kept: Sequence[int]) -> str:
    """Number the sources as the prompt will, from 1."""
    numbers = {index: number for number, index in enumerate(kept, start=1)}
    pairs: dict[tuple[int, int], bool] = {}
    for conflict in conflicts:
        pair = numbers[conflict.left], numbers[conflict.right]
        pairs[pair] = pairs.get(pair, False) or conflict.reason != "unchecked"
    opposed_ones = [pair for pair, sure in pairs.items() if sure]
    unchecked = [pair for pair, sure in pairs.items() if not sure]
    return disagreement(opposed_ones, unchecked)


def is_critical(passage: Passage, section: ContradictionsSection) -> bool:
    """Say whether a passage is about a topic on which a contradiction declines."""
    said = evidence(passage).get("critical") is True
    return said or _on_critical(passage.metadata, section)


def _on_critical(facts: Facts, section: ContradictionsSection) -> bool:
    topic = facts.get(section.topic_key)
    topics = topic if isinstance(topic, (list, tuple, set, frozenset)) else (topic,)
    return any(item in section.critical_topics for item in topics)


def at_answer(
    work: AnswerWork, section: ContradictionsSection
) -> Steps[Guarded | None]:
    """Mark the claims that a passage contradicts, or decline."""
    if not work.claims or not work.draft.passages:
        return None
    texts = [claim.text for claim in work.claims]
    found = yield from contradicted(texts, work.draft.passages, section)
    work.conflicts = found
    for item in found:
        work.note(RULE, item.reason)
        mark = "unchecked" if item.reason == "unchecked" else "contradicted by a source"
        work.marks.setdefault(item.right, mark)
    passages = [work.draft.passages[item.left] for item in found]
    if any(is_critical(passage, section) for passage in passages):
        return work.decline(RULE, "critical")
    if found and section.strategy == "decline":
        return work.decline(RULE, "contradicted")
    return None
