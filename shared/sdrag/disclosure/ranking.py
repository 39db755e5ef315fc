"""
Ranking candidate constraints: the paper's five strategies (section IV-C2), and ours.

The five are printed over cosine similarities of every candidate with every retrieved
chunk, bound to it or not. With C candidates, D chunks and a query:

    concatenated      sim(c, concat(D))
    query             sim(c, q)
    maximum           max over d of sim(c, d)
    average           1/|D| * sum over d of sim(c, d)
    weighted_average  1/|D| * sum over d of sim(d, q) * sim(c, d)

The weighted average divides by the number of chunks, not by the sum of the weights.

The default, `hybrid`, asks what a constraint is close to, and which documents it is
about. Four observations decide, all on the texts of constraints and chunks alone. The
question is not among them, so nobody can word a question to push a constraint down.

1. A chunk is close to a constraint by meaning (the constraint as written, and its
   subject without the order it gives) and by the telling words they share.
2. A constraint is about a document when the document's best chunks are closer to it
   than other documents are, and closer than other constraints are to them. Both ways
   of standardising matter: without the second, documents of a general kind attract
   every constraint.
3. A retrieved chunk votes for its document, the first ones with more weight, and for
   itself: as far as the constraint is closer to it than to documents in general. A
   constraint in words that are near to everything is near to nothing in particular.
4. A constraint on a type that the retrieved chunks hold is likelier than one on a type
   that they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sdrag.errors import UsageError
from sdrag.vocabulary import SCORE_DIGITS, Constraint, Passage

__all__ = [
    "STRATEGIES",
    "Similarities",
    "Strategy",
    "Votes",
    "document_votes",
    "hybrid_scores",
    "rank",
]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Similarities:
    """
    Cosine similarities; rows are candidates, columns are retrieved chunks.

    Args:
        chunks: Of each candidate with each chunk, shape (C, D).
        query: Of each candidate with the query, shape (C,).
        concatenated: Of each candidate with all chunks as one text, shape (C,).
        chunk_query: Of each chunk with the query, shape (D,).
    """

    chunks: Matrix
    query: Vector
    concatenated: Vector
    chunk_query: Vector

    def __post_init__(self) -> None:
        candidates, chunks = self.chunks.shape
        if not chunks:
            raise UsageError("There is nothing to rank constraints against.")
        shapes = (self.query.shape, self.concatenated.shape, self.chunk_query.shape)
        if shapes != ((candidates,), (candidates,), (chunks,)):
            raise UsageError("The similarities' shapes do not fit one another.")


def _weighted(similarities: Similarities) -> Vector:
    weighted = similarities.chunks * similarities.chunk_query
    return np.asarray(weighted.sum(axis=1) / similarities.chunks.shape[1])


class Strategy(NamedTuple):
    """
    One of the paper's strategies.

    Args:
        score: Gives each candidate's score, shape (C,).
        reads: Which similarities it is made of; the others may be nan.
    """

    score: Callable[[Similarities], Vector]
    reads: frozenset[str]


STRATEGIES: Mapping[str, Strategy] = {
    "concatenated": Strategy(
        lambda similarities: similarities.concatenated, frozenset({"concatenated"})
    ),
    "query": Strategy(lambda similarities: similarities.query, frozenset({"query"})),
    "maximum": Strategy(
        lambda similarities: np.asarray(similarities.chunks.max(axis=1)),
        frozenset({"chunks"}),
    ),
    "average": Strategy(
        lambda similarities: np.asarray(similarities.chunks.mean(axis=1)),
        frozenset({"chunks"}),
    ),
    "weighted_average": Strategy(_weighted, frozenset({"chunks", "chunk_query"})),
}
"""The paper's strategies, by the names the policy uses."""


def rank(scores: Vector, ids: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """
    Order candidates by score, best first; equal scores keep the policy's order.

    Scores are rounded first: see `SCORE_DIGITS`.

    Args:
        scores: Shape (C,).
        ids: The candidates, in the policy's order.
    """
    rounded = scores.astype(np.float64).round(SCORE_DIGITS)
    order = np.argsort(-rounded, kind="stable")
    return tuple((ids[index], float(rounded[index])) for index in order)


_TEMPERATURE = 2.0
_CLOSE = 0.5
_TYPED = 0.4
_SILENCE = 1e-3
"""Added to votes before their logarithm is taken, so that no vote is no infinity."""


@dataclass(frozen=True, slots=True)
class Votes:
    """
    What the documents say of each constraint.

    Args:
        total: Of the retrieved documents, shape (constraints,).
        usual: How close documents in general are to it, shape (constraints,).
    """

    total: Vector
    usual: Vector


def document_votes(
    passages: Sequence[Passage],
    constraints: Sequence[Constraint],
    affinities: Mapping[str, Mapping[str, float]],
) -> Votes:
    """
    Return how much the retrieved documents speak for each constraint.

    Args:
        passages: Retrieved, best first.
        constraints: All candidates.
        affinities: Each document's closeness to each constraint, over the corpus.
    """
    documents = list(affinities)
    column_of = {document: index for index, document in enumerate(documents)}
    voices: dict[int, float] = {}
    for position, passage in enumerate(passages, start=1):
        at = column_of.get(passage.document_id or "")
        if at is not None:
            voices[at] = voices.get(at, 0.0) + 1 / position
    raw = np.array(
        [
            [affinities[document].get(rule.id, np.nan) for document in documents]
            for rule in constraints
        ],
        dtype=np.float32,
    ).reshape(len(constraints), len(documents))
    about = _standard(_standard(raw, axis=0), axis=1)
    weights = np.exp(about / _TEMPERATURE)
    shares: Matrix = weights / np.maximum(weights.sum(1, keepdims=True), 1e-9)
    loud: Vector = np.array(list(voices.values()), dtype=np.float32)
    return Votes(shares[:, list(voices)] @ loud, _usual(raw))


def hybrid_scores(votes: Votes, close: Matrix, typed: Vector) -> Vector:
    """
    Join what documents, chunks and types say of each constraint.

    Args:
        votes: From `document_votes`.
        close: Joined closeness to the retrieved chunks, shape (constraints, chunks).
        typed: Whether the chunks hold a type that the constraint names, 1 or 0, and
            nan for a constraint that names none, shape (constraints,).
    """
    said = np.log(votes.total + _SILENCE)
    closer = close.mean(axis=1) - votes.usual
    joined = _standard(said[:, None], axis=0) + _CLOSE * _standard(
        closer[:, None], axis=0
    )
    naming = np.isfinite(typed)
    usual = typed[naming].mean() if naming.any() else 0.0
    return np.asarray(joined[:, 0] + _TYPED * np.where(naming, typed - usual, 0.0))


def _usual(raw: Matrix) -> Vector:
    """Return the mean of what is known of each constraint; 0 where nothing is."""
    known = np.isfinite(raw)
    sums = np.where(known, raw, 0).sum(axis=1)
    return np.asarray(sums / np.maximum(known.sum(axis=1), 1), dtype=np.float32)


def _standard(values: Matrix, axis: int) -> Matrix:
    """Standardise along an axis; what is unknown or the same everywhere is 0."""
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=axis, keepdims=True), 1)
    held = np.where(known, values, 0)
    centred = np.where(known, values - held.sum(axis=axis, keepdims=True) / count, 0)
    deviation = np.sqrt((centred**2).sum(axis=axis, keepdims=True) / count)
    result = centred / np.where(deviation > 1e-6, deviation, np.inf)
    return np.asarray(result, dtype=np.float32)
