"""Measuring the local rules on refuted claims."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.suites.claim_evidence import measure_contradiction, read_pairs
from sdrag.errors import UsageError
from sdrag.guardrails.opposition import refutation

FEVER = Path(os.environ.get("SDRAG_DATA", "../shared/data")) / (
    "fever_symmetric/dev.jsonl"
)


@pytest.mark.parametrize(
    ("claim", "supporting", "refuting"),
    [
        (
            "The film is Australian.",
            "It is an Australian film.",
            "It is a Danish film.",
        ),
        ("It opened in 1994.", "It opened in May 1994.", "It opened in May 1992."),
        ("He had children.", "He had two children.", "He never had children."),
    ],
)
def test_evidence_against_a_claim_scores_above_evidence_for_it(
    claim, supporting, refuting
):
    """The same claim, and one word of the evidence changed."""
    assert refutation(claim, refuting) > refutation(claim, supporting)


def test_a_file_is_measured(tmp_path):
    """Accuracy, from the shape of FEVER-Symmetric."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        ("It opened in 1994.", "It opened in May 1994.", "SUPPORTS"),
        ("It opened in 1994.", "It closed in May 1992.", "REFUTES"),
    ]
    path.write_text(
        "\n".join(
            json.dumps({"claim": claim, "evidence": evidence, "gold_label": label})
            for claim, evidence, label in rows
        )
    )

    assert measure_contradiction(read_pairs(path), 0.5)["accuracy"] == 1.0


@pytest.mark.parametrize("line", ["{}", '{"claim": "a", "evidence": "b"}', "["])
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    """The error names the line and quotes nothing."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(line)

    with pytest.raises(UsageError, match="Line 1"):
        read_pairs(path)


@pytest.mark.skipif(not FEVER.exists(), reason="no development data")
def test_the_rules_reach_their_figure():
    """On the development half of FEVER-Symmetric."""
    assert measure_contradiction(read_pairs(FEVER), 0.5)["accuracy"] >= 0.69
