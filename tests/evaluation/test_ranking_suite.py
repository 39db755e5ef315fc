"""The suite that ranks constraints: figures of every strategy."""

from __future__ import annotations

import pytest

from benchmarks.suites.constraint_ranking import evaluate_ranking
from benchmarks.suites.json_files import load_articles
from sdrag.disclosure.binding import STRATEGIES

pytest.importorskip("tokenizers")


def test_every_strategy_has_its_figures():
    """Recall and average precision at 1 to 20, over questions that need something."""
    articles = load_articles(None)[:1]

    result = evaluate_ranking(articles)

    asked = [q for q in articles[0]["questions"] if q["relevant_constraints"]]
    assert result["questions"] == len(asked)
    assert result["strategies"].keys() == set(STRATEGIES)
    for row in result["strategies"].values():
        assert list(row["recall"]) == [str(k) for k in range(1, 21)]
        assert all(0 <= value <= 1 for value in row["average_precision"].values())


@pytest.mark.slow
def test_the_figures_of_the_documentation():
    """All articles as one corpus, fifty chunks to a constraint."""
    rows = evaluate_ranking(load_articles(None))["strategies"]

    assert {row["candidate_recall"] for row in rows.values()} == {0.8569}
    assert rows["query"]["recall"]["10"] == pytest.approx(0.643, abs=0.01)
    assert rows["weighted_average"]["recall"]["10"] == pytest.approx(0.601, abs=0.01)
