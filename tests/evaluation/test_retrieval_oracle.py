"""Asking for a value tells that it is there, unless vectors come from redacted text."""

from __future__ import annotations

import pytest

from benchmarks.suites.articles_check import load_articles
from benchmarks.suites.retrieval_oracle import (
    Exact,
    advantage,
    evaluate_retrieval_oracle,
)
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, disclose
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], 0),
        ([(1, 0), (1, 0)], 1),
        ([(0, 1)], -1),
        ([(1, 1)], 0),
        ([(1, 0), (0, 1)], 0),
    ],
)
def test_advantage_over_guessing(pairs, expected):
    """The share judged right, less the share judged wrong; a tie is neither."""
    assert advantage(pairs) == expected


def test_ids_and_scores_pass_through_a_wrapper():
    """What redaction hands on is what the index gave, so the index may be asked."""
    text = "Hide the colour"
    engine = Engine.build(
        {"constraints": [text]}, locator=Exact({text: ["red", "green"]})
    )
    found = [Passage("p", "It was red.", score=0.7), Passage("q", "No.", score=0.2)]

    released = run(disclose(found, Request("?"), engine), Scripted()).passages

    assert [(one.id, one.score) for one in released] == [("p", 0.7), ("q", 0.2)]
    assert released[0].text.startswith("It was [")


def test_a_view_takes_the_advantage():
    """Asking for names works on unredacted vectors, and on the view's no better."""
    pytest.importorskip("tokenizers")
    figures = evaluate_retrieval_oracle(load_articles()[:2], engines=["exact"])
    known = figures["advantage"]

    assert known["unredacted"]["all"]["by_scores"] > 0.6
    assert known["view_exact"]["all"]["by_scores"] < 0.35
    cost = figures["completeness"]["exact"]
    assert cost["view"] > cost["unredacted"] - 0.1
