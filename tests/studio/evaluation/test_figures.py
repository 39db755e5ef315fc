"""Figures of the documentation, held by floors on data kept aside from tuning."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.suites.claim_evidence import grounding
from benchmarks.suites.classification import auc, rates
from benchmarks.suites.constraint_ranking import ranking
from benchmarks.suites.entities import Annotated, Gold, measure, read_annotated
from benchmarks.suites.highlight import (
    evaluate_highlighter,
    holds,
    k_precision,
    read_squad,
    recall,
)
from benchmarks.suites.json_files import read_json
from benchmarks.suites.linkage import evaluate_linkage
from benchmarks.suites.linkage_clusters import read_clusters
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector
from sdrag.effects.steps import try_each
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text
from sdrag.highlight.exchange import Settings
from sdrag.highlight.local import local
from sdrag.policy import LinkageSection, ResolutionSection
from sdrag.vocabulary import Mention, Span

from ...support.scripted import Scripted

DATA = Path(os.environ.get("SDRAG_DATA", Path(__file__).parents[4] / "shared" / "data"))


def data(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not here; set SDRAG_DATA")
    return DATA / name


CASES = "spia/tab_entities.jsonl"
POSTS = "spia/panorama_entities.jsonl"
SENTENCES = "presidio_research/synth_dataset_v2.json"


@pytest.mark.parametrize(
    ("detector", "file", "floors"),
    [
        (
            LocalDetector(),
            CASES,
            {
                "recall_direct": 1.0,
                "recall_quasi": 0.91,
                "recall_token": 0.90,
                "precision_token": 0.70,
            },
        ),
        (LocalDetector(), POSTS, {"recall_direct": 0.95}),
        (LocalDetector(), SENTENCES, {"f2": 0.93, "f2_typed": 0.84}),
        pytest.param(
            TaggerDetector(),
            CASES,
            {
                "recall_direct": 1.0,
                "recall_quasi": 0.93,
                "recall_token": 0.925,
                "precision_token": 0.70,
            },
            marks=pytest.mark.slow,
        ),
        (TaggerDetector(), POSTS, {"recall_direct": 0.95, "recall_token": 0.92}),
        pytest.param(
            TaggerDetector(),
            SENTENCES,
            {"recall_token": 0.98, "f2_typed": 0.84},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_detector(detector: Detector, file: str, floors: dict[str, float]) -> None:
    """On every third document, which nothing was tuned on."""
    documents = read_annotated(data(file))[2::3]

    result = measure(detector, documents)

    assert {name: result[name] for name in floors if result[name] < floors[name]} == {}


def test_links_are_found_across_surface_forms_and_broken():
    """Resolved, F1 is over .75; by verbatim forms hardly a link is seen."""
    off = dict.fromkeys(("names", "dates", "numbers", "meaning"), False)
    verbatim = ResolutionSection.model_validate({**off, "terms": False})
    clusters = read_clusters()
    full = evaluate_linkage(clusters, LinkageSection())
    alone = evaluate_linkage(clusters, LinkageSection(select="document"))
    literal = evaluate_linkage(clusters, LinkageSection(resolution=verbatim))

    assert len(clusters) >= 10
    assert full["links"]["f1"] >= 0.75
    assert literal["links"]["f1"] < 0.5
    assert full["leak_rate"]["HIGH"] < alone["leak_rate"]["HIGH"]
    assert full["leaked_clusters"] < alone["leaked_clusters"]
    links = full["attacker"]
    assert links["links_after"] < links["links_before"] / 4
    assert full["rouge1_recall"]["general"]["single"] == 1.0


@pytest.mark.slow
def test_grounding():
    assert grounding(data("wice/claim_dev.jsonl"))["auc"] >= 0.83


@pytest.mark.slow
def test_the_injection_scan():
    """Few alarms on prompts full of trigger words, which nothing was trained on."""
    names = ("NotInject_one.json", "NotInject_two.json")
    rows = [row for name in names for row in read_json(data("notinject") / name)]
    alarms = [scan_text(row["prompt"], InjectionSection()).score >= 0.5 for row in rows]

    assert sum(alarms) <= 0.12 * len(alarms)


@pytest.mark.slow
def test_the_local_highlighter():
    rows = read_squad(data("xquad/xquad.en.json"))
    result = evaluate_highlighter(rows, Settings(local), Scripted())

    assert result["k_precision"] >= 0.84
    assert min(result["recall"], result["hit_rate"]) >= 0.88
    assert result["declined"]["f1"] >= 0.98


@pytest.mark.slow
def test_the_ranking_of_constraints():
    """All articles as one corpus, fifty chunks to a constraint."""
    rows = ranking()["strategies"]

    assert {row["candidate_recall"] for row in rows.values()} == {0.8569}
    assert rows["query"]["recall@10"] == pytest.approx(0.643, abs=0.01)
    assert rows["weighted_average"]["recall@10"] == pytest.approx(0.601, abs=0.01)


class _Fixed:
    """A detector that always finds the same."""

    def __init__(self, *mentions: tuple[int, int, str, float]) -> None:
        self.found = tuple(Mention(Span(a, b), *rest) for a, b, *rest in mentions)

    def detect(self, texts):
        yield from ()
        return try_each(lambda _: self.found, texts)


def test_how_entities_are_counted():
    """An entity by all of its mentions, tokens once, types by the data's own names."""
    text = "Ann Lee met Bob. Lee left."
    gold = (
        Gold(Span(0, 7), "PERSON", "DIRECT", "1"),
        Gold(Span(17, 20), "PERSON", "DIRECT", "1"),
        Gold(Span(12, 15), "PERSON", "QUASI", "2"),
    )

    def counted(*spans: tuple[int, int]) -> dict[str, float]:
        mentions = [(*span, "PERSON", 1.0) for span in spans]
        return measure(_Fixed(*mentions), [Annotated(text, gold)])

    assert counted((0, 7), (17, 20), (12, 15))["recall_direct"] == 1.0
    assert counted((0, 7), (12, 15))["recall_direct"] == 0.0
    assert counted((0, 3), (17, 20))["recall_direct"] == 0.0
    tokens = counted((0, 7), (0, 3), (21, 25))
    assert tokens["recall_token"] == pytest.approx(0.5)
    assert tokens["precision_token"] == pytest.approx(2 / 3)
    place = [Annotated("In Oslo.", (Gold(Span(3, 7), "GPE", "QUASI", "1"),))]
    both = _Fixed((3, 7, "LOCATION", 0.9), (3, 7, "PERSON", 0.6))
    assert measure(both, place)["f2_typed"] == 1.0


