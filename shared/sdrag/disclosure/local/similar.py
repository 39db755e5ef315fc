"""
Sentences close in meaning to a constraint.

The constraint and every sentence are embedded once. A margin below the closest sentence
decides, so that a sentence nearly as close goes too: privacy first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.sentences import sentences
from sdrag.steps import Failure, Outcome, Reply, Steps, embed
from sdrag.vocabulary import Finding

__all__ = ["similar"]

_FLOOR = 0.25
_MARGIN = 0.10


def similar(
    dossier: Dossier, readings: Sequence[Reading]
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find the sentences a constraint means; a failed embedding is a `Failure`."""
    spans = sentences(dossier.text)
    if not readings or not spans:
        return Reply(())
    texts = [reading.constraint.text for reading in readings]
    outcomes = yield from embed([*texts, *(span.of(dossier.text) for span in spans)])
    vectors = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return outcome
        vectors.append(outcome.value)
    matrix = np.asarray(vectors)
    scores = matrix[: len(texts)] @ matrix[len(texts) :].T
    return Reply(
        tuple(
            Finding(spans[place], reading.constraint.id, "similar")
            for reading, row in zip(readings, scores, strict=True)
            for place in np.flatnonzero(row >= max(_FLOOR, row.max() - _MARGIN))
        )
    )
