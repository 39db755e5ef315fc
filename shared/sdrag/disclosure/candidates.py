"""
Which constraints are applied to the passages of one question (SD-RAG, III-C1).

Every constraint that binds the principal is applied by the local engine, whatever was
retrieved: what is bound to one passage must not decide what is enforced in another.
Candidates are what a model is asked about, for it is asked in prompts that cost: the
union of the constraints bound to the retrieved passages. A passage that was never
bound, or not against the constraints as they read today, makes every constraint a
candidate. The hybrid strategy adds what a binding by similarity misses: constraints on
what the passages' documents are about, and on types that the passages hold.

A policy may limit how many candidates a question has, or apply the top K by a ranking.
Then what is left out is not enforced at all, so it is reported. The question plays no
part in the former, whatever the ranking is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.disclosure.comparing import joined, similarities
from sdrag.disclosure.hybrid import Votes, document_votes, hybrid_scores
from sdrag.disclosure.ranking import STRATEGIES, rank
from sdrag.disclosure.typed_candidates import candidates_by_type, named_types_held
from sdrag.engine.steps import Steps, compute, replied
from sdrag.policy import DisclosureSection
from sdrag.state import State
from sdrag.vocabulary import Constraint, Passage

__all__ = ["CANDIDATES", "Candidates", "candidates", "ranking"]

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

CANDIDATES = 40
"""So many constraints are candidates beside the bound ones, by the documents' votes;
where a policy has no more than these, every one of them is."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The outcome of binding and ranking.

    Args:
        applied: To be enforced, in the order of the policy.
        dropped: Candidates that the policy's top K left out.
        beyond: Candidates that the policy's limit on candidates left out.
        unpicked: Candidates that a model found nothing of in the texts.
        asked: The ids of those that a model is asked about; all when missing.
    """

    applied: tuple[Constraint, ...]
    dropped: tuple[Constraint, ...] = ()
    beyond: tuple[Constraint, ...] = ()
    unpicked: tuple[Constraint, ...] = ()
    asked: frozenset[str] | None = None

    def to_ask(self) -> frozenset[str]:
        """Return the ids of the constraints that a model is asked about."""
        if self.asked is None:
            return frozenset(rule.id for rule in self.applied)
        return self.asked

    def left_out(self) -> dict[str, tuple[Constraint, ...]]:
        """Return what was a candidate and is not applied, by the audit's reasons."""
        return {
            "top-k": self.dropped,
            "max-candidates": self.beyond,
            "not-picked": self.unpicked,
        }


def candidates(
    passages: Sequence[Passage],
    query: str,
    binding: Sequence[Constraint],
    state: State,
    section: DisclosureSection,
) -> Steps[Candidates]:
    """
    Choose the constraints for these passages, among those that bind.

    Raises:
        SdragError: The state or the embeddings failed.
    """
    rules = [rule for rule in binding if not rule.always]
    if not passages or not rules:
        return Candidates(tuple(binding))
    (answer,) = yield from compute(
        lambda found: state.bindings.read(found, rules), [passages]
    )
    known = replied(answer)
    names = {rule.id for rule in rules}
    if all(scores is not None for scores in known):
        names = {name for scores in known for name in scores or ()}
        if section.rank_by == "hybrid":
            names |= yield from _besides(passages, rules, names, state)
    if not section.limited:
        asked = frozenset(r.id for r in binding if r.always or r.id in names)
        return Candidates(tuple(binding), asked=asked)
    left, limit = names, section.max_candidates
    if limit is not None and len(names) > limit:
        left = yield from _limited(rules, names, limit, passages, state)
    kept = left
    if section.top_k is not None and len(left) > section.top_k:
        ranked = yield from ranking(rules, passages, query, state, section.rank_by)
        order = [name for name, _ in ranked if name in left]
        kept = set(order[: section.top_k])
    return Candidates(
        applied=tuple(rule for rule in binding if rule.always or rule.id in kept),
        dropped=tuple(_named(rules, left - kept)),
        beyond=tuple(_named(rules, names - left)),
    )


def _named(rules: Sequence[Constraint], names: set[str]) -> list[Constraint]:
    return [rule for rule in rules if rule.id in names]


def _limited(
    rules: Sequence[Constraint],
    names: set[str],
    limit: int,
    passages: Sequence[Passage],
    state: State,
) -> Steps[set[str]]:
    """
    Keep so many of the named, which are more.

    All rules are compared, for what is usual shows only beside the others.
    """
    scores = yield from _hybrid(rules, passages, state)
    order = [rules[place].id for place in np.argsort(-scores, kind="stable")]
    left = [name for name in order if name in names]
    return set(left[:limit])


def _besides(
    passages: Sequence[Passage],
    rules: Sequence[Constraint],
    names: set[str],
    state: State,
) -> Steps[set[str]]:
    """Find candidates that no binding shows: by documents, and by types."""
    if len(rules) <= CANDIDATES:
        return {rule.id for rule in rules}
    votes = yield from _voted(passages, rules, state)
    heard = np.argsort(-votes.total, kind="stable") if votes.total.any() else ()
    found = {rules[place].id for place in heard[:CANDIDATES]}
    left = [rule for rule in rules if rule.id not in names | found]
    return found | (yield from candidates_by_type(passages, left))


def _voted(
    passages: Sequence[Passage], rules: Sequence[Constraint], state: State
) -> Steps[Votes]:
    """Let the retrieved documents speak; silence where the store knows of none."""
    (answer,) = yield from compute(state.affinities.read, [rules])
    return document_votes(passages, rules, replied(answer))


def _hybrid(
    rules: Sequence[Constraint], passages: Sequence[Passage], state: State
) -> Steps[Vector]:
    votes = yield from _voted(passages, rules, state)
    close = yield from joined(rules, passages, state)
    typed = yield from named_types_held(passages, rules)
    return hybrid_scores(votes, close, typed)


def ranking(
    rules: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    state: State,
    rank_by: str,
) -> Steps[tuple[tuple[str, float], ...]]:
    """
    Rank candidates by a strategy, best first.

    Of chunks that are bound, the chunks' own similarities are looked up. So `average`,
    `maximum` and the hybrid strategy embed nothing; `query` embeds the query, and
    `weighted_average` beside it each chunk once in a process; `concatenated` embeds one
    text, all chunks as one, as the paper defines it. Constraints are embedded once in a
    process, where vectors of theirs are needed.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    ids = tuple(rule.id for rule in rules)
    if rank_by == "hybrid":
        scores = yield from _hybrid(rules, passages, state)
        return rank(scores, ids)
    strategy = STRATEGIES[rank_by]
    close = yield from similarities(rules, passages, query, state, strategy.reads)
    return rank(strategy(close), ids)
