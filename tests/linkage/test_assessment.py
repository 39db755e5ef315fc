"""The formulas of CLAM, section 4.2.3, against values worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sdrag.linkage import assess
from sdrag.linkage.incidence import uniqueness
from sdrag.linkage.schema import Schema
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Passage

# Forty-nine documents, so log(N + 1) is log(50). One patient id of one document, one
# condition of two, one date of five; worked with forty digits.
EDGE, FIRST_RISK, SECOND_RISK = 0.668406682889, 0.949663355652, 0.510457402671


def test_uniqueness():
    """An entity of one document is unique; one of every document hardly counts."""
    found = uniqueness(np.array([1, 2, 5, 49]), 49).tolist()
    worked = [1.0, 0.822816179864, 0.588591910068, 0.005164260867]
    assert found == pytest.approx(worked, abs=1e-9)


def test_columns_agree_with_the_worked_example():
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
    (chain,) = result.chains
    assert (chain.documents, chain.category) == (("d00", "d01"), "MEDIUM")
    assert chain.risk == pytest.approx(0.578191960, abs=1e-9)


def test_detectors_names_are_read_as_types_of_the_table():
    """A synonym, unless the domain has that very type."""
    assert Schema().canonical("person") == "NAME"
    assert Schema().canonical("IBAN") == "PATIENT_ID"
    assert (
        Schema(LinkageSection(weights={"PERSON": 0.5})).canonical("PERSON") == "PERSON"
    )
