"""The document graph: every edge, pruned as searched anew; every chain, once."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.zipf import zipf_corpus
from sdrag.errors import InputTooLargeError
from sdrag.linkage import graph
from sdrag.linkage.graph import LEVELS, Edges, find_chains, find_edges
from sdrag.linkage.incidence import Incidence
from sdrag.policy import LinkageSection

from .literal import Literal

names = st.sampled_from([f"e{number}" for number in range(9)])
relevances = st.floats(0.01, 1.0, allow_nan=False)
corpora = st.lists(
    st.dictionaries(names, relevances, max_size=8), min_size=2, max_size=14
)
weights = st.fixed_dictionaries(
    {f"e{n}": st.sampled_from([0.0, 0.1, 0.4, 0.8, 1.0]) for n in range(9)}
)


def columns(held: list[dict[str, float]], weighed: dict[str, float]) -> Incidence:
    rows = [(n, e, r) for n, document in enumerate(held) for e, r in document.items()]
    return Incidence.of([f"d{n:02}" for n in range(len(held))], rows, weighed)


@given(corpora, weights, st.floats(0.0, 1.0), st.sampled_from([2, 50, 10**6]))
def test_it_finds_what_comparing_all_pairs_finds(held, weighed, rank, block):
    """No pair at a threshold is lost, none comes twice, wherever blocks are cut."""
    corpus = {f"d{number:02}": document for number, document in enumerate(held)}
    every = Literal(corpus, weighed, LinkageSection(edge_threshold=0.0)).edges(set())
    ordered = [0.0, *sorted(every.values())]
    threshold = min(1.0, ordered[round(rank * (len(ordered) - 1))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "_BLOCK", block)
        found = find_edges(columns(held, weighed), threshold)
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
    nothing = np.zeros(len(weighed), bool)
    assert found.log_without(nothing).tolist() == pytest.approx(found.log.tolist())
    assert (np.diff(found.via_edge) >= 0).all()


@given(corpora, weights, st.sets(names, max_size=4), st.sampled_from([0.0, 0.3]))
def test_pruning_again_is_searching_again(held, weighed, masked, threshold):
    """The graph after masking is the graph of what is left."""
    corpus = columns(held, weighed)
    mask = np.array([name in masked for name in corpus.entity_ids])
    found = find_edges(corpus, threshold).without(mask, threshold)
    documents = {f"d{number:02}": document for number, document in enumerate(held)}
    literal = Literal(documents, weighed, LinkageSection(edge_threshold=threshold))
    assert len(found) == len(literal.edges(masked))


@given(corpora, weights, st.integers(2, 4), st.sampled_from([0.3, 0.9]))
def test_chains_have_the_risks_and_ceilings_of_the_thesis(held, weighed, length, most):
    """In the order of the documents, short ones first."""
    corpus = columns(held[:6], weighed)
    section = LinkageSection(
        chain_length=length, edge_threshold=0.1, max_chain_risk=most
    )
    literal = Literal(
        dict(zip(corpus.document_ids, held, strict=False)), weighed, section
    )
    edges = find_edges(corpus, section.edge_threshold)
    found = find_chains(edges, corpus.document_risk(), section)

    ceilings = literal.ceilings(set())
    risks = [literal.chain_risk(chain, set()) for chain in ceilings]
    paths = [tuple(f"d{n:02}" for n in found.path(at)) for at in range(len(found))]
    assert paths == [*ceilings]
    assert found.risk_before.tolist() == pytest.approx(risks, abs=1e-9)
    assert found.ceiling.tolist() == pytest.approx([*ceilings.values()], abs=1e-9)
    levels = [LEVELS[level] for level in found.level.tolist()]
    assert levels == [LEVELS[literal.level(risk)] for risk in risks]


def test_too_many_links_are_refused(monkeypatch):
    """Memory is bounded; the error says what to change."""
    monkeypatch.setattr(graph, "MOST_EDGES", 10)
    with pytest.raises(InputTooLargeError, match="edge_threshold"):
        find_edges(zipf_corpus(300), 0.2)


PAIRS = list(itertools.combinations(range(6), 2))
graphs = st.sets(st.sampled_from(PAIRS), min_size=1).map(sorted)


def chains_of(pairs: list[tuple[int, int]], length: int, most: int) -> list[list[int]]:
    """Return the documents of each chain."""
    first, second = (np.array([pair[n] for pair in pairs]) for n in (0, 1))
    none = np.zeros(0, np.int64)
    logs = np.linspace(0.2, 0.9, len(pairs))
    edges = Edges(first, second, logs, none, none, np.zeros(0))
    section = LinkageSection(chain_length=length, max_chains=most)
    found = find_chains(edges, np.full(6, 0.5), section)
    for number, hops in enumerate(found.hops.tolist()):
        walk = [tuple(sorted(pair)) for pair in itertools.pairwise(found.path(number))]
        assert [pairs[hop] for hop in hops if hop >= 0] == walk
    return sorted(list(found.path(number)) for number in range(len(found)))


@given(graphs, st.integers(2, 5), st.sampled_from([0, 0, 1, 1, 9]))
def test_every_path_is_found_once(pairs, length, over):
    """As networkx sees them; more than the bound are refused."""
    drawn = nx.Graph(pairs)
    expected = [
        path
        for one, two in itertools.combinations(sorted(drawn), 2)
        for path in nx.all_simple_paths(drawn, one, two, cutoff=length - 1)
    ]
    assert chains_of(pairs, length, 10_000) == sorted(expected)
    most = max(1, len(expected) - len(pairs) - over)
    if len(expected) - len(pairs) > most:
        with pytest.raises(InputTooLargeError, match="chain_length"):
            chains_of(pairs, length, most)
    else:
        assert chains_of(pairs, length, most) == sorted(expected)
