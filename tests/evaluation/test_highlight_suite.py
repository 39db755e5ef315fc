"""The figures of the suite `highlight`: data, measures, judges, ratings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.suites.highlight import (
    evaluate_highlighter,
    holds,
    k_precision,
    read_squad,
    recall,
)
from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Steps
from sdrag.errors import UsageError
from sdrag.highlight.exchange import Context, Proposal, Settings
from sdrag.highlight.local import local
from sdrag.testing import Scripted

DATA = Path(os.environ.get("SDRAG_DATA", Path(__file__).parents[3] / "shared" / "data"))
FIRST = "The ferry leaves the harbour at nine. It is painted green and white all over."
SECOND = "The museum opens at ten in the morning. Its roof is made of old copper."
THIRD = "The bakery sells bread of rye and spelt. It is closed on every Monday."


def write(folder: Path) -> Path:
    """Write two articles: one of two paragraphs, one of one."""

    def paragraph(context: str, question: str, answer: str) -> dict[str, object]:
        found = {"text": answer, "answer_start": context.index(answer)}
        return {"context": context, "qas": [{"question": question, "answers": [found]}]}

    articles = [
        [
            paragraph(FIRST, "When does the ferry leave the harbour?", "at nine"),
            paragraph(SECOND, "What is the roof of the museum made of?", "copper"),
        ],
        [paragraph(THIRD, "What bread does the bakery sell?", "rye and spelt")],
    ]
    path = folder / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": one} for one in articles]}))
    return path


def everything(question: Labelled, context: Context) -> Steps[Proposal]:
    yield from ()
    return Proposal(tuple(passage.text for passage in context.passages))


def nothing(question: Labelled, context: Context) -> Steps[Proposal]:
    yield from ()
    return Proposal(())


def test_reading(tmp_path: Path) -> None:
    """The gold passage is the answer's sentence; pairs come from where they should."""
    first, second, third = read_squad(write(tmp_path))

    assert first.gold == "The ferry leaves the harbour at nine."
    assert second.gold == "Its roof is made of old copper."
    assert (first.other, first.hard) == (THIRD, SECOND)
    assert (third.other in (FIRST, SECOND), third.hard) == (True, None)


def test_a_long_answer_is_the_gold_passage(tmp_path: Path) -> None:
    """Where the file names the gold passage, that is it."""
    path = write(tmp_path)
    data = json.loads(path.read_text())
    data["data"][0]["paragraphs"][0]["qas"][0]["long_answer"] = FIRST
    path.write_text(json.dumps(data))

    assert read_squad(path)[0].gold == FIRST


@pytest.mark.parametrize("text", ["", "[]", '{"data": 1}', '{"data": [{}]}'])
def test_another_file_is_an_error_without_content(tmp_path: Path, text: str) -> None:
    """What is no SQuAD-style file is said to be none."""
    path = tmp_path / "x.json"
    path.write_text(text)

    with pytest.raises(UsageError):
        read_squad(path)


def test_a_highlighter_of_everything(tmp_path: Path) -> None:
    """It finds all and declines nothing: recall 1, precision what the gold leaves."""
    result = evaluate_highlighter(
        read_squad(write(tmp_path)), Settings(everything), Scripted()
    )

    assert (result["recall"], result["hit_rate"]) == (1.0, 1.0)
    assert result["k_precision"] < 0.8
    assert result["declined"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_a_highlighter_of_nothing(tmp_path: Path) -> None:
    """It declines all: nothing found, and half of its declining is wrong."""
    result = evaluate_highlighter(
        read_squad(write(tmp_path)), Settings(nothing), Scripted()
    )

    assert (result["k_precision"], result["hit_rate"]) == (0.0, 0.0)
    assert result["declined"]["precision"] == 0.5
    assert result["declined"]["recall"] == 1.0


def test_the_local_highlighter(tmp_path: Path) -> None:
    """With MiniLM alone it finds the sentence, and declines another article's text."""
    pytest.importorskip("tokenizers")
    result = evaluate_highlighter(
        read_squad(write(tmp_path)), Settings(local), Scripted()
    )

    assert result["hit_rate"] == 1.0
    assert result["declined"]["f1"] == 1.0


@pytest.mark.slow
def test_the_local_highlighter_on_xquad() -> None:
    """On the development half of XQuAD it keeps what it was calibrated to."""
    path = DATA / "xquad" / "xquad.en.json"
    if not path.is_file():
        pytest.skip(f"no XQuAD in {DATA}")
    result = evaluate_highlighter(read_squad(path), Settings(local), Scripted())

    assert result["k_precision"] >= 0.84
    assert result["recall"] >= 0.88
    assert result["hit_rate"] >= 0.88
    assert result["declined"]["f1"] >= 0.98


def test_token_measures() -> None:
    """Shares of tokens, up to case and marks; nothing said is worth nothing."""
    assert k_precision("The cat, the dog", "a cat and the mat") == 0.75
    assert recall("The cat", "cat dog") == 0.5
    assert (k_precision("", "x"), recall("x", "")) == (0.0, 0.0)
    assert holds("It left\nat  NINE.", "at nine")
