"""
Candidates by type: what a chunk holds against what a constraint names.

A chunk with a person in it makes every constraint on names a candidate, whatever their
embeddings say of one another. A chunk that could not be read makes candidates of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.local.reading import read
from sdrag.steps import Failure, Steps
from sdrag.vocabulary import Constraint, Passage

__all__ = ["candidates_by_type"]


def candidates_by_type(
    passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> Steps[frozenset[str]]:
    """
    Return the ids of constraints that name a type found in one of the passages.

    Args:
        passages: Retrieved.
        constraints: Those that are not candidates yet.
    """
    wanted = {rule.id: read(rule).types for rule in constraints}
    if not any(wanted.values()):
        return frozenset()
    outcomes = yield from LocalDetector().detect([passage.text for passage in passages])
    held: set[str] = set()
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return frozenset(wanted)
        held |= {mention.type for mention in outcome.value}
    return frozenset(name for name, types in wanted.items() if types & held)
