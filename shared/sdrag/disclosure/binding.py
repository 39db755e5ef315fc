"""
Which constraints a question enforces, and which a model is asked about.

Constraints are bound at ingest (SD-RAG, section III-C1): "the constraint binder
attaches each constraint to the top N most similar chunks, retrieved by cosine
similarity of text embeddings; each chunk stores its similarity score."

Without a top K every constraint that binds the principal is enforced, and candidates
are chosen only where a model has something left to read. Candidates are the constraints
bound to a retrieved chunk; all, where the policy has no more than `FEW` or a chunk was
never bound; and those that are always enforced. A top K chooses among candidates by one
of the paper's five rankings (section IV-C2), so what it leaves out is reported. With D
retrieved chunks, a query q and cosine similarity `sim`, a candidate c scores

    concatenated      sim(c, concat(D))
    query             sim(c, q)
    maximum           max over d of sim(c, d)
    average           1/|D| * sum over d of sim(c, d)
    weighted_average  1/|D| * sum over d of sim(d, q) * sim(c, d)

The weighted average divides by the number of chunks, not by the sum of the weights.
Vectors of constraints and retrieved chunks are remembered by the wrapper, in memory;
those of the question, of the chunks as one text, and of a corpus are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdrag.disclosure.setup import DisclosureSetup
from sdrag.effects.steps import Steps, embed, replied
from sdrag.policy import DisclosureSection, binds
from sdrag.state import State
from sdrag.state.bindings import Binding
from sdrag.vocabulary import (
    SCORE_DIGITS,
    Constraint,
    Decision,
    Passage,
    Principal,
)

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

STRATEGIES = ("concatenated", "query", "maximum", "average", "weighted_average")
"""The paper's strategies, by the names the policy uses."""

FEW = 40
"""Where a policy has no more constraints, every one of them is a candidate."""


def bind(
    passages: Sequence[Passage],
    constraints: Sequence[Constraint],
    state: State,
    section: DisclosureSection,
) -> Steps[None]:
    """
    Attach constraints to their most similar passages and keep the scores.

    Args:
        passages: A batch of the corpus; the state closes over all batches.
        constraints: All of the policy's. Those marked `always` need no binding.
        state: Where bindings live.
        section: Gives N and the similarity floor.

    Raises:
        SdragError: The embeddings or the store failed.
    """
    rules = [rule for rule in constraints if not rule.always]
    if not passages or not rules:
        return
    close = yield from _compare(
        [r.text for r in rules], [p.text for p in passages], state, remember=False
    )
    best: list[Binding] = []
    for rule, row in zip(rules, close.tolist(), strict=True):
        scored = zip(row, passages, strict=True)
        bindings = [Binding(rule.id, p.id, round(s, SCORE_DIGITS)) for s, p in scored]
        bindings.sort(key=lambda binding: (-binding.score, binding.passage_id))
        above = sum(b.score >= section.similarity_floor for b in bindings)
        best += bindings[: max(section.bind_top_n, above)]
    state.bindings.write(
        passages,
        rules,
        best,
        top_n=section.bind_top_n,
        floor=section.similarity_floor,
    )


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The outcome of binding and ranking.

    Args:
        applied: To be enforced, in the order of the policy.
        dropped: Candidates that the policy's top K left out.
        asked: The ids of those that a model is asked about.
    """

    applied: tuple[Constraint, ...]
    dropped: tuple[Constraint, ...] = ()
    asked: frozenset[str] = frozenset()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What a top K left out, for the audit."""
        if not self.dropped:
            return ()
        names = tuple(rule.id for rule in self.dropped)
        return (Decision("constraints", "dropped", "ranking", "top-k", names),)