def test_contextual_spans_of_redaction_bench_count_neither_way(tmp_path):
    """Its Parquet file is read as it is; only mandatory spans have to be masked."""
    spans = [
        {"start": 0, "end": 7, "label": "mandatory"},
        {"start": 12, "end": 15, "label": "contextual"},
    ]
    row = {"raw_text": "Ann Lee met Bob today.", "spans": spans}
    file = tmp_path / "test.parquet"
    pq.write_table(pa.Table.from_pylist([row]), file)
    detector = _Fixed(*((a, b, "PERSON", 1.0) for a, b in [(0, 7), (12, 15), (16, 21)]))

    result = measure(detector, read_annotated(file))

    assert result["recall_token"] == 1.0
    assert result["precision_token"] == pytest.approx(2 / 3)


def test_how_answers_and_scores_are_counted():
    """Shares of tokens, up to case and marks; ties of a ROC curve count half."""
    assert k_precision("The cat, the dog", "a cat and the mat") == 0.75
    assert recall("The cat", "cat dog") == 0.5
    assert (k_precision("", "x"), recall("x", "")) == (0.0, 0.0)
    assert holds("It left\nat  NINE.", "at nine")
    assert auc([0.5, 0.5], [False, True]) == 0.5
    assert auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert set(rates([], []).values()) == {0.0}
