"""
Ranking candidate constraints: the paper's five strategies (SD-RAG, section IV-C2).

With C candidates, D retrieved chunks, a query q and cosine similarity `sim`:

    concatenated      sim(c, concat(D))
    query             sim(c, q)
    maximum           max over d of sim(c, d)
    average           1/|D| * sum over d of sim(c, d)
    weighted_average  1/|D| * sum over d of sim(d, q) * sim(c, d)

The weighted average divides by the number of chunks, not by the sum of the weights.
Vectors of constraints and chunks are remembered by the wrapper, in memory; those of the
question, and of the chunks as one text, are not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdrag.effects.steps import Steps, embed, replied
from sdrag.state import State
from sdrag.vocabulary import SCORE_DIGITS, Constraint, Passage

__all__ = ["STRATEGIES", "compare", "rank"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

STRATEGIES = ("concatenated", "query", "maximum", "average", "weighted_average")
"""The paper's strategies, by the names the policy uses."""


def rank(
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    state: State,
    strategy: str,
) -> Steps[tuple[tuple[str, float], ...]]:
    """
    Rank candidates, best first; equal scores keep the policy's order.

    Args:
        rules: The candidates.
        passages: As retrieved, at least one.
        query: Embedded by `query` and `weighted_average` alone.
        state: Remembers vectors.
        strategy: One of `STRATEGIES`.

    Returns:
        The ids and scores, rounded to `SCORE_DIGITS`.

    Raises:
        SdragError: The embeddings failed.
    """
    scores = yield from _scores(rules, passages, query, state, strategy)
    rounded = scores.astype(np.float64).round(SCORE_DIGITS)
    order = np.argsort(-rounded, kind="stable")
    return tuple((rules[index].id, float(rounded[index])) for index in order)


def _scores(
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    state: State,
    strategy: str,
) -> Steps[Vector]:
    """Return each candidate's score, shape (C,)."""
    written, texts = [r.text for r in rules], [p.text for p in passages]
    if strategy == "concatenated":
        close = yield from _compare(written, ["\n".join(texts)], state, remember=False)
        return close[:, 0]
    if strategy == "query":
        constraints = yield from _embedded(written, state)
        return _cosines(constraints, (yield from _embedded_query(query)))[:, 0]
    close = yield from _compare(written, texts, state)
    if strategy == "maximum":
        return np.asarray(close.max(axis=1))
    if strategy == "weighted_average":
        asked = yield from _embedded_query(query)
        close = close * _cosines(asked, (yield from _embedded(texts, state)))
    return np.asarray(close.sum(axis=1) / len(texts))


def compare(
    constraints: Sequence[Constraint], passages: Sequence[Passage], state: State
) -> Steps[Matrix]:
    """
    Return the cosines of constraints and chunks of a corpus, which are not remembered.

    Args:
        constraints: As written; shape (C,).
        passages: Chunks; shape (D,).
        state: Remembers the vectors of constraints.

    Returns:
        Shape (C, D), rounded to `SCORE_DIGITS`.

    Raises:
        SdragError: The embeddings failed.
    """
    return (
        yield from _compare(
            [rule.text for rule in constraints],
            [passage.text for passage in passages],
            state,
            remember=False,
        )
    )


def _compare(
    constraints: Sequence[str],
    texts: Sequence[str],
    state: State,
    *,
    remember: bool = True,
) -> Steps[Matrix]:
    kept, passing = (texts, ()) if remember else ((), texts)
    vectors = yield from _embedded([*constraints, *kept], state, passing=passing)
    return _cosines(vectors[: len(constraints)], vectors[len(constraints) :])


def _cosines(rows: Matrix, columns: Matrix) -> Matrix:
    """Multiply so precisely that a cosine does not depend on what is next to it."""
    cosines = rows.astype(np.float64) @ columns.astype(np.float64).T
    return cosines.round(SCORE_DIGITS).astype(np.float32)


def _embedded_query(query: str) -> Steps[Matrix]:
    (outcome,) = yield from embed([query], query=True)
    vector: Vector = replied(outcome)
    return vector[None]


def _embedded(
    texts: Sequence[str], state: State, *, passing: Sequence[str] = ()
) -> Steps[Matrix]:
    """
    Return vectors of texts, and of `passing` ones, which are not remembered.

    Only what is not remembered is embedded, in one step.
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
