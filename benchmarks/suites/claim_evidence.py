"""
Claims and their evidence: does it support them, and does it refute them?

Contradiction is measured on FEVER-Symmetric (Schuster et al. 2019): each claim is
once with evidence for it and once with evidence against it, so nothing can be learned
from the claim alone. Groundedness is measured on WiCE (Kamoi et al. 2023): claims are
sentences of Wikipedia, and evidence is the sentences of the pages that they cite. A
claim that is supported in part counts with the rest, as in the paper (section 4.1).
Cited sentences are compared with the one of the annotated sets that they match best.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.classification import auc, rates
from benchmarks.suites.json_files import read_rows
from sdrag.guardrails.contradictions.opposition import find_opposition, read_sentence
from sdrag.guardrails.grounding.support import Support, support
from sdrag.text.sentences import sentences

__all__ = [
    "Case",
    "Pair",
    "measure_contradiction",
    "measure_grounding",
    "read_cases",
    "read_pairs",
]

_BRACKETS = re.compile(r"-[lr][rs]b-|``|''|--", re.IGNORECASE)
"""How the data set writes brackets and quotation marks."""


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
    refuted = {"SUPPORTS": False, "REFUTES": True}
    return read_rows(
        path,
        lambda row: Pair(row["claim"], row["evidence"], refuted[row["gold_label"]]),
        "a claim with evidence and a `gold_label`",
    )


def measure_contradiction(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Judge every pair by the local rules, sentence by sentence."""
    counted = rates([_is_opposed(pair) for pair in pairs], [p.refuted for p in pairs])
    return {
        "accuracy": counted["accuracy"],
        "refutes": {name: counted[name] for name in ("precision", "recall", "f1")},
        "pairs": len(pairs),
    }


def _is_opposed(pair: Pair) -> bool:
    claim, evidence = (
        [read_sentence(span.of(text)) for span in sentences(text)]
        for text in (_BRACKETS.sub(" ", pair.claim), _BRACKETS.sub(" ", pair.evidence))
    )
    return any(find_opposition(left, right) for left in claim for right in evidence)


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, the sentences it may rest on, and the sets that support it."""

    claim: str
    evidence: tuple[str, ...]
    supported: bool
    supporting: tuple[frozenset[int], ...]


def read_cases(path: Path) -> list[Case]:
    """
    Read JSON lines of `claim`, `evidence`, `label` and maybe `supporting_sentences`.

    Raises:
        UsageError: A line is not of that shape.
    """
    return read_rows(path, _case, "a claim with evidence and a `label`")


def _case(row: dict[str, Any]) -> Case:
    sets = row.get("supporting_sentences") or []
    return Case(
        row["claim"],
        tuple(row["evidence"]),
        row["label"] in {"supported", 1},
        tuple(frozenset(numbers) for numbers in sets if numbers),
    )


def measure_grounding(cases: Sequence[Case], threshold: float) -> dict[str, Any]:
    """Score every claim against its own evidence."""
    supports = [support(case.claim, case.evidence) for case in cases]
    scores = [scored.score for scored in supports]
    labels = [case.supported for case in cases]
    counted = rates([score >= threshold for score in scores], labels)
    return {
        "auc": auc(scores, labels),
        **{name: counted[name] for name in ("f1", "precision", "recall", "accuracy")},
        "citations": _citations(cases, supports),
        "claims": len(cases),
    }


def _citations(cases: Sequence[Case], supports: Sequence[Support]) -> dict[str, float]:
    """Average precision and recall over the claims that have evidence."""
    pairs = [
        max(
            (_overlap(frozenset(scored.sentences), gold) for gold in case.supporting),
            key=lambda pair: pair[0] + pair[1],
        )
        for case, scored in zip(cases, supports, strict=True)
        if case.supporting
    ]
    if not pairs:
        return {"precision": 0.0, "recall": 0.0}
    return {
        "precision": sum(precision for precision, _ in pairs) / len(pairs),
        "recall": sum(recall for _, recall in pairs) / len(pairs),
    }


def _overlap(cited: frozenset[int], gold: frozenset[int]) -> tuple[float, float]:
    hits = len(cited & gold)
    return (hits / len(cited) if cited else 0.0), hits / len(gold)
