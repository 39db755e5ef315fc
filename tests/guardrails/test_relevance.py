"""Relevance: what is too far from the question is not used."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.steps import Failure
from sdrag.errors import ModelError
from sdrag.guardrails import relevance
from sdrag.guardrails.relevance import SCALES, RelevanceSection, unit
from sdrag.guardrails.results import Retrieval
from sdrag.vocabulary import Passage

ASKED = Retrieval("q", datetime(2026, 3, 1, tzinfo=UTC))


def passages(*scores):
    return [Passage(str(n), f"text {n}", {}, item) for n, item in enumerate(scores)]


def kept(screened):
    return [passage.id for passage in screened.passages]


@pytest.mark.parametrize(
    ("scale", "scores", "expected"),
    [
        ("auto", (0.9, 0.5, 0.1), ["0", "1"]),
        ("auto", (0.9, 0.5, -0.4), ["0", "1"]),
        ("cosine_distance", (0.1, 0.5, 0.9), ["0", "1"]),
        ("squared_l2", (0.2, 1.0, 1.8), ["0", "1"]),
        ("l2", (0.2, 1.0, 1.4), ["0", "1"]),
    ],
)
def test_every_store_is_held_to_one_scale(ask, scale, scores, expected):
    """The same floor means the same closeness whatever the store returns."""
    section = RelevanceSection(min_score=0.25, scores=scale)

    assert (
        kept(ask(relevance.at_retrieval(passages(*scores), section, ASKED))) == expected
    )


@given(st.sampled_from(sorted(SCALES)), st.floats())
def test_scaled_scores_stay_between_0_and_1(scale, score):
    """Whatever a store returns, its scaled score is a number from 0 to 1."""
    assert 0.0 <= unit(score, scale) <= 1.0


def embedding(effect, text):
    """Put the question and `text 0` in one place, everything else across."""
    near = effect.query or text == "text 0"
    return np.array([1.0, 0.0] if near else [0.0, 1.0], dtype=np.float32)


@pytest.mark.parametrize(
    "scores", [(None, None), (0.1, 0.9), (12.5, 3.0), (0.5, 0.5), (0.3, None)]
)
def test_scores_that_may_be_anything_are_measured(ask, scores):
    """Missing, rising and unbounded scores are replaced by a cosine of our own."""
    steps = relevance.at_retrieval(passages(*scores), RelevanceSection(), ASKED)

    assert kept(ask(steps, embed=embedding)) == ["0"]


def test_a_score_that_cannot_be_had_drops_the_passage(ask):
    """Doubt about relevance withholds."""
    screened = ask(relevance.at_retrieval(passages(None), RelevanceSection(), ASKED))

    assert screened.passages == ()
    assert screened.decisions[0].reason == "score-failed"


def test_the_cross_encoder_orders_and_judges(ask):
    """Reranked passages carry the reranker's score; logits become probabilities."""
    logits = {"text 0": -3.0, "text 1": 4.0, "text 2": Failure(ModelError("x"))}
    section = RelevanceSection(rerank=True)
    steps = relevance.at_retrieval(passages(0.9, 0.8, 0.7), section, ASKED)

    screened = ask(steps, score=lambda _effect, pair: logits[pair[1]])

    assert kept(screened) == ["1"]
    assert math.isclose(screened.passages[0].score, 0.982, abs_tol=1e-3)
    assert {decision.reason for decision in screened.decisions} == {
        "below-floor",
        "score-failed",
    }


def test_too_few_passages_are_none_and_the_chain_can_see_it(ask):
    """Under the least number nothing is returned, with a notice if asked for."""
    section = RelevanceSection(min_passages=2, insufficient="notice")
    screened = ask(relevance.at_retrieval(passages(0.9, 0.1), section, ASKED))

    assert screened.passages == ()
    assert screened.decisions[-1].subject == "query"
    (notice,) = screened.notices
    assert "not enough information" in notice.text
    quiet = RelevanceSection(min_passages=2)
    steps = relevance.at_retrieval(passages(0.9, 0.1), quiet, ASKED)
    assert ask(steps).notices == ()


def test_no_passages_are_insufficient_too(ask):
    """An empty store is said to be insufficient, not passed over."""
    screened = ask(relevance.at_retrieval([], RelevanceSection(), ASKED))

    assert [decision.reason for decision in screened.decisions] == ["insufficient"]
