"""
What the answer guards of both frameworks share: reading what they are given.

An answer comes as text, or, with structured citations, as a mapping or a JSON text of
`answer` and `citations`. Anything else is handed on unchanged, so that the guard
declines it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sdrag.guardrails.answer import Draft, Guarded
from sdrag.guardrails.screened import inward
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
        parsed = _mapping(answer)
        if parsed is not None:
            text, data = parsed.get("answer"), parsed.get("citations")
    key = policy.metadata.evidence
    return Draft(question, text, tuple(inward(one, key) for one in passages), data)


def report_of(guarded: Guarded) -> dict[str, Any]:
    """Return what was found out as plain data, for use next to the answer."""
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


def _mapping(answer: Any) -> Mapping[str, Any] | None:
    if isinstance(answer, Mapping):
        return answer
    if not isinstance(answer, str) or len(answer) > _MOST_JSON:
        return None
    try:
        parsed = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
