"""
How close constraints are to chunks: looked up, or embedded now.

How close a constraint is to a chunk is known since the chunk was bound. Embedded is
what nobody has compared: a chunk that was never bound or was edited since, a constraint
that is new or was reworded; and what only the question brings, which is the question
and the chunks as one text. Vectors of constraints and chunks that had to be embedded
are remembered by the wrapper, in memory; those of the question are not.

In addition to vectors, the words that they share count. Words are compared without
their endings and weighed by how rare they are in English, not in the corpus: so the
share of a pair never changes when other texts are added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.ranking import Similarities
from sdrag.engine.steps import Steps, compute, embed, replied
from sdrag.state import Closeness, State
from sdrag.vocabulary import SCORE_DIGITS, Constraint, Passage

__all__ = ["closeness", "joined", "overlap", "similarities"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_WORD = re.compile(r"[^\W\d_]{3,}")
_ENDINGS = ("ing", "ed", "es", "s")
_SHORTEST = 4
_UNKNOWN = 60_000


def overlap(wanted: Sequence[str], texts: Sequence[str]) -> Matrix:
    """
    Return, for each wanted text, the weighed share of its words in each text.

    Args:
        wanted: What constraints are about.
        texts: Chunks.

    Returns:
        Shape (wanted, texts), from 0 to 1.
    """
    held = [set(_stems(text)) for text in texts]
    shares = np.zeros((len(wanted), len(texts)), dtype=np.float32)
    for row, text in enumerate(wanted):
        weights = {stem: _weight(word) for stem, word in _stems(text).items()}
        total = sum(weights.values())
        for column, stems in enumerate(held if total else ()):
            found = sum(weights[stem] for stem in weights.keys() & stems)
            shares[row, column] = found / total
    return shares


def _stems(text: str) -> dict[str, str]:
    return {_stem(word): word for word in _WORD.findall(text.lower())}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word


def _weight(word: str) -> float:
    return math.log(2 + common_words().get(word, _UNKNOWN))


Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
Compare = Callable[[Sequence[Constraint], Sequence[str]], Steps[Matrix]]
"""Compares constraints with texts by embedding them, shape (constraints, texts)."""

_LEXICAL = 0.25


def closeness(
    constraints: Sequence[Constraint],
    texts: Sequence[str],
    state: State,
    *,
    once: bool = False,
) -> Steps[Closeness]:
    """
    Embed constraints and texts, and return how close each is to each.

    Args:
        constraints: As written, and what they are about without the order they give.
        texts: Chunks.
        state: Remembers their vectors in memory.
        once: The chunks are not wanted again soon, so they are not remembered.

    Raises:
        SdragError: The embeddings failed.
    """
    subjects = [parse(constraint).subject for constraint in constraints]
    written = [constraint.text for constraint in constraints]
    kept, passing = ((), texts) if once else (texts, ())
    vectors = yield from _embedded([*written, *subjects, *kept], state, passing=passing)
    count = len(written)
    cosines = _cosines(vectors[: 2 * count], vectors[2 * count :])
    dense, about = cosines[:count], (cosines[:count] + cosines[count:]) / 2
    return Closeness(dense, about + _LEXICAL * overlap(subjects, texts))


def _cosines(one: Matrix, other: Matrix) -> Matrix:
    """Multiply so precisely that a cosine does not depend on what is next to it."""
    cosines = one.astype(np.float64) @ other.astype(np.float64).T
    return cosines.round(SCORE_DIGITS).astype(np.float32)


def _embedded(
    texts: Sequence[str], state: State, *, passing: Sequence[str] = ()
) -> Steps[Matrix]:
    """
    Return vectors of texts, and embed only those that are not remembered.

    Args:
        texts: Constraints and chunks: remembered from now on.
        state: Remembers, if a wrapper took it as its own.
        passing: Embedded with them, and not remembered.

    Returns:
        One row for each text and for each that is passing, of unit length.

    Raises:
        SdragError: The embeddings failed.
    """
    keys = [state.keys.of("vector", text) for text in texts]
    rows = state.vectors.get(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
    outcomes = yield from embed([*new.values(), *passing])
    vectors: list[Vector] = [replied(outcome) for outcome in outcomes]
    made = dict(zip(new, vectors, strict=False))
    state.vectors.put(made)
    rows |= made
    return np.stack([*(rows[key] for key in keys), *vectors[len(new) :]])


def similarities(
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    state: State,
    reads: frozenset[str],
) -> Steps[Similarities]:
    """
    Return the similarities that a strategy reads; the others are nan.

    Args:
        rules: The candidates.
        passages: As retrieved.
        query: Embedded only where a strategy compares with it.
        state: Knows what was bound.
        reads: Names of `Similarities`.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    written = [rule.text for rule in rules]
    texts = [passage.text for passage in passages]
    chunks = np.full((len(rules), len(texts)), np.nan, dtype=np.float32)
    to_query, to_all = (np.full(len(rules), np.nan, np.float32) for _ in range(2))
    chunk_query = np.full(len(texts), np.nan, dtype=np.float32)
    if "chunks" in reads:
        chunks = yield from _dense(rules, passages, state)
    if "concatenated" in reads:
        passing = ["\n".join(texts)]
        vectors = yield from _embedded(written, state, passing=passing)
        to_all = _cosines(vectors[:-1], vectors[-1:])[:, 0]
    if reads & {"query", "chunk_query"}:
        (outcome,) = yield from embed([query], query=True)
        asked: Vector = replied(outcome)
        if "query" in reads:
            own = yield from _embedded(written, state)
            to_query = _cosines(own, asked[None])[:, 0]
        if "chunk_query" in reads:
            read = yield from _embedded(texts, state)
            chunk_query = _cosines(read, asked[None])[:, 0]
    return Similarities(chunks, to_query, to_all, chunk_query)


