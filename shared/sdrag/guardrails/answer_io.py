"""
What the answer guards of both frameworks share: reading what they are given.

An answer comes as text, or, with structured citations, as a mapping or a JSON text of
`answer` and `citations`. What is neither is handed on as it is, so that the guard
declines it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sdrag.guardrails.answer import Draft, Guarded
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

__all__ = ["draft_of", "report_of"]

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
