"""
What a constraint means: sentences close to it, and in them the words that tell.

Constraint and sentences are embedded, each sentence alone and between its neighbours,
since a secret is often in the sentence next to the one that names it. A sentence that
is close by itself goes whatever is around it; one that is close with its neighbours
goes too where it is among the closest of its document. In those sentences the words
that carry meaning are withheld; frequent words, which hold a sentence together, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.engine.steps import Failure, Outcome, Reply, Steps, embed
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


Matrix = np.ndarray[tuple[Any, ...], np.dtype[np.float32]]


def similar(
    documents: Sequence[JoinedText], asked: Sequence[ParsedConstraint]
) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """Find what constraints mean; a failed embedding is a `Failure`."""
    texts = [parsed.subject for parsed in asked]
    pieces = [
        [s.of(document.text) for s in document.sentences] for document in documents
    ]
    around = [_surroundings(own) for own in pieces]
    if not texts or not any(pieces):
        return [Reply(()) for _ in documents]
    outcomes = yield from embed([*texts, *chain(*pieces, *around)])
    vectors = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return [outcome for _ in documents]
        vectors.append(outcome.value)
    matrix = np.asarray(vectors, dtype=np.float32)
    cosines = matrix[: len(texts)] @ matrix[len(texts) :].T
    by_itself, with_neighbours = np.split(cosines, 2, axis=1)
    ends = np.cumsum([len(own) for own in pieces])[:-1]
    return [
        Reply(tuple(_found(document, asked, alone, (alone + others) / 2)))
        for document, alone, others in zip(
            documents,
            np.split(by_itself, ends, axis=1),
            np.split(with_neighbours, ends, axis=1),
            strict=True,
        )
    ]


def _surroundings(pieces: Sequence[str]) -> list[str]:
    """Return each sentence between its neighbours."""
    return [
        " ".join(pieces[max(0, index - 1) : index + 2]) for index in range(len(pieces))
    ]


def _found(
    document: JoinedText,
    asked: Sequence[ParsedConstraint],
    alone: Matrix,
    between: Matrix,
) -> Iterator[Finding]:
    for index, parsed in enumerate(asked if document.sentences else ()):
        best = max(_FLOOR, between[index].max() - _MARGIN)
        close = (alone[index] >= _FLOOR) | (between[index] >= best)
        for number in np.flatnonzero(close):
            sentence = document.sentences[int(number)]
            for span in _telling(document.text, sentence, parsed):
                yield Finding(span, parsed.constraint.id, "similar", 0.5)


def _telling(text: str, sentence: Span, parsed: ParsedConstraint) -> Iterator[Span]:
    """Yield the words of a sentence that carry meaning which is not given away yet."""
    subject = "" if parsed.statement else parsed.subject
    said = {word.lower() for word in _WORD.findall(subject)}
    ranks = common_words()
    for match in _WORD.finditer(text, sentence.start, sentence.end):
        word = match.group().lower()
        if word not in said and ranks.get(word, _PLAIN) >= _PLAIN:
            yield Span(*match.span())
