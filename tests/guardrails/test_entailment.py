"""Claims in other words than their source are judged by a trained network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sdrag.guardrails.grounding.support import support_each
from sdrag.guardrails.statements import entailment
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

from .answers import guarded

CLAIMS = Path(__file__).parents[2] / "benchmarks" / "claims" / "validation.jsonl"
SOURCE = "The light was automated in 1983. Dogs have to wait below."
REWORDED = "Your hound must stay at the bottom."


def count_passed(kind):
    """Return the share of claims that the local scorer supports."""
    scores = []
    for row in map(json.loads, CLAIMS.read_text("utf-8").splitlines()):
        evidence = [span.of(row["source"]) for span in sentences(row["source"])]
        claims = [f"{claim}." for fact in row["facts"] for claim in fact[kind]]
        scores += [each.score for each in support_each(claims, evidence)]
    return sum(score >= 0.5 for score in scores) / len(scores)


def test_more_right_claims_than_wrong_ones_pass_in_other_words():
    """On trades that nothing was trained on; the rules alone pass more wrong ones."""
    pytest.importorskip("torch")

    assert count_passed("right") >= 0.42
    assert count_passed("wrong") <= 0.35


def test_a_network_that_gives_no_number_leaves_the_claim_unchecked(ask, monkeypatch):
    """It fails closed."""
    pytest.importorskip("torch")
    broken = {name: row * np.nan for name, row in entailment._load().items()}
    monkeypatch.setattr(entailment, "_load", lambda: broken)

    held = guarded(ask, REWORDED, {"grounding": {}}, [Passage("source", SOURCE)])

    assert held.status == "annotated"
    assert "[unchecked]" in held.text
