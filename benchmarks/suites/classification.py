"""Counting what a yes/no judgment gets right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """
    Return how often a positive scores above a negative; a tie counts half.

    Returns:
        The area under the ROC curve, or NaN where one of the two kinds is missing.
    """
    known, is_positive = np.array(scores), np.array(labels, dtype=bool)
    positives, negatives = known[is_positive], np.sort(known[~is_positive])
    if not len(positives) or not len(negatives):
        return float("nan")
    below = np.searchsorted(negatives, positives, "left")
    level = np.searchsorted(negatives, positives, "right")
    return float((below + level).mean() / 2 / len(negatives))


def rates(predicted: Sequence[bool], labels: Sequence[bool]) -> dict[str, float]:
    """
    Return precision, recall, F1, accuracy and the rate of false positives.

    A rate of nothing is 0.
    """
    pairs = list(zip(predicted, labels, strict=True))
    hits = sum(yes and true for yes, true in pairs)
    precision = _share(hits, sum(predicted))
    recall = _share(hits, sum(labels))
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1(precision, recall),
        "accuracy": _share(sum(yes == true for yes, true in pairs), len(pairs)),
        "fpr": _share(sum(predicted) - hits, len(labels) - sum(labels)),
    }


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    return _share(2 * precision * recall, precision + recall)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
