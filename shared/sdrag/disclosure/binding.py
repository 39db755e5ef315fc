"""
Binding constraints to passages at ingest (SD-RAG, section III-C1), and their graph.

"The constraint binder attaches each constraint to the top N most similar chunks,
retrieved by cosine similarity of text embeddings; each chunk stores its similarity
score." Linear in the number of constraints for a given corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sdrag.disclosure.ranking import compare
from sdrag.effects.steps import Steps
from sdrag.policy import DisclosureSection
from sdrag.state import State
from sdrag.state.bindings import Bindings
from sdrag.vocabulary import SCORE_DIGITS, Binding, Constraint, Passage

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["bind", "binding_graph"]

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
    close = yield from compare(rules, passages, state)
    bindings = _best(close, passages, rules, section)

    state.bindings.write(
        passages,
        rules,
        bindings,
        top_n=section.bind_top_n,
        floor=section.similarity_floor,
    )


def _best(
    matrix: Matrix,
    passages: Sequence[Passage],
    constraints: Sequence[Constraint],
    section: DisclosureSection,
) -> list[Binding]:
    """Take each constraint's best of the batch, and all above the floor."""
    kept = []
    for constraint, row in zip(constraints, matrix, strict=True):
        pairs = zip(row.tolist(), passages, strict=True)
        bindings = [
            Binding(constraint.id, passage.id, round(score, SCORE_DIGITS))
            for score, passage in pairs
        ]
        bindings.sort(key=lambda binding: (-binding.score, binding.passage_id))
        above = sum(one.score >= section.similarity_floor for one in bindings)
        kept += bindings[: max(section.bind_top_n, above)]
    return kept


def binding_graph(
    store: Bindings, constraints: Sequence[Constraint]
) -> nx.Graph[tuple[str, str]]:
    """
    Return the bindings as a networkx graph.

    Nodes are `("constraint", id)` and `("passage", id)`, with the attribute
    `bipartite` 0 and 1; an edge carries the `score` of its binding. No node holds text.
    """
    import networkx as nx  # noqa: PLC0415 -- `import sdrag` must not load it

    graph: nx.Graph[tuple[str, str]] = nx.Graph()
    for constraint in constraints:
        graph.add_node(("constraint", constraint.id), bipartite=0)
    for binding in store.all(constraints):
        node = ("passage", binding.passage_id)
        graph.add_node(node, bipartite=1)
        graph.add_edge(("constraint", binding.constraint_id), node, score=binding.score)
    return graph
