"""Explanations as plain data without the text that they explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from sdrag.explanation.explanations import ExplainedSpan, Explanation
from sdrag.vocabulary import Passage

__all__ = ["opened", "stored"]

_SPANS = TypeAdapter(tuple[ExplainedSpan, ...])


def stored(explanation: Explanation) -> dict[str, Any]:
    """Return offsets, causes and what leaves."""
    return {
        "constraints": list(explanation.constraints),
        "spans": _SPANS.dump_python(explanation.spans, mode="json"),
        "left": _SPANS.dump_python(explanation.left, mode="json"),
        "released": explanation.released,
        "reason": explanation.reason,
    }


def opened(
    chunk: Passage, said: Mapping[str, Any], constraints: Mapping[str, str]
) -> Explanation:
    """
    Return the explanation of a chunk.

    Args:
        chunk: That was explained.
        said: As `stored` returned it.
        constraints: The words of all constraints, by their ids.

    Raises:
        KeyError: A part or a constraint is missing.
        ValueError: A part is something else.
    """
    return Explanation(
        id=chunk.id,
        text=chunk.text,
        constraints={name: constraints[name] for name in said["constraints"]},
        spans=_SPANS.validate_python(said["spans"]),
        left=_SPANS.validate_python(said["left"]),
        released=said["released"],
        reason=said["reason"],
    )
