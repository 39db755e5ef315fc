"""
How well evidence that refutes a claim is told from evidence that supports it.

FEVER-Symmetric (Schuster et al. 2019): each claim stands once with evidence for it and
once with evidence against it, so nothing can be learned from the claim alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.evaluation.classification import auc, rates
from sdrag.guardrails.opposition import refutation

__all__ = ["Pair", "measure", "read_pairs"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, evidence found for it, and whether that refutes it."""

    claim: str
    evidence: str
    refuted: bool


def read_pairs(path: Path) -> list[Pair]:
    """
    Read JSON lines of `claim`, `evidence` and `gold_label` (SUPPORTS or REFUTES).

    Raises:
        UsageError: A line is not of that shape.
    """
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            held = json.loads(line)
            refuted = {"SUPPORTS": False, "REFUTES": True}[held["gold_label"]]
            pairs.append(Pair(held["claim"], held["evidence"], refuted))
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"Line {number} is no pair of texts.") from None
    return pairs


def measure(pairs: Sequence[Pair], threshold: float) -> dict[str, Any]:
    """Judge every pair by the local rules."""
    scores = [refutation(pair.claim, pair.evidence) for pair in pairs]
    labels = [pair.refuted for pair in pairs]
    counted = rates([score >= threshold for score in scores], labels)
    return {
        "accuracy": counted["accuracy"],
        "refutes": {name: counted[name] for name in ("precision", "recall", "f1")},
        "auc": auc(scores, labels),
        "pairs": len(pairs),
    }
