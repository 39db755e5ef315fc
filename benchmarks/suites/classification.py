"""Counting what a yes/no judgment gets right."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["auc", "f1", "rates"]


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """
    Return how often a positive scores above a negative; a tie counts half.

    Returns:
        The area under the ROC curve, or NaN where one of the two kinds is missing.
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return float("nan")
    order = sorted(range(len(scores)), key=scores.__getitem__)
    wins = 0.0
    below = start = 0
    while start < len(order):
        end = start
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        tied = sum(labels[index] for index in order[start:end])
        lower = end - start - tied
        wins += tied * (below + lower / 2.0)
        below += lower
        start = end
    return wins / (positives * negatives)


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
