"""The edge search is exact: no pair that passes is lost, none comes twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import Literal

from benchmarks.zipf import zipf_corpus
from sdrag.errors import InputTooLargeError
from sdrag.linkage import edges
from sdrag.linkage import linked_pairs as candidates
from sdrag.linkage.edges import find_edges
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
limits = st.tuples(
    st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.8]),
    st.sampled_from([1, 3, 24]),
    st.sampled_from([2, 50]),
    st.sampled_from([0, 3, 32]),
)


@settings(max_examples=150, deadline=None)
@given(corpora, weights, limits)
def test_it_finds_what_comparing_all_pairs_finds(
    held: list[dict[str, float]],
    weighed: dict[str, float],
    limit: tuple[float, int, int, int],
) -> None:
    """Whatever the sizes at which groups are split, blocks cut and tables used."""
    threshold, small, block, broad = limit
    corpus = {f"d{number:02}": one for number, one in enumerate(held)}
    rows = [(n, e, r) for n, one in enumerate(held) for e, r in one.items()]
    incidence = Incidence.build(list(corpus), rows, weighed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_SMALL", small)
        patch.setattr(candidates, "_BLOCK", block)
        patch.setattr(candidates, "_BROAD", broad)
        found = find_edges(incidence, threshold)
    literal = Literal(corpus, weighed, LinkageSection(edge_threshold=threshold))
    expected = literal.edges(set())
    pairs = [
        (f"d{one:02}", f"d{two:02}")
        for one, two in zip(found.first.tolist(), found.second.tolist(), strict=True)
    ]
    assert pairs == sorted(expected)
    assert found.strength.tolist() == pytest.approx(
        [expected[pair] for pair in pairs], abs=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(corpora, weights, st.sets(names, max_size=4))
def test_pruning_again_is_searching_again(
    held: list[dict[str, float]], weighed: dict[str, float], masked: set[str]
) -> None:
    """The graph after masking is the graph of what is left."""
    corpus = {f"d{number:02}": one for number, one in enumerate(held)}
    rows = [(n, e, r) for n, one in enumerate(held) for e, r in one.items()]
    incidence = Incidence.build(list(corpus), rows, weighed)
    mask = np.array([name in masked for name in incidence.entity_ids])
    found = find_edges(incidence, 0.3).without(mask, 0.3)
    literal = Literal(corpus, weighed, LinkageSection(edge_threshold=0.3))
    assert len(found) == len(literal.edges(masked))
    assert len(find_edges(incidence.without(mask), 0.3)) == len(found)


def test_too_many_links_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded; the error says what to change."""
    monkeypatch.setattr(edges, "MOST_EDGES", 10)
    with pytest.raises(InputTooLargeError, match="edge_threshold"):
        find_edges(zipf_corpus(300), 0.2)


def test_growth_is_near_linear() -> None:
    """Ten times the documents take nowhere near a hundred times the pairs."""
    small, large = (len(find_edges(zipf_corpus(n), 0.5)) for n in (300, 3000))
    assert small < large < 40 * small
