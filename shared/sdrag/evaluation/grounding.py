"""
How well the local scorer tells supported claims from the rest, and finds the evidence.

WiCE's claims are sentences of Wikipedia, its evidence the sentences of the pages that
they cite. A claim that is supported in part counts with the rest, as in the paper
(Kamoi et al. 2023, section 4.1). Cited sentences are compared with the one of the
annotated sets that they match best.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.evaluation.classification import auc, rates
from sdrag.guardrails.support import Support, support

__all__ = ["Case", "measure", "read_cases"]


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
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            held = json.loads(line)
            sets = held.get("supporting_sentences") or []
            case = Case(
                held["claim"],
                tuple(held["evidence"]),
                held["label"] in {"supported", 1},
                tuple(frozenset(one) for one in sets if one),
            )
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"Line {number} is no claim with evidence.") from None
        cases.append(case)
    return cases


def measure(cases: Sequence[Case], threshold: float) -> dict[str, Any]:
    """Score every claim against its own evidence."""
    found = [support(case.claim, case.evidence) for case in cases]
    scores = [one.score for one in found]
    labels = [case.supported for case in cases]
    counted = rates([score >= threshold for score in scores], labels)
    return {
        "auc": auc(scores, labels),
        **{name: counted[name] for name in ("f1", "precision", "recall", "accuracy")},
        "citations": _citations(cases, found),
        "claims": len(cases),
    }


def _citations(cases: Sequence[Case], found: Sequence[Support]) -> dict[str, float]:
    """Average precision and recall over the claims that have evidence."""
    pairs = [
        max(
            (_overlap(frozenset(one.sentences), gold) for gold in case.supporting),
            key=lambda pair: pair[0] + pair[1],
        )
        for case, one in zip(cases, found, strict=True)
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
