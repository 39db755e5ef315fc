"""
What a constraint means: sentences close to it, and in them the words that tell.

Constraint and sentences are embedded, each sentence alone and between its neighbours,
since a secret is often told beside the sentence that names it. A margin below the
closest sentence decides, so that a sentence nearly as close goes too. In those
sentences the words that carry meaning are withheld; frequent words, which hold a
sentence together, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.sentences import sentences
from sdrag.steps import Failure, Outcome, Reply, Steps, embed
from sdrag.vocabulary import Finding, Span

__all__ = ["similar"]

_FLOOR = 0.4
"""Below this mean cosine a sentence has nothing to do with the constraint. On the
articles that were tuned on, a lower floor cost five points of completeness for one of
privacy."""

_MARGIN = 0.02
_PLAIN = 4000
"""So many of the most frequent English words tell nothing."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d[\w.,:/-]*")


def similar(
    dossier: Dossier, readings: Sequence[Reading]
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find what constraints mean; a failed embedding is a `Failure`."""
    spans = sentences(dossier.text)
    if not readings or not spans:
        return Reply(())
    texts = [reading.subject for reading in readings]
    pieces = [span.of(dossier.text) for span in spans]
    outcomes = yield from embed([*texts, *pieces, *_surroundings(pieces)])
    vectors = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return outcome
        vectors.append(outcome.value)
    matrix = np.asarray(vectors, dtype=np.float32)
    cosines = matrix[: len(texts)] @ matrix[len(texts) :].T
    scores = np.asarray(
        (cosines[:, : len(spans)] + cosines[:, len(spans) :]) / 2, dtype=np.float32
    )
    return Reply(tuple(_found(dossier.text, spans, readings, scores)))


def _surroundings(pieces: Sequence[str]) -> list[str]:
    """Return each sentence between its neighbours."""
    return [
        " ".join(pieces[max(0, place - 1) : place + 2]) for place in range(len(pieces))
    ]


def _found(
    text: str,
    spans: Sequence[Span],
    readings: Sequence[Reading],
    scores: np.ndarray[tuple[Any, ...], np.dtype[np.float32]],
) -> Iterator[Finding]:
    for reading, row in zip(readings, scores, strict=True):
        for place in np.flatnonzero(row >= max(_FLOOR, row.max() - _MARGIN)):
            for span in _telling(text, spans[int(place)], reading):
                yield Finding(span, reading.constraint.id, "similar", 0.5)


def _telling(text: str, sentence: Span, reading: Reading) -> Iterator[Span]:
    """Yield the words of a sentence that carry meaning which is not given away yet."""
    subject = "" if reading.statement else reading.subject
    said = {word.lower() for word in _WORD.findall(subject)}
    ranks = common_words()
    for match in _WORD.finditer(text, sentence.start, sentence.end):
        word = match.group().lower()
        if word not in said and ranks.get(word, _PLAIN) >= _PLAIN:
            yield Span(*match.span())
