"""The judged tables of the paper, counted from answers that are given."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.highlight import answer_all
from benchmarks.highlight_experiments.elo import Battle
from benchmarks.highlight_experiments.scripted import scripted_judge, scripted_model
from benchmarks.highlight_experiments.tables import (
    Answered,
    best_guess,
    declining,
    guess_correlation,
    guessing,
    highest,
    judged_tables,
    pairwise,
    rate,
    with_summarizer,
)
from benchmarks.suites.highlight import GoldQuestion, read_squad
from sdrag.highlight.exchange import Answer
from sdrag.vocabulary import Highlight, Span

from .test_highlight_suite import write

QUESTION = "When does the ferry leave?"
DECLINED = Answer("No.", declined=True)


def asked(*answers: str) -> GoldQuestion:
    return GoldQuestion(QUESTION, "x", answers, "x")


def said(text: str, *guesses: str, highlights: Sequence[str] = ()) -> Answer:
    quoted = tuple(Highlight("p", Span(0, 1), each) for each in highlights)
    return Answer(text, quoted, guessed_questions=guesses)


def test_table_9() -> None:
    """Wins are of one side, ties of both; neither counts for nobody."""
    fought = [
        Battle("a", "b", "first"),
        Battle("b", "a", "first"),
        Battle("a", "b", "tie"),
        Battle("a", "b", "neither"),
        Battle("a", "c", "second"),
    ]
    found = pairwise(fought, ["a", "b", "c"])

    assert found["a"]["b"] == found["b"]["a"] == {"wins": 1, "ties": 1}
    assert (found["a"]["c"]["wins"], found["c"]["a"]["wins"]) == (0, 1)
    assert found["a"]["total"] == {"wins": 1, "ties": 1}


def test_figure_4() -> None:
    """All that share the highest rating have it; nobody has the highest of nothing."""
    rated = [
        {
            "correctness": {"a": True, "b": False, "c": None},
            "relevance": {"a": 2, "b": 3, "c": 3},
            "quality": {"a": 5, "b": 5, "c": 4},
        },
        {
            "correctness": {"a": False, "b": False, "c": False},
            "relevance": {"a": None, "b": None, "c": None},
            "quality": {"a": 1, "b": 2, "c": None},
        },
    ]

    assert highest(rated) == {
        "correctness": {"a": 1},
        "relevance": {"b": 1, "c": 1},
        "quality": {"a": 1, "b": 2},
    }


def test_table_5() -> None:
    """Right is to decline another paragraph, and a question without an answer."""
    found = [
        Answered(asked("nine"), {"a": said("At nine")}, {"a": DECLINED}),
        Answered(asked("nine"), {"a": DECLINED}, {"a": said("At ten")}),
        Answered(asked(), {"a": DECLINED}, {}),
    ]

    assert declining(found, "a") == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3}
    )


def test_table_7() -> None:
    """Of up to ten guesses the best counts, and both figures are its own."""
    guesses = ["Ferry", "When does the big ferry leave?", "Who?"]

    assert best_guess(guesses, QUESTION) == pytest.approx((5 / 6, 1.0))
    assert best_guess(["Who?"] * 10 + [QUESTION], QUESTION) == (0.0, 0.0)
    assert best_guess([], QUESTION) == (0.0, 0.0)

    found = [
        Answered(asked("nine"), {"a": said("x", QUESTION)}, {}),
        Answered(asked("nine"), {"a": said("x")}, {}),
    ]

    assert guessing(found, "a") == {"k_precision": 0.5, "recall": 0.5}


def test_figure_7() -> None:
    """The pipeline meets its highlighter alone, and both are cut to 40 words."""
    long = " ".join(f"w{number}" for number in range(50))
    found = [
        Answered(asked("nine"), {"a": said("good", highlights=["bad", "x"])}, {}),
        Answered(asked("nine"), {"a": said("bad", highlights=["good"])}, {}),
        Answered(asked("nine"), {"a": said(long, highlights=[f"{long} more"])}, {}),
    ]

    def judge(prompt: str) -> str:
        sides = prompt.partition("Answer A: ")[2].partition("\n\nAnswer B: ")
        if sides[0] == sides[2].partition("\n\n")[0]:
            return "VERDICT: TIE"
        return f"VERDICT: {'A' if sides[0] == 'good' else 'B'}"

    assert with_summarizer(found, "a", judge, random.Random(0)) == pytest.approx(
        {"pipeline": 1 / 3, "highlighter": 1 / 3, "tie": 1 / 3}
    )


def test_figure_9() -> None:
    """Where good guesses go with correct answers the two correlate."""
    pairs = [("nine", QUESTION), ("ten", "Who?"), ("nine", QUESTION), ("ten", "Why?")]
    found = [
        Answered(asked("nine"), {"a": said(text, guess)}, {}) for text, guess in pairs
    ]
    rated = [rate(one, scripted_judge) for one in found]

    assert guess_correlation(found, rated, "a") == pytest.approx(1.0)
    assert guess_correlation(found[:1], rated[:1], "a") is None
    assert guess_correlation(found[::2], rated[::2], "a") is None


def test_scripted_models_fill_every_table(tmp_path: Path) -> None:
    """Every pipeline has its place in every table, without a hosted model."""
    pytest.importorskip("tokenizers")
    data = read_squad(write(tmp_path))
    found = answer_all(data, scripted_model)
    result = judged_tables(found, scripted_judge)
    names = {"vanilla", "baseline", "local", "span", "structured", "two_steps"}

    for table in ("table_3", "table_5", "table_9", "figure_5"):
        assert result[table].keys() == names, table
    assert result["table_7"].keys() == result["figure_9"].keys() == names - {"vanilla"}
    assert sum(result["figure_7"]["two_steps"].values()) == pytest.approx(1.0)
    assert result["figure_4"].keys() == {"correctness", "relevance", "quality"}
    assert all(one.own["structured"].text in one.asked.context for one in found)
    assert json.dumps(result)