def choose(
    passages: Sequence[Passage],
    query: str,
    binding: Sequence[Constraint],
    state: State,
    section: DisclosureSection,
) -> Steps[Candidates]:
    """
    Choose the constraints for these passages, among those that bind the principal.

    Args:
        passages: As retrieved.
        query: Ranks constraints, under a top K by some strategies.
        binding: The constraints to choose among, in the order of the policy.
        state: Knows what was bound.
        section: Gives the strategy and the top K.
    """
    rules = [rule for rule in binding if not rule.always]
    names = {rule.id for rule in rules}
    if passages and len(rules) > FEW:
        names = _find_bound(passages, rules, state)
    kept = names
    if section.limited and passages and len(names) > (section.top_k or 0):
        listed = [rule for rule in rules if rule.id in names]
        order = yield from rank(listed, passages, query, state, section.rank_by)
        kept = {name for name, _ in order[: section.top_k]}
    chosen = tuple(rule for rule in binding if rule.always or rule.id in kept)
    return Candidates(
        applied=chosen if section.limited else tuple(binding),
        dropped=tuple(rule for rule in rules if rule.id in names - kept),
        asked=frozenset(rule.id for rule in chosen),
    )


def _find_bound(
    passages: Sequence[Passage], rules: Sequence[Constraint], state: State
) -> set[str]:
    """Return what is bound to one of the passages; all where one was never bound."""
    names: set[str] = set()
    for scores in state.bindings.read(passages, rules):
        if scores is None:
            return {rule.id for rule in rules}
        names |= scores.keys()
    return names


def choose_for(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[Candidates]:
    """
    Choose what a question enforces, and what a model is asked about.

    Without a top K all that binds the principal is enforced. What a model is asked
    about does not depend on the principal then: what is found holds for everybody.
    """
    section = setup.policy.disclosure
    asker = None if section.restore else principal  # who gets the values later
    binding = tuple(rule for rule in setup.rules if binds(rule, asker))
    if section.limited:
        return (yield from choose(passages, query, binding, setup.state, section))
    if not setup.has_model:
        return Candidates(binding)
    every = yield from choose(passages, query, setup.rules, setup.state, section)
    return replace(every, applied=binding)


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
        constraints = yield from _embed(written, state)
        return _cosines(constraints, (yield from _embed_query(query)))[:, 0]
    close = yield from _compare(written, texts, state)
    if strategy == "maximum":
        return np.asarray(close.max(axis=1))
    if strategy == "weighted_average":
        asked = yield from _embed_query(query)
        close = close * _cosines(asked, (yield from _embed(texts, state)))
    return np.asarray(close.sum(axis=1) / len(texts))


def _compare(
    constraints: Sequence[str],
    texts: Sequence[str],
    state: State,
    *,
    remember: bool = True,
) -> Steps[Matrix]:
    kept, passing = (texts, ()) if remember else ((), texts)
    vectors = yield from _embed([*constraints, *kept], state, passing=passing)
    return _cosines(vectors[: len(constraints)], vectors[len(constraints) :])


def _cosines(rows: Matrix, columns: Matrix) -> Matrix:
    """Multiply so precisely that a cosine does not depend on what is next to it."""
    cosines = rows.astype(np.float64) @ columns.astype(np.float64).T
    return cosines.round(SCORE_DIGITS).astype(np.float32)


def _embed_query(query: str) -> Steps[Matrix]:
    (outcome,) = yield from embed([query], query=True)
    vector: Vector = replied(outcome)
    return vector[None]


def _embed(
    texts: Sequence[str], state: State, *, passing: Sequence[str] = ()
) -> Steps[Matrix]:
    """
    Return vectors of texts, and of `passing` ones, which are not remembered.

    Only what is not remembered is embedded, in one step.
    """
    keys = [state.keys.of("vector", text) for text in texts]
    known = {key: state.vectors.get(key) for key in keys}
    rows = {key: row for key, row in known.items() if row is not None}
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
    outcomes = yield from embed([*new.values(), *passing])
    vectors: list[Vector] = [replied(outcome) for outcome in outcomes]
    made = dict(zip(new, vectors, strict=False))
    for key, vector in made.items():
        state.vectors.put(key, vector.copy())  # it may be a row of a large matrix
    rows |= made
    return np.stack([*(rows[key] for key in keys), *vectors[len(new) :]])
