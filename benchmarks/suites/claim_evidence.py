"""
Claims and their evidence: does it support them, and does it refute them?

Contradiction is measured on FEVER-Symmetric (Schuster et al. 2019): each claim is
once with evidence for it and once with evidence against it, so nothing can be learned
from the claim alone. Groundedness is measured on WiCE (Kamoi et al. 2023): claims are
sentences of Wikipedia, and evidence is the sentences of the pages that they cite. A
claim that is supported in part counts with the rest, as in the paper (section 4.1).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.suites.classification import auc, rates
from benchmarks.suites.json_files import read_rows
from sdrag.guardrails.contradictions.opposition import find_opposition, read_sentence
from sdrag.guardrails.grounding.support import support
from sdrag.text.sentences import sentences

_BRACKETS = re.compile(r"-[lr][rs]b-|``|''|--", re.IGNORECASE)
"""How the data set writes brackets and quotation marks."""


def contradiction(data: Path) -> dict[str, Any]:
    """
    Measure the local rules on refuting evidence, sentence by sentence.

    Rows have `claim`, `evidence` and `gold_label` (SUPPORTS or REFUTES).
    """
    refuted = {"SUPPORTS": False, "REFUTES": True}
    rows = read_rows(
        data,
        lambda row: (row["claim"], row["evidence"], refuted[row["gold_label"]]),
    )
    opposed = [_is_opposed(claim, evidence) for claim, evidence, _ in rows]
    counted = rates(opposed, [label for *_, label in rows])
    return {
        "accuracy": counted["accuracy"],
        "refutes": {name: counted[name] for name in ("precision", "recall", "f1")},
        "pairs": len(rows),
    }


def _is_opposed(*texts: str) -> bool:
    cleaned = [_BRACKETS.sub(" ", text) for text in texts]
    claim, evidence = (
        [read_sentence(span.of(text)) for span in sentences(text)] for text in cleaned
    )
    return any(find_opposition(left, right) for left in claim for right in evidence)


def grounding(data: Path, threshold: float = 0.5) -> dict[str, Any]:
    """
    Measure the local scorer of support: every claim against its own evidence.

    Rows have `claim`, `evidence` (sentences) and `label` (supported, or anything else).
    """
    rows = read_rows(
        data,
        lambda row: (
            row["claim"],
            tuple(row["evidence"]),
            row["label"] in {"supported", 1},
        ),
    )
    scores = [support(claim, evidence).score for claim, evidence, _ in rows]
    labels = [supported for *_, supported in rows]
    counted = rates([score >= threshold for score in scores], labels)
    return {
        "auc": auc(scores, labels),
        **{name: counted[name] for name in ("f1", "precision", "recall", "accuracy")},
        "claims": len(rows),
    }
