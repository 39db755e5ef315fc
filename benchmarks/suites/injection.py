"""How well injections are found, and how often harmless text is taken for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.suites.classification import auc, rates
from benchmarks.suites.json_files import read_rows
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text


def injection(
    data: Path, threshold: float = 0.5, *, patterns_only: bool = False
) -> dict[str, Any]:
    """
    Measure the injection scan: precision, recall, false positives, AUC.

    Rows have `text` or `prompt`, and `label` (1: an injection). Scores under the
    threshold count for the AUC.
    """
    everything = InjectionSection(threshold=0.0, local_classifier=not patterns_only)
    rows = read_rows(
        data,
        lambda row: (
            str(row["text"] if "text" in row else row["prompt"]),
            bool(int(row["label"])),
        ),
    )
    labels = [label for _, label in rows]
    scores = [scan_text(text, everything).score for text, _ in rows]
    predicted = [score >= threshold for score in scores]
    counted = rates(predicted, labels)
    return {**counted, "auc": auc(scores, labels), "examples": len(rows)}
