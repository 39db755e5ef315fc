"""The bipartite graph of data nodes and constraint nodes (SD-RAG, section III-C)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sdrag.state import BindingStore
from sdrag.vocabulary import Constraint

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["binding_graph"]


def binding_graph(
    store: BindingStore, constraints: Sequence[Constraint]
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
