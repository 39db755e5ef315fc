"""
What a constraint means: sentences close to it, and in them the words that tell.

Constraint and sentences are embedded; a margin below the closest sentence decides, so
that a sentence nearly as close goes too. In those sentences the words that carry
meaning are withheld, the ones that hold a sentence together stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.sentences import sentences
from sdrag.steps import Failure, Outcome, Reply, Steps, embed
from sdrag.vocabulary import Finding, Span

__all__ = ["similar"]

_FLOOR = 0.20
_MARGIN = 0.06
_PLAIN = 400
_NEIGHBOUR = 0.5
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d[\w.,:/-]*")


def similar(
    dossier: Dossier, readings: Sequence[Reading]
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find what constraints mean; a failed embedding is a `Failure`."""
    spans = sentences(dossier.text)
    if not readings or not spans:
        return Reply(())
    texts = [reading.subject for reading in readings]
    outcomes = yield from embed([*texts, *(span.of(dossier.text) for span in spans)])
    vectors = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return outcome
        vectors.append(outcome.value)
    matrix = np.asarray(vectors)
    scores = matrix[: len(texts)] @ matrix[len(texts) :].T
    found: list[Finding] = []
    for reading, row in zip(readings, scores, strict=True):
        for place in np.flatnonzero(row >= max(_FLOOR, row.max() - _MARGIN)):
            found.extend(
                Finding(span, reading.constraint.id, "similar", 0.5)
                for span in _telling(dossier.text, spans[place], reading.subject)
            )
    return Reply(tuple(found))


def _telling(text: str, sentence: Span, subject: str) -> Iterator[Span]:
    """Yield the words of a sentence that carry meaning the constraint lacks."""
    said = {word.lower() for word in _WORD.findall(subject)}
    ranks = common_words()
    for match in _WORD.finditer(text, sentence.start, sentence.end):
        word = match.group().lower()
        if word not in said and ranks.get(word, _PLAIN) >= _PLAIN:
            yield Span(*match.span())
