"""The suite that ranks constraints: what the default strategy finds, and how many."""

from __future__ import annotations

import pytest

from sdrag.disclosure.ranking import STRATEGIES
from sdrag.evaluation.articles_check import load_articles
from sdrag.evaluation.constraint_ranking import evaluate_ranking

pytest.importorskip("tokenizers")


def test_every_strategy_has_its_figures():
    """Recall and average precision at 1 to 20, over questions that need something."""
    articles = load_articles(None)[:1]

    result = evaluate_ranking(articles)

    asked = [q for q in articles[0]["questions"] if q["relevant_constraints"]]
    assert result["questions"] == len(asked)
    assert result["strategies"].keys() == {*STRATEGIES, "hybrid"}
    for row in result["strategies"].values():
        assert list(row["recall"]) == [str(k) for k in range(1, 21)]
        assert all(0 <= value <= 1 for value in row["average_precision"].values())


@pytest.mark.slow
def test_the_default_finds_more_than_the_paper_s_strategies():
    """All articles as one corpus: at most 40 candidates, and more at every depth."""
    result = evaluate_ranking(load_articles(None))["strategies"]

    ours = result.pop("hybrid")
    best = {
        depth: max(row["recall"][depth] for row in result.values())
        for depth in ("5", "10", "20")
    }
    assert ours["candidates"] <= 40
    assert ours["candidate_recall"] > 0.94
    assert ours["recall"]["10"] >= 0.8
    assert ours["recall"]["20"] >= 0.89
    assert all(ours["recall"][depth] > value for depth, value in best.items())
