"""Chains as connected groups of documents."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.linkage.assessment import walked
from sdrag.linkage.edges import Edges
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.planning import plan_masking
from sdrag.linkage.subgraphs import connected_groups
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Passage

PAIRS = list(itertools.combinations(range(6), 2))
graphs = st.sets(st.sampled_from(PAIRS), min_size=1).map(sorted)


def edges_of(pairs: list[tuple[int, int]]) -> Edges:
    first, second = (np.array([pair[n] for pair in pairs]) for n in (0, 1))
    none = np.zeros(0, np.int64)
    return Edges(first, second, np.full(len(pairs), 0.7), none, none, np.zeros(0))


def found(pairs: list[tuple[int, int]], length: int) -> list[frozenset[int]]:
    """Return each group as the set of its hops."""
    risk = np.linspace(0.2, 0.6, len(pairs))
    hops, left_out = connected_groups(edges_of(pairs), risk, length, 10_000)
    assert left_out == {}
    return [frozenset(hop for hop in row if hop >= 0) for row in hops.tolist()]


@given(graphs, st.integers(2, 5))
def test_every_connected_group_is_found_once(
    pairs: list[tuple[int, int]], length: int
) -> None:
    """With all links among its documents, as networkx sees them."""
    graph = nx.Graph(pairs)
    expected = [
        frozenset(
            number for number, pair in enumerate(pairs) if set(pair) <= set(documents)
        )
        for size in range(2, length + 1)
        for documents in itertools.combinations(sorted(graph), size)
        if nx.is_connected(graph.subgraph(documents))
    ]
    assert sorted(map(sorted, found(pairs, length))) == sorted(map(sorted, expected))


def test_a_triangle_is_one_chain() -> None:
    """Three paths of two hops each are one group of three."""
    groups = found([(0, 1), (0, 2), (1, 2)], 3)
    assert [len(group) for group in groups] == [1, 1, 1, 3]


def test_what_the_bound_left_out_is_counted() -> None:
    """As an upper bound on the groups that are missing."""
    pairs = PAIRS
    risk = np.linspace(0.2, 0.6, len(pairs))
    whole, _ = connected_groups(edges_of(pairs), risk, 4, 10_000)
    part, left_out = connected_groups(edges_of(pairs), risk, 4, 20)
    assert len(part) <= 20
    assert sum(left_out.values()) >= len(whole) - len(part)


@pytest.mark.parametrize("select", ["greedy", "knapsack"])
def test_every_group_is_brought_under_its_ceiling(select: str) -> None:
    """Of a graph of three documents that all share something."""
    names = ["x", "y", "z"]
    rows = [
        (document, entity, 0.9)
        for entity, pair in zip(names, [(0, 1), (0, 2), (1, 2)], strict=True)
        for document in pair
    ]
    ids = [Passage(str(n), "").id for n in range(6)]
    corpus = Incidence.build(ids, rows, dict.fromkeys(names, 0.9))
    section = LinkageSection(chain_length=3, chain_shape="subgraph")
    plan = plan_masking(corpus, section.model_copy(update={"select": select}))
    assert len(plan.chains) == 4
    assert (plan.chain_risk <= plan.chains.ceiling + 1e-9).all()


@pytest.mark.parametrize(
    ("hops", "documents"),
    [
        ([(4, 7)], [4, 7]),
        ([(1, 3), (3, 2)], [1, 3, 2]),
        ([(3, 1), (3, 2), (2, 5)], [1, 3, 2, 5]),
        ([(0, 1), (0, 2), (0, 3)], [0, 1, 2, 3]),
        ([(0, 1), (0, 2), (1, 2)], [0, 1, 2]),
    ],
)
def test_the_documents_of_a_chain(
    hops: list[tuple[int, int]], documents: list[int]
) -> None:
    """A path in its order, any other group ascending."""
    assert walked(hops) == documents
