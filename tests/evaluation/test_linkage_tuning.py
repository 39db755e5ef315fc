"""CLAM's tuning and attacks, run over an application and readers without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from llama_index.core.llms import MockLLM

from benchmarks.linkage_experiments.attacks import MEMBERSHIP, attack
from benchmarks.linkage_experiments.models import ask_of
from benchmarks.linkage_experiments.retrieval import Retrieval, over, taken_over
from benchmarks.linkage_experiments.tuning import (
    chain_scores,
    filter_curve,
    folds,
    limited_reader,
    listed,
    rouge1_f1,
)
from benchmarks.suites.linkage import evaluate_linkage, mentions_of
from benchmarks.suites.linkage_clusters import packaged_clusters
from sdrag.linkage import mask_corpus
from sdrag.policy import LinkageSection, ResolutionSection
from sdrag.vocabulary import Passage

CLUSTERS = packaged_clusters()
DOCUMENTS = [document for cluster in CLUSTERS for document in cluster.documents]
HIGH = next(cluster for cluster in CLUSTERS if cluster.risk == "HIGH")


class TestApplication:
    """Retrieval of the three nearest, and what a generator makes of it."""

    def test_it_says_what_it_retrieved_and_no_more(self) -> None:
        """Three documents of all."""
        retrieval = Retrieval(DOCUMENTS)
        question = CLUSTERS[0].questions[0].text
        answer = taken_over(retrieval)(question)
        said = [document for document in DOCUMENTS if document.text in answer]
        assert sorted(d.id for d in said) == sorted(d.id for d in retrieval(question))
        assert len(said) == 3

    @pytest.mark.parametrize("template", MEMBERSHIP)
    @pytest.mark.parametrize(
        ("value", "answer"), [("Leif Brandvold", "Yes"), ("Leif Tandberg", "No")]
    )
    def test_it_says_truly_whether_a_value_is_there(
        self, template: str, value: str, answer: str
    ) -> None:
        """Under either prompt of section 5.4.1."""
        rag = taken_over(Retrieval([Passage("a", "Leif Brandvold steers a ferry.")]))
        asked = template.format(value=value) + " Answer with Yes or No only."
        assert rag(asked) == answer

    def test_over_a_model(self) -> None:
        """The context is the system message, the question the user's."""
        rag = over(Retrieval(DOCUMENTS[:1]), lambda system, user: f"{system}|{user}")
        answer = rag("Who?")
        assert DOCUMENTS[0].text in answer
        assert answer.endswith("|Who?")

    def test_masking_lowers_what_attacks_recover(self) -> None:
        """Both attacks, on a cluster of high risk; direct identifiers are gone."""
        masked = mask_corpus(DOCUMENTS, None, mentions=mentions_of(CLUSTERS))
        before = attack(HIGH, taken_over(Retrieval(DOCUMENTS)))
        after = attack(HIGH, taken_over(Retrieval(masked.documents)))
        assert before.leaked
        assert after.membership < before.membership
        assert after.targeted < before.targeted
        assert before.types["NAME"] > 0
        assert after.types.get("NAME", 0) == 0


class TestFilter:
    """Figure 4.2: how many of the known entities a second reading needs."""

    def test_a_stronger_filter_shows_less_and_finds_less(self) -> None:
        """Down to the first reading alone, where nothing is shown."""
        curve = list(filter_curve(CLUSTERS, limited_reader(CLUSTERS), (0.0, 0.4, 1.0)))
        by_type = [row for row in curve if row[0]]
        scores, counts = ([row[n] for row in by_type] for n in (2, 3))
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > scores[-1]
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] == 0

    def test_types_are_filtered(self) -> None:
        """Direct identifiers are not shown."""
        shown: list[str] = []
        reader = limited_reader(CLUSTERS)

        def read(text: str) -> str:
            shown.extend(type_ for _, type_ in listed(text))
            return reader(text)

        next(filter_curve(CLUSTERS, read, (0.0,)))
        assert shown
        assert not {"NAME", "PATIENT_ID"} & set(shown)

    @pytest.mark.parametrize(
        ("found", "wanted", "score"),
        [
            (["a b"], ["a b"], 1.0),
            (["a"], ["a b c"], 0.5),
            ([], ["a"], 0.0),
            ([], [], 1.0),
        ],
    )
    def test_rouge1_f1(self, found: list[str], wanted: list[str], score: float) -> None:
        """Of the words of all values."""
        assert rouge1_f1(found, wanted) == pytest.approx(score)


class TestThresholds:
    """Figure 4.4 and the folds."""

    def test_a_lower_bound_on_risk_marks_every_link(self) -> None:
        """Then chains of two documents are the links."""
        links = evaluate_linkage(CLUSTERS, LinkageSection())["links"]
        scores = chain_scores(CLUSTERS, 0.5, 0.0)
        assert scores == (links["precision"], links["recall"], links["f1"])

    def test_a_high_bound_marks_fewer(self) -> None:
        """Recall falls, precision does not."""
        low, high = (chain_scores(CLUSTERS, 0.5, risk) for risk in (0.0, 0.6))
        assert high[1] < low[1]
        assert high[0] >= low[0]

    def test_folds_choose_on_the_others(self) -> None:
        """A setting that finds nothing is not chosen where another finds something."""
        blind = LinkageSection(edge_threshold=1.0)
        seeing = LinkageSection(resolution=ResolutionSection(context=False))
        assert folds(CLUSTERS, [blind])[1] == 0.0
        assert folds(CLUSTERS, [blind, seeing])[2] >= 0.75


def test_a_model_of_either_framework_or_none() -> None:
    """Each becomes a callable from two messages to a reply."""
    reply = json.dumps({"a": 1})
    assert ask_of(FakeListChatModel(responses=[reply]))("s", "u") == reply
    assert "u" in ask_of(MockLLM())("s", "u")
    assert ask_of(lambda system, user: system + user)("s", "u") == "su"


def test_clusters_beside_follow_the_schema() -> None:
    """Every entity stands in its document, and no file says where it was written."""
    folder = Path(__file__).parents[2] / "benchmarks/linkage_clusters"
    files = sorted(folder.rglob("*.json"))
    assert len(files) == 10
    for file in files:
        data = json.loads(file.read_text("utf-8"))
        for document in data["documents"]:
            text = document["content"].casefold()
            assert all(row[0].casefold() in text for row in document["entities"])
            assert 40 <= len(text.split()) <= 120
