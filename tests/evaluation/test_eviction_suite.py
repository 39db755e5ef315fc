"""Wording evicts constraints from a top K that looks at it, and from nothing else."""

from __future__ import annotations

import pytest

from benchmarks.suites.articles_check import load_articles
from benchmarks.suites.eviction import ALL, evaluate_eviction, wordings

pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def figures():
    return evaluate_eviction(load_articles()[:2])["strategies"]


def test_the_search_succeeds_where_the_question_ranks(figures):
    """A ranking by the question alone loses constraints, and with them privacy."""
    lost = figures["query"]["5"]

    assert lost["evicted"] > 0.2
    assert lost["privacy_worded"] < lost["privacy"]


@pytest.mark.parametrize("strategy", ["concatenated", "maximum", "average"])
def test_rankings_without_the_question_lose_nothing_by_wording(figures, strategy):
    """Chunks being equal, so is the ranking."""
    for row in figures[strategy].values():
        assert row["evicted"] == 0
        assert row["privacy_worded"] == row["privacy"]


def test_all_candidates_lose_nothing_at_all(figures):
    """With exact spans, privacy is whole: every needed constraint is a candidate."""
    assert figures[ALL]["all"] == {
        "evicted": 0,
        "privacy": 1,
        "privacy_worded": 1,
    }


def test_privacy_grows_with_k(figures):
    """Applying more constraints never shows more."""
    for strategy, rows in figures.items():
        privacies = [row["privacy"] for row in rows.values()]
        assert privacies == sorted(privacies), strategy


def test_wordings_keep_the_question():
    assert all("Who?" in wording for wording in wordings("Who?"))