def joined(
    rules: Sequence[Constraint], passages: Sequence[Passage], state: State
) -> Steps[Matrix]:
    """
    Return the hybrid strategy's closeness, shape (constraints, passages).

    Args:
        rules: The candidates.
        passages: As retrieved.
        state: Knows what was bound.

    Raises:
        SdragError: The store or the embeddings failed.
    """

    def compare(some: Sequence[Constraint], texts: Sequence[str]) -> Steps[Matrix]:
        return (yield from closeness(some, texts, state)).joined

    known = yield from _known(rules, passages, state)
    return (yield from _completed(known.joined, rules, passages, compare))


def _dense(
    rules: Sequence[Constraint], passages: Sequence[Passage], state: State
) -> Steps[Matrix]:
    """Return the cosines of constraints and chunks, shape (constraints, passages)."""

    def compare(some: Sequence[Constraint], texts: Sequence[str]) -> Steps[Matrix]:
        written = [rule.text for rule in some]
        vectors = yield from _embedded([*written, *texts], state)
        return _cosines(vectors[: len(some)], vectors[len(some) :])

    known = yield from _known(rules, passages, state)
    return (yield from _completed(known.dense, rules, passages, compare))


def _known(
    rules: Sequence[Constraint], passages: Sequence[Passage], state: State
) -> Steps[Closeness]:
    (answer,) = yield from compute(
        lambda found: state.affinities.known(found, rules), [passages]
    )
    return replied(answer)


def _completed(
    known: Matrix,
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    compare: Compare,
) -> Steps[Matrix]:
    """Fill in what is not known; whatever has no gap is not embedded."""
    gaps = np.isnan(known)
    if not gaps.any():
        return known
    rows, columns = (np.flatnonzero(gaps.any(axis=axis)).tolist() for axis in (1, 0))
    found = yield from compare(
        [rules[row] for row in rows], [passages[column].text for column in columns]
    )
    completed, part = known.copy(), np.ix_(rows, columns)
    completed[part] = np.where(gaps[part], found, known[part])
    return completed
