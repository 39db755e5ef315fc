"""Detection is measured as the Text Anonymization Benchmark does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.suites.entities import (
    Annotated,
    Gold,
    measure,
    missed,
    read_annotated,
)
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import TaggerDetector
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import try_each
from sdrag.errors import UsageError
from sdrag.vocabulary import Mention, Span

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SDRAG_DATA", ROOT.parent / "shared" / "data"))
TEXT = "Ann Lee met Bob. Lee left."
GOLD = (
    Gold(Span(0, 7), "PERSON", "DIRECT", "1"),
    Gold(Span(17, 20), "PERSON", "DIRECT", "1"),
    Gold(Span(12, 15), "PERSON", "QUASI", "2"),
)


class _Fixed:
    def __init__(self, *spans: tuple[int, int]) -> None:
        self.spans = spans

    def detect(self, texts):
        found = tuple(Mention(Span(*span), "PERSON") for span in self.spans)
        yield from ()
        return try_each(lambda _: found, texts)


def _measured(*spans: tuple[int, int]):
    return measure(_Fixed(*spans), [Annotated(TEXT, GOLD)], PortRunner(Ports()))


def test_an_entity_counts_when_all_its_mentions_are_covered() -> None:
    """Half of a name, or one of two mentions, is no protection."""
    assert _measured((0, 7), (17, 20), (12, 15))["recall_direct"] == 1.0
    assert _measured((0, 7), (12, 15))["recall_direct"] == 0.0
    assert _measured((0, 3), (17, 20))["recall_direct"] == 0.0


def test_tokens_are_counted_once() -> None:
    """Two of four gold tokens found, with one needless: recall 2/4, precision 2/3."""
    result = _measured((0, 7), (0, 3), (21, 25))

    assert result["recall_token"] == pytest.approx(0.5)
    assert result["precision_token"] == pytest.approx(2 / 3)


def test_errors_are_listed_with_their_surroundings() -> None:
    """What was missed and what was needless is shown, by kind."""
    listed = missed(_Fixed((21, 25)), [Annotated(TEXT, GOLD)], PortRunner(Ports()))

    kinds = [error["kind"] for error in listed]

    assert kinds.count("missed DIRECT PERSON") == 2
    assert kinds.count("missed QUASI PERSON") == 1
    assert any(kind.startswith("needless PERSON") for kind in kinds)


def test_both_formats_are_read(tmp_path: Path) -> None:
    """JSON lines of entities, and a list of typed spans."""
    lines = tmp_path / "a.jsonl"
    entity = {
        "start_offset": 0,
        "end_offset": 3,
        "identifier_type": "DIRECT",
        "entity_id": "1",
        "entity_type": "PERSON",
    }
    lines.write_text(json.dumps({"text": "Ann", "entities": [entity]}))
    typed = tmp_path / "b.json"
    span = {"start_position": 0, "end_position": 3, "entity_type": "PERSON"}
    typed.write_text(json.dumps([{"full_text": "Ann", "spans": [span]}]))

    assert [len(read_annotated(path)[0].gold) for path in (lines, typed)] == [1, 1]


def test_another_format_is_a_clear_error(tmp_path: Path) -> None:
    """The error names the file and quotes nothing of it."""
    path = tmp_path / "c.jsonl"
    path.write_text('{"secret": 1}')

    with pytest.raises(UsageError, match=r"c\.jsonl") as error:
        read_annotated(path)
    assert "secret" not in str(error.value)


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
        (
            TaggerDetector(),
            CASES,
            {
                "recall_direct": 1.0,
                "recall_quasi": 0.93,
                "recall_token": 0.925,
                "precision_token": 0.70,
            },
        ),
        (TaggerDetector(), POSTS, {"recall_direct": 0.95, "recall_token": 0.92}),
        (TaggerDetector(), SENTENCES, {"recall_token": 0.98, "f2_typed": 0.84}),
    ],
)
def test_a_detector_holds_its_figures(
    detector: Detector, file: str, floors: dict[str, float]
) -> None:
    """On documents kept aside from tuning, every third, quality does not fall."""
    path = DATA / file
    if not path.exists():
        pytest.skip(f"{file} is not here; set SDRAG_DATA")
    documents = read_annotated(path)[2::3]

    result = measure(detector, documents, PortRunner(Ports()))

    for name, floor in floors.items():
        assert result[name] >= floor, name


def test_types_are_compared_in_the_names_of_the_data_set() -> None:
    """A LOCATION is a GPE where the data says so; a token has its surest type."""
    documents = [Annotated("In Oslo.", (Gold(Span(3, 7), "GPE", "QUASI", "1"),))]

    class _Two:
        def detect(self, texts):
            found = (
                Mention(Span(3, 7), "LOCATION", 0.9),
                Mention(Span(3, 7), "PERSON", 0.6),
            )
            yield from ()
            return try_each(lambda _: found, texts)

    result = measure(_Two(), documents, PortRunner(Ports()))

    assert result["f2_typed"] == 1.0
