"""
Which constraints are applied to the passages of one question (SD-RAG, III-C1).

The candidates are the union of the constraints bound to the retrieved passages. A
passage that was never bound, or not against the constraints as they read today, makes
every constraint a candidate: doubt applies a rule, it never drops one. The hybrid
strategy adds what a binding by similarity misses: constraints on what the passages'
documents are about, and on types that the passages hold. A policy may limit how many
candidates a question has; the question plays no part in which they are, whatever the
ranking is. Then the policy decides: all candidates, or the top K by its ranking. A
constraint that is not applied is not enforced, so what was a candidate and not applied
is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.disclosure.affinities import Affinities
from sdrag.disclosure.binding import stacked
from sdrag.disclosure.bindings import BindingStore
from sdrag.disclosure.hybrid import closeness, document_votes, hybrid_scores
from sdrag.disclosure.ranking import STRATEGIES, Similarities, rank
from sdrag.disclosure.typed_candidates import candidates_by_type
from sdrag.policy import DisclosureSection, binds
from sdrag.steps import Steps, compute, embed, replied
from sdrag.vocabulary import Constraint, Passage, Principal

__all__ = ["CANDIDATES", "Candidates", "candidates", "ranking"]

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

CANDIDATES = 40
"""So many constraints are candidates beside the bound ones, nearest documents first;
where a policy has no more than these, every one of them is."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The outcome of binding and ranking.

    Args:
        applied: To be enforced, in the order of the policy.
        dropped: Candidates that the policy's top K left out.
        beyond: Candidates that the policy's limit on candidates left out.
    """

    applied: tuple[Constraint, ...]
    dropped: tuple[Constraint, ...] = ()
    beyond: tuple[Constraint, ...] = ()


def candidates(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    constraints: Sequence[Constraint],
    store: BindingStore,
    section: DisclosureSection,
) -> Steps[Candidates]:
    """
    Choose the constraints for these passages.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    binding = [rule for rule in constraints if binds(rule, principal)]
    rules = [rule for rule in binding if not rule.always]
    if not passages or not rules:
        return Candidates(tuple(binding))
    (answer,) = yield from compute(lambda found: store.read(found, rules), [passages])
    known = replied(answer)
    if all(scores is not None for scores in known):
        names = {name for scores in known for name in scores or ()}
        if section.rank_by == "hybrid":
            names |= yield from _besides(passages, rules, names, store)
        rules = [rule for rule in rules if rule.id in names]
    limit, top_k = section.max_candidates, section.top_k
    left = yield from _best(rules, limit, passages, "", store, "hybrid")
    kept = yield from _best(left, top_k, passages, query, store, section.rank_by)
    names = {rule.id for rule in kept}
    return Candidates(
        applied=tuple(rule for rule in binding if rule.always or rule.id in names),
        dropped=_without(left, kept),
        beyond=_without(rules, left),
    )


def _without(
    rules: Sequence[Constraint], others: Sequence[Constraint]
) -> tuple[Constraint, ...]:
    names = {rule.id for rule in others}
    return tuple(rule for rule in rules if rule.id not in names)


def _best(
    rules: Sequence[Constraint],
    limit: int | None,
    passages: Sequence[Passage],
    query: str,
    store: BindingStore,
    rank_by: str,
) -> Steps[list[Constraint]]:
    """Keep so many of the rules, in the order of the policy; all without a limit."""
    if limit is None or len(rules) <= limit:
        return list(rules)
    ranked = yield from ranking(rules, passages, query, store, rank_by)
    kept = {name for name, _ in ranked[:limit]}
    return [rule for rule in rules if rule.id in kept]


def _besides(
    passages: Sequence[Passage],
    rules: Sequence[Constraint],
    names: set[str],
    store: BindingStore,
) -> Steps[set[str]]:
    """Find candidates that no binding shows: by documents, and by types."""
    if len(rules) <= CANDIDATES:
        return {rule.id for rule in rules}
    votes = yield from voted(passages, rules, store)
    best = np.argsort(-votes, kind="stable")[:CANDIDATES] if votes.any() else ()
    found = {rules[place].id for place in best}
    left = [rule for rule in rules if rule.id not in names | found]
    return found | (yield from candidates_by_type(passages, left))


def voted(
    passages: Sequence[Passage], rules: Sequence[Constraint], store: BindingStore
) -> Steps[Vector]:
    """Let the retrieved documents speak; zeros where the store knows of none."""
    affinities: Affinities | None = getattr(store, "affinities", None)
    if affinities is None:
        return np.zeros(len(rules), dtype=np.float32)
    (answer,) = yield from compute(affinities.read, [rules])
    return document_votes(passages, rules, replied(answer))


def ranking(
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    store: BindingStore,
    rank_by: str,
) -> Steps[tuple[tuple[str, float], ...]]:
    """
    Rank candidates by a strategy, best first.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    ids = tuple(rule.id for rule in rules)
    texts = [passage.text for passage in passages]
    if rank_by == "hybrid":
        votes = yield from voted(passages, rules, store)
        close = yield from closeness(rules, texts)
        return rank(hybrid_scores(votes, close.joined), ids)
    outcomes = yield from embed(
        [*(rule.text for rule in rules), *texts, "\n".join(texts)]
    )
    asked = yield from embed([query], query=True)
    vectors = stacked(outcomes)
    similarities = Similarities.of(
        constraints=vectors[: len(rules)],
        chunks=vectors[len(rules) : -1],
        query=stacked(asked)[0],
        concatenated=vectors[-1],
    )
    return rank(STRATEGIES[rank_by](similarities), ids)
