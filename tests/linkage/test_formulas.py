"""The formulas of CLAM, section 4.2.3, against values worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from formulas import (
    accumulate,
    category,
    ceiling,
    chain_risk,
    contribution,
    hop_risk,
    uniqueness,
)

from sdrag.linkage.assessment import assess
from sdrag.linkage.entity_schema import WEIGHTS, canonical_type
from sdrag.linkage.incidence import Incidence
from sdrag.policy import ByRisk
from sdrag.vocabulary import Passage

# Forty-nine documents, so log(N + 1) is log(50). One patient id of one document, one
# condition of two, one date of five; worked with forty digits.
U2, U5 = 0.822816179864, 0.588591910068
FIRST = (0.855, 0.559515002308, 0.211893087624)
SECOND = (0.349696876442, 0.247208602229)
EDGE, FIRST_RISK, SECOND_RISK = 0.668406682889, 0.949663355652, 0.510457402671


@pytest.mark.parametrize(
    ("frequency", "expected"),
    [(1, 1.0), (2, U2), (5, U5), (49, 0.005164260867)],
)
def test_uniqueness(frequency: int, expected: float) -> None:
    """An entity of one document is unique; one of every document hardly counts."""
    assert uniqueness(frequency, 49) == pytest.approx(expected, abs=1e-9)


def test_contribution() -> None:
    """Relevance, uniqueness and weight are multiplied."""
    assert contribution(0.9, 1.0, 0.95) == pytest.approx(FIRST[0], abs=1e-9)
    assert contribution(0.8, U2, 0.85) == pytest.approx(FIRST[1], abs=1e-9)
    assert contribution(0.6, U5, 0.60) == pytest.approx(FIRST[2], abs=1e-9)


def test_document_risk() -> None:
    """Contributions accumulate as the complement of a product."""
    assert accumulate(FIRST) == pytest.approx(FIRST_RISK, abs=1e-9)
    assert accumulate(SECOND) == pytest.approx(SECOND_RISK, abs=1e-9)


def test_hop_and_chain_risk() -> None:
    """A hop is its edge scaled by the mean document risk; hops accumulate."""
    hop = hop_risk(EDGE, FIRST_RISK, SECOND_RISK)
    other = hop_risk(0.55, SECOND_RISK, 0.4)
    assert hop == pytest.approx(0.578191960, abs=1e-9)
    assert other == pytest.approx(0.400187893, abs=1e-9)
    assert chain_risk([hop, other]) == pytest.approx(0.746994430, abs=1e-9)


def test_a_harmless_mean_halves_a_hop() -> None:
    """A low document risk lowers the hop risk by up to one half."""
    assert hop_risk(0.8, 0.0, 0.0) == pytest.approx(0.4)
    assert hop_risk(0.8, 1.0, 1.0) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("risk", "level", "expected"),
    [
        (0.8, "HIGH", 0.4),
        (0.75, "HIGH", 0.375),
        (0.7, "MEDIUM", 0.49),
        (0.5, "MEDIUM", 0.35),
        (0.4999, "LOW", 0.5),
        (1.0, "HIGH", 0.5),
    ],
)
def test_category_and_ceiling(risk: float, level: str, expected: float) -> None:
    """Thresholds are lower bounds; the stricter of the two rules is the ceiling."""
    found = category(risk, ByRisk(high=0.75, medium=0.5))
    assert found == level
    limit = ceiling(risk, found, 0.5, ByRisk(high=0.5, medium=0.7))
    assert limit == pytest.approx(expected, abs=1e-9)


def test_columns_agree_with_the_worked_example() -> None:
    """A corpus assessed as columns gives the same figures, edge and chain."""
    documents = [Passage(f"d{number:02}", "text") for number in range(49)]
    mentions: list[list[list[object]]] = [[] for _ in documents]
    mentions[0] = [
        ["PX-90001", "", "PATIENT_ID", 0.9],
        ["gout", "", "MEDICAL_CONDITION", 0.8],
        ["1 May 2020", "", "EVENT_DATE", 0.6],
    ]
    mentions[1] = [
        ["gout", "", "MEDICAL_CONDITION", 0.5],
        ["1 May 2020", "", "EVENT_DATE", 0.7],
    ]
    for number in (2, 3, 4):
        mentions[number] = [["1 May 2020", "", "EVENT_DATE", 0.3]]
    result = assess(documents, mentions)
    assert result.document_risk["d00"] == pytest.approx(FIRST_RISK, abs=1e-9)
    assert result.document_risk["d01"] == pytest.approx(SECOND_RISK, abs=1e-9)
    (link,) = result.links
    assert (link.first, link.second) == ("d00", "d01")
    assert link.strength == pytest.approx(EDGE, abs=1e-9)
    (chain,) = result.chain_list
    assert (chain.documents, chain.category) == (("d00", "d01"), "MEDIUM")
    assert chain.risk == pytest.approx(0.578191960, abs=1e-9)


def test_the_document_graph_is_a_networkx_graph() -> None:
    """Nodes carry risks, edges strengths and what they go by."""
    documents = [Passage("a", "text"), Passage("b", "text")]
    mentions = [[["Bo Li", "", "NAME", 1.0]]] * 2
    graph = assess(documents, mentions, {"edge_threshold": 0.3}).graph()
    assert set(graph.nodes) == {"a", "b"}
    assert 0 < graph.nodes["a"]["risk"] < 1
    assert len(graph.edges["a", "b"]["via"]) == 1


def test_an_entity_given_twice_keeps_its_higher_relevance() -> None:
    """One row a document and entity."""
    corpus = Incidence.build(["a"], [(0, "x", 0.3), (0, "x", 0.6)], {"x": 1.0})
    assert corpus.relevance.tolist() == [0.6]
    assert np.array_equal(corpus.frequency, [1])


def test_detectors_names_are_read_as_types_of_the_table() -> None:
    """A synonym, unless the domain has that very type."""
    assert canonical_type("person", WEIGHTS) == "NAME"
    assert canonical_type("IBAN", WEIGHTS) == "PATIENT_ID"
    assert canonical_type("PERSON", {"PERSON": 0.5}) == "PERSON"
