"""Measuring the local scorer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.suites.claim_evidence import measure_grounding, read_cases
from sdrag.errors import UsageError
from sdrag.guardrails.support import support

WICE = Path(os.environ.get("SDRAG_DATA", "../shared/data")) / "wice/claim_dev.jsonl"
EVIDENCE = [
    "Lorne lies on the west coast.",
    "The harbour of Lorne was built in 1871 by the town council.",
    "A ferry leaves every day at nine.",
    "The lighthouse is painted white and red.",
]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("The harbour was built in 1871.", "The harbour was built in 1902."),
        ("The town council built the harbour.", "The navy built the airport."),
        ("A ferry leaves at nine each day.", "A ferry does not leave at nine."),
        ("The lighthouse is red and white.", "Dragons guard the lighthouse."),
    ],
)
def test_what_the_evidence_says_scores_above_what_it_does_not(better, worse):
    """Changed numbers, actors and negations cost support."""
    assert support(better, EVIDENCE).score > support(worse, EVIDENCE).score + 0.2


def test_the_supporting_sentence_is_named():
    """The result carries its evidence."""
    assert support("The harbour was built in 1871.", EVIDENCE).sentences == (1,)


@pytest.mark.parametrize(("claim", "evidence"), [("", EVIDENCE), ("It rains.", [])])
def test_nothing_supports_nothing(claim, evidence):
    """No claim and no evidence give no support."""
    assert support(claim, evidence).score == 0.0


def test_a_file_is_measured(tmp_path):
    """AUC, F1 and the sentences cited, from the shape of WiCE."""
    path = tmp_path / "claims.jsonl"
    rows = [
        ("The harbour was built in 1871.", "supported", [[1]]),
        ("Dragons guard the castle.", "not_supported", []),
    ]
    path.write_text(
        "\n".join(
            json.dumps(
                {
                    "claim": claim,
                    "evidence": EVIDENCE,
                    "label": label,
                    "supporting_sentences": sets,
                }
            )
            for claim, label, sets in rows
        )
    )

    result = measure_grounding(read_cases(path), 0.5)

    assert result["auc"] == 1.0
    assert result["citations"] == {"precision": 1.0, "recall": 1.0}


def test_a_line_that_is_no_case_is_named(tmp_path):
    """The error names the line and quotes nothing."""
    path = tmp_path / "claims.jsonl"
    path.write_text('{"claim": "x"}')

    with pytest.raises(UsageError, match="Line 1"):
        read_cases(path)


@pytest.mark.slow
@pytest.mark.skipif(not WICE.exists(), reason="no development data")
def test_the_scorer_reaches_its_figure():
    """On the development half of WiCE."""
    assert measure_grounding(read_cases(WICE), 0.5)["auc"] >= 0.83
