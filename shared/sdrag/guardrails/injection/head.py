"""
The trained head: a logistic regression over the features of a window.

Most injections are plain requests with no "ignore previous" (BIPIA): "What is the
capital of Brazil?" is harmless as a prompt and out of place in an invoice. So the
features are the embedding of a window; its contrast with the rest of the passage (how
close the closest other window is, and the mean of all others); and a few marks of its
form: an imperative, a question, the words "your answer", code, a link.

The weights ship as plain numbers in `head.json`, so that loading them runs nothing and
a change can be read. `benchmarks/tools/train_injection.py` makes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.embeddings import DIMENSIONS
from sdrag.errors import InternalError
from sdrag.vocabulary import SCORE_DIGITS

if TYPE_CHECKING:
    Row = np.ndarray[tuple[int], np.dtype[np.float64]]
    Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]

__all__ = ["FORMS", "WIDTH", "Head", "features", "has_context", "shipped"]

LEAST_CONTEXT = 8
"""Words of other windows without which nothing can be out of place."""

_VERBS = (
    r"(?:add|adjust|alter|analy[sz]e|append|apply|arrange|augment|begin|break down"
    r"|calculate|change|close|combine|compare|compose|compute|conclude|convert|create"
    r"|define|describe|design|develop|discuss|draft|embed|emphasi[sz]e|encode|encrypt"
    r"|end|enhance|enrich|execute|explain|express|find|format|fuse|generate|give|group"
    r"|highlight|identify|implement|include|incorporate|insert|integrate|introduce"
    r"|jumble|list|make|mention|merge|mix|modify|name|outline|present|produce|promote"
    r"|propose|provide|rearrange|recommend|remove|render|replace|rephrase|represent"
    r"|reverse|revise|rewrite|say|scramble|share|show|simulate|solve|start|state"
    r"|structure|substitute|suggest|summari[sz]e|swap|tease|teach|tell|translate"
    r"|transform|use|utili[sz]e|weave|write)"
)
_REPLY = r"(?:answer|response|reply|replies|output|message|code|text|solution|writing)"
_WH = r"(?:what|which|who|whose|when|where|why|how)"
FORMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:^|[.!?:|] ?)(?:please |kindly )?{_VERBS}\b",
        rf"\b{_VERBS}\b[^.!?]{{0,80}}?\byour {_REPLY}",
        rf"\b(?:in|to|of|from|with|within) (?:the |your ){_REPLY}",
        rf"(?:^|[.!?:|] ?){_WH}(?:'s|'re)?\b[^?]{{0,200}}\?",
        r"(?:^|[.!?:|] ?)(?:can|could|would|will) you\b",
        r"\?",
        r"\b(?:you|your)\b",
        r"\b(?:i|we|my|our|me|us)\b",
        r"```|\b(?:import|def|print)\b[ (]|[a-z]\(['\")]",
        r"https?:|www\.|\b\w{2,30}\.(?:com|org|net|xyz|io)\b",
        r"\b(?:users?|readers?)\b",
        r"\d",
        r"[\"'][^\"']{4,80}[\"']",
        r"\b(?:code|snippet|function|python|javascript|sql)\b",
        r"\b(?:subject|content|received date|email_from):",
        r"[$€£%•]",
    )
)

CONTRASTS = 4
WIDTH = DIMENSIONS + CONTRASTS + len(FORMS) + 1
"""How many numbers describe a window."""


def features(windows: Sequence[str], vectors: Vectors) -> Matrix:
    """
    Describe each window of one passage.

    Args:
        windows: Their texts, folded, in order.
        vectors: Their embeddings, rows of unit length.

    Returns:
        One row a window: embedding, contrast, form.
    """
    return np.hstack([vectors.astype(float), _contrast(vectors), _forms(windows)])


def has_context(windows: Sequence[str]) -> bool:
    """Say whether a passage has enough text around a window for it to stand out."""
    lengths = [len(window.split()) for window in windows]
    return len(lengths) > 1 and sum(lengths) - max(lengths) >= LEAST_CONTEXT


def _contrast(vectors: Vectors) -> Matrix:
    """Return how close each window is to the closest other, and to all others."""
    count = len(vectors)
    if count < 2:
        return np.full((count, CONTRASTS), 0.5)
    closeness = (vectors @ vectors.T).astype(float)
    np.fill_diagonal(closeness, -1.0)
    ranked = np.sort(closeness, axis=1)[:, ::-1]
    mean = (closeness.sum(axis=1) + 1.0) / (count - 1)
    overall = mean.mean()
    second = ranked[:, 1] if count > 2 else ranked[:, 0]
    return np.stack([ranked[:, 0], second, mean, mean - overall], axis=1)


def _forms(windows: Sequence[str]) -> Matrix:
    rows = []
    for window in windows:
        marks = [float(bool(form.search(window))) for form in FORMS]
        rows.append([*marks, min(len(window.split()), 50) / 50.0])
    return np.array(rows, dtype=float).reshape(len(windows), len(FORMS) + 1)


_FURTHEST = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """
    What turns features into the probability of an injection.

    Args:
        weights: One for each feature.
        bias: Added to their sum.
    """

    weights: Row
    bias: float

    def __post_init__(self) -> None:
        if self.weights.shape != (WIDTH,) or not np.isfinite(self.weights).all():
            raise InternalError("The weights do not fit the features.")

    def probabilities(self, features: Matrix) -> Row:
        """Return, for each row of features, the probability of an injection."""
        reach = np.clip(features @ self.weights + self.bias, -_FURTHEST, _FURTHEST)
        return np.asarray(1.0 / (1.0 + np.exp(-reach))).round(SCORE_DIGITS)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, in the form that is shipped."""
        return {
            "bias": round(self.bias, 5),
            "weights": [round(float(weight), 5) for weight in self.weights],
        }


@lru_cache(maxsize=1)
def shipped() -> Head:
    """Load the head that comes with the package."""
    source = files("sdrag.guardrails.injection").joinpath("head.json")
    shipped_head = json.loads(source.read_text(encoding="utf-8"))
    return Head(
        np.array(shipped_head["weights"], dtype=float), float(shipped_head["bias"])
    )
