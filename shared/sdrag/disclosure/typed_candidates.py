"""
Candidates by type: what a chunk holds against what a constraint names.

A chunk with a person in it makes every constraint on names a candidate, whatever their
embeddings say of one another. A chunk that could not be read holds every type. What
identifies somebody can stand in any chunk and have no form, so whoever asks for
whatever identifies is always a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import IDENTIFYING
from sdrag.disclosure.constraint_parser import parse
from sdrag.engine.steps import Failure, Steps
from sdrag.vocabulary import Constraint, Passage

__all__ = ["candidates_by_type", "named_types_held"]

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]


def candidates_by_type(
    passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> Steps[frozenset[str]]:
    """
    Return the ids of constraints that name a type found in one of the passages.

    Args:
        passages: Retrieved.
        constraints: Those that are not candidates yet.
    """
    held = yield from named_types_held(passages, constraints)
    return frozenset(
        rule.id for rule, there in zip(constraints, held, strict=True) if there == 1
    )


def named_types_held(
    passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> Steps[Vector]:
    """
    Return whether the passages hold a type that each constraint names.

    Returns:
        1 or 0, and nan for a constraint that names no type, shape (constraints,).
    """
    wanted = [parse(rule).types for rule in constraints]
    held: set[str] = {IDENTIFYING}
    if any(wanted):
        texts = [passage.text for passage in passages]
        for outcome in (yield from LocalDetector().detect(texts)):
            if isinstance(outcome, Failure):
                held |= {name for types in wanted for name in types}
            else:
                held |= {mention.type for mention in outcome.value}
    return np.array(
        [float(bool(types & held)) if types else np.nan for types in wanted],
        dtype=np.float32,
    )
