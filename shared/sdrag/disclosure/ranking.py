"""
Ranking candidate constraints (SD-RAG, section IV-C2).

Five strategies as the paper prints them, over cosine similarities of every candidate
with every retrieved chunk, bound to it or not. With C candidates, D chunks and a query:

    concatenated      sim(c, concat(D))
    query             sim(c, q)
    maximum           max over d of sim(c, d)
    average           1/|D| * sum over d of sim(c, d)
    weighted_average  1/|D| * sum over d of sim(d, q) * sim(c, d)

The weighted average divides by the number of chunks, not by the sum of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sdrag.errors import UsageError

__all__ = ["STRATEGIES", "Similarities", "Strategy", "rank"]

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

    @classmethod
    def of(
        cls, constraints: Matrix, chunks: Matrix, query: Vector, concatenated: Vector
    ) -> Similarities:
        """Compute them from vectors of unit length, one a row."""
        return cls(
            chunks=constraints @ chunks.T,
            query=constraints @ query,
            concatenated=constraints @ concatenated,
            chunk_query=chunks @ query,
        )


def _weighted(similarities: Similarities) -> Vector:
    weighted = similarities.chunks * similarities.chunk_query
    return np.asarray(weighted.sum(axis=1) / similarities.chunks.shape[1])


@dataclass(frozen=True, slots=True)
class Strategy:
    """
    One of the paper's strategies.

    Args:
        score: Gives each candidate's score, shape (C,).
        reads: Which similarities it is made of; the others may be nan.
    """

    score: Callable[[Similarities], Vector]
    reads: frozenset[str]

    def __call__(self, similarities: Similarities) -> Vector:
        """Return the candidates' scores."""
        return self.score(similarities)


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

    Args:
        scores: Shape (C,).
        ids: The candidates, in the policy's order.
    """
    order = np.argsort(-scores, kind="stable")
    return tuple((ids[place], float(scores[place])) for place in order)
