"""
What the answer guards of both frameworks share: reading what they are given.

An answer comes as text, or, with structured citations, as a mapping or a JSON text of
`answer` and `citations`. What is neither is handed on as it is, so that the guard
declines it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdrag.guardrails.answer import Draft, Guarded
from sdrag.policy import Policy
from sdrag.vocabulary import Decision, Passage

__all__ = ["Escalate", "draft_of", "escalated", "report_of"]

Escalate = Callable[[Sequence[Decision]], None]
"""Told of an answer that was declined over a contradiction; ids and codes only."""

_MOST_JSON = 200_000


def draft_of(
    question: str, answer: Any, passages: Sequence[Passage], policy: Policy
) -> Draft:
    """Read an answer in the form that the policy's citations ask for."""
    text, data = answer, None
    if policy.citations and policy.citations.format == "structured":
        held = _mapping(answer)
        if held is not None:
            text, data = held.get("answer"), held.get("citations")
    return Draft(question, text, tuple(passages), data)


def escalated(guarded: Guarded, escalate: Escalate | None) -> Guarded:
    """Tell the host where a contradiction made the guard decline."""
    contradiction = any(
        one.rule == "contradictions" and one.action == "withheld"
        for one in guarded.decisions
    )
    if escalate is not None and contradiction:
        escalate(guarded.decisions)
    return guarded


def report_of(guarded: Guarded) -> dict[str, Any]:
    """Return what was found out as plain data, beside the answer."""
    return {
        "answer": guarded.text,
        "status": guarded.status,
        "claims": [
            {
                "start": one.claim.span.start,
                "end": one.claim.span.end,
                "support": one.score,
                "passages": list(one.passage_ids),
            }
            for one in guarded.supports
        ],
        "citations": [
            {"claim": one.claim, "fault": one.fault, "unchecked": one.unchecked}
            for one in guarded.faults
        ],
        "conflicts": [
            {"passage": one.left, "claim": one.right, "reason": one.reason}
            for one in guarded.conflicts
        ],
        "reasons": [f"{one.rule}:{one.reason}" for one in guarded.decisions],
    }


def _mapping(answer: Any) -> Mapping[str, Any] | None:
    if isinstance(answer, Mapping):
        return answer
    if not isinstance(answer, str) or len(answer) > _MOST_JSON:
        return None
    try:
        held = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None
