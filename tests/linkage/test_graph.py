"""The document graph: every edge, pruned as searched anew; every chain, once."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import Literal

from benchmarks.zipf import zipf_corpus
from sdrag.errors import InputTooLargeError
from sdrag.linkage import graph
from sdrag.linkage.graph import Edges, documents_of, enumerate_chains, find_edges
from sdrag.linkage.incidence import Incidence
from sdrag.policy import LinkageSection

names = st.sampled_from([f"e{number}" for number in range(9)])
relevances = st.floats(0.0, 1.0, allow_nan=False)
corpora = st.lists(
    st.dictionaries(names, relevances, max_size=8), min_size=2, max_size=14
)
weights = st.fixed_dictionaries(
    {f"e{n}": st.sampled_from([0.1, 0.4, 0.8, 1.0]) for n in range(9)}
)
thresholds = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8])


def columns(held: list[dict[str, float]], weighed: dict[str, float]) -> Incidence:
    rows = [(n, e, r) for n, document in enumerate(held) for e, r in document.items()]
    return Incidence.build([f"d{n:02}" for n in range(len(held))], rows, weighed)


@settings(max_examples=200, deadline=None)
@given(corpora, weights, thresholds, st.sampled_from([2, 50, 10**6]))
def test_it_finds_what_comparing_all_pairs_finds(
    held: list[dict[str, float]],
    weighed: dict[str, float],
    threshold: float,
    block: int,
) -> None:
    """No pair that passes is lost, none comes twice, wherever blocks are cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "_BLOCK", block)
        found = find_edges(columns(held, weighed), threshold)
    corpus = {f"d{number:02}": document for number, document in enumerate(held)}
    literal = Literal(corpus, weighed, LinkageSection(edge_threshold=threshold))
    expected = literal.edges(set())
    pairs = [
        (f"d{first:02}", f"d{second:02}")
        for first, second in zip(
            found.first.tolist(), found.second.tolist(), strict=True
        )
    ]
    assert pairs == sorted(expected)
    strengths = [expected[pair] for pair in pairs]
    assert found.strength.tolist() == pytest.approx(strengths, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(corpora, weights, st.sets(names, max_size=4))
def test_pruning_again_is_searching_again(
    held: list[dict[str, float]], weighed: dict[str, float], masked: set[str]
) -> None:
    """The graph after masking is the graph of what is left."""
    corpus = columns(held, weighed)
    mask = np.array([name in masked for name in corpus.entity_ids])
    found = find_edges(corpus, 0.3).without(mask, 0.3)
    documents = {f"d{number:02}": document for number, document in enumerate(held)}
    literal = Literal(documents, weighed, LinkageSection(edge_threshold=0.3))
    assert len(found) == len(literal.edges(masked))


def test_too_many_links_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded; the error says what to change."""
    monkeypatch.setattr(graph, "MOST_EDGES", 10)
    with pytest.raises(InputTooLargeError, match="edge_threshold"):
        find_edges(zipf_corpus(300), 0.2)


PAIRS = list(itertools.combinations(range(6), 2))
graphs = st.sets(st.sampled_from(PAIRS), min_size=1).map(sorted)
shapes = st.sampled_from(["path", "subgraph"])


def chains_of(
    pairs: list[tuple[int, int]], length: int, shape: str, most: int = 10_000
) -> tuple[list[list[int]], dict[int, int]]:
    """Return each chain as its hops, ascending, and what was left out."""
    first, second = (np.array([pair[n] for pair in pairs]) for n in (0, 1))
    none = np.zeros(0, np.int64)
    logs = np.linspace(0.2, 0.9, len(pairs))
    edges = Edges(first, second, logs, none, none, np.zeros(0))
    section = LinkageSection(chain_length=length, chain_shape=shape, max_chains=most)
    found = enumerate_chains(edges, np.full(6, 0.5), section)
    rows = [sorted(hop for hop in row if hop >= 0) for row in found.hops.tolist()]
    return sorted(rows), dict(found.left_out)


def expected_chains(
    pairs: list[tuple[int, int]], length: int, shape: str
) -> list[list[int]]:
    drawn = nx.Graph(pairs)
    number = {pair: n for n, pair in enumerate(pairs)}
    found = set()
    for size in range(2, length + 1):
        for documents in itertools.permutations(sorted(drawn), size):
            walk = [tuple(sorted(pair)) for pair in itertools.pairwise(documents)]
            among = drawn.subgraph(documents)
            if shape == "subgraph" and nx.is_connected(among):
                found.add(tuple(sorted(number[tuple(sorted(e))] for e in among.edges)))
            elif shape == "path" and all(pair in number for pair in walk):
                found.add(tuple(sorted(number[pair] for pair in walk)))
    return sorted(map(list, found))


@settings(max_examples=60, deadline=None)
@given(graphs, st.integers(2, 5), shapes, st.integers(1, 40))
def test_every_chain_is_found_once(
    pairs: list[tuple[int, int]], length: int, shape: str, most: int
) -> None:
    """As networkx sees them; what a bound leaves out is counted, never too low."""
    expected = expected_chains(pairs, length, shape)
    assert chains_of(pairs, length, shape) == (expected, {})
    part, left_out = chains_of(pairs, length, shape, most)
    assert len(part) <= max(most, len(pairs))
    assert sum(left_out.values()) >= len(expected) - len(part)


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
    assert documents_of(hops) == documents
