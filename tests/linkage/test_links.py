"""Links between documents that share no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.suites.linkage import evaluate_linkage
from benchmarks.suites.linkage_clusters import read_clusters
from sdrag.linkage import assess
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Passage

Entry = tuple[str, str]
"""A form and its type; the form is written in the document."""

CLUSTERS = Path(__file__).parents[2] / "benchmarks/linkage_clusters"
NOTHING_ELSE = {"resolution": {"context": False}}
GOATS = [
    "The patient makes goat cheese on an alp without a road and has a fever.",
    "Goats were tested at a mountain dairy that is reached only on foot.",
    "Premiums for bicycles are lowered for those who ride to the office daily.",
]
SAID = [
    "makes goat cheese on an alp without a road",
    "a mountain dairy that is reached",
]


def shared(entries: list[list[Entry]], settings: object = None) -> int:
    """Return how many entities are in both of two documents."""
    texts = [" ".join(form for form, _ in row) for row in entries]
    documents = [Passage(str(n), text) for n, text in enumerate(texts)]
    mentions = [[[form, "", type_, 0.9] for form, type_ in row] for row in entries]
    found = assess(documents, mentions, settings)  # type: ignore[arg-type]
    return int((found.corpus.frequency > 1).sum())


ONE_VALUE = [
    (("Saltmarsh Clinic", "LOCATION"), ("Saltmarsh Clinic", "PROVIDER")),
    (("won the county debating cup", "EVENT"),) * 2,
    (("keeps forty hives", "UNIQUE_FACT"), ("keeps forty hives", "EVENT")),
    (("AB-44718", "PATIENT_ID"), ("AB 44-718", "NON_PERSONAL_ID")),
    (("3 May 1990", "BIRTHDATE"), ("03/05/1990", "EVENT_DATE")),
]
TWO_VALUES = [
    (("34", "AGE"), ("34", "PATIENT_ID")),
    (("bee venom anaphylaxis", "MEDICAL_CONDITION"), ("bee venom", "TREATMENT")),
]


def test_a_value_under_two_types_of_one_role_is_one():
    """Extractors call one thing by different types (section 6.2)."""
    for count, pairs in ((1, ONE_VALUE), (0, TWO_VALUES)):
        for one, two in pairs:
            assert shared([[one], [two]], NOTHING_ELSE) == count, (one, two)
    # Masking the other would mask what no plan may mask.
    kept = {**NOTHING_ELSE, "unmaskable": ["EVENT"]}
    assert shared([[one] for one in ONE_VALUE[2]], kept) == 0


class TestInOtherWords:
    """Telling descriptions, compared in their context."""

    @staticmethod
    def links(relevance: float = 0.9, **resolution: object) -> list[tuple[str, str]]:
        documents = [
            Passage(name, text) for name, text in zip("abc", GOATS, strict=True)
        ]
        mentions = [
            [[SAID[0], "", "UNIQUE_FACT", relevance]],
            [[SAID[1], "", "UNIQUE_FACT", relevance]],
            [["those who ride to the office daily", "", "UNIQUE_FACT", 0.9]],
        ]
        settings = {"resolution": resolution, "edge_threshold": 0.3}
        found = assess(documents, mentions, settings)
        return [(link.first, link.second) for link in found.links]

    def test_link_their_documents(self):
        """Two descriptions with no word in common; an unrelated one links nothing."""
        assert self.links() == [("a", "b")]
        assert self.links(context=False) == []
        assert self.links(meaning=False) == []

    def test_each_counts_in_one_further_document(self):
        """Otherwise what is rare would be no longer rare."""
        clusters = read_clusters(CLUSTERS / "development")
        documents = [d for one in clusters for d in one.documents]
        rows = {k: v for one in clusters for k, v in (one.entities or {}).items()}
        without = assess(documents, rows, {"resolution": {"context": False}})
        found = assess(documents, rows)
        more = found.corpus.frequency - without.corpus.frequency
        assert more.sum() > 0
        assert set(more.tolist()) <= {0, 1}


@pytest.mark.parametrize(("part", "least"), [("development", 0.6), ("unseen", 0.55)])
def test_links_of_other_domains(part, least):
    """More than half of these pairs share no value; what is found is right."""
    found = evaluate_linkage(read_clusters(CLUSTERS / part), LinkageSection())["links"]
    assert found["f1"] >= least
    assert found["precision"] >= 0.9
