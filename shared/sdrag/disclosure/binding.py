"""
Binding constraints to passages at ingest (SD-RAG, section III-C1).

"The constraint binder attaches each constraint to the top N most similar chunks,
retrieved by cosine similarity of text embeddings; each chunk stores its similarity
score." Linear in the number of constraints for a given corpus. Beside the paper's
bindings, how close each constraint is to each chunk is kept: rankings look it up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdrag.disclosure.comparing import closeness
from sdrag.engine.steps import Steps, compute, replied
from sdrag.policy import DisclosureSection
from sdrag.state import State
from sdrag.vocabulary import Binding, Constraint, Passage

__all__ = ["bind"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def bind(
    passages: Sequence[Passage],
    constraints: Sequence[Constraint],
    state: State,
    section: DisclosureSection,
) -> Steps[None]:
    """
    Attach constraints to their most similar passages and keep the scores.

    Args:
        passages: A batch of the corpus; the state closes over all batches.
        constraints: All of the policy's. Those marked `always` need no binding.
        state: Where bindings live.
        section: Gives N and the similarity floor.

    Raises:
        SdragError: The embeddings or the store failed.
    """
    rules = [constraint for constraint in constraints if not constraint.always]
    if not passages or not rules:
        return
    texts = [passage.text for passage in passages]
    close = yield from closeness(rules, texts, state, once=True)
    bindings = _best(close.dense, passages, rules, section)

    def write(found: Sequence[Binding]) -> None:
        state.bindings.write(
            passages,
            rules,
            found,
            top_n=section.bind_top_n,
            floor=section.similarity_floor,
        )
        state.affinities.note(passages, rules, close)

    (written,) = yield from compute(write, [bindings])
    replied(written)


def _best(
    matrix: Matrix,
    passages: Sequence[Passage],
    constraints: Sequence[Constraint],
    section: DisclosureSection,
) -> list[Binding]:
    """Take each constraint's best of the batch, and all above the floor."""
    kept = []
    for constraint, row in zip(constraints, matrix, strict=True):
        order = np.argsort(-row, kind="stable")
        above = int((row >= section.similarity_floor).sum())
        kept += [
            Binding(constraint.id, passages[place].id, float(row[place]))
            for place in order[: max(section.bind_top_n, above)]
        ]
    return kept
