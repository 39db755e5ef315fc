"""
Which constraints a question enforces, and which a model is asked about.

Without a top K every constraint that binds is enforced, and candidates are chosen only
where a model has something left to read. A candidate is bound to a retrieved chunk, or
is one of those that the retrieved documents vote for, or names a type that a chunk
holds: a chunk with a person in it makes every constraint on names a candidate, whatever
their embeddings say of one another. A chunk that could not be read holds every type.
What identifies somebody can be in any chunk and have no form, so whoever asks for
whatever identifies is always a candidate.

A top K chooses by the question, so what it leaves out is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.detectors.local import LocalDetector
from sdrag.detectors.tagger import IDENTIFYING
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.ranking import (
    STRATEGIES,
    Votes,
    document_votes,
    hybrid_scores,
    rank,
)
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.similarity import joined, similarities
from sdrag.disclosure.texts import Texts
from sdrag.engine.steps import Failure, Steps, compute, replied
from sdrag.policy import DisclosureSection, binds
from sdrag.state import State
from sdrag.vocabulary import Confidential, Constraint, Decision, Passage, Principal

__all__ = [
    "CANDIDATES",
    "Candidates",
    "ConstraintChoice",
    "candidates",
    "candidates_by_type",
    "named_types_held",
    "ranking",
]

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]


def candidates_by_type(
    passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> Steps[frozenset[str]]:
    """
    Return the ids of constraints that name a type found in one of the passages.

    Args:
        passages: Retrieved.
        constraints: Those that are not candidates yet.
    """
    held = yield from named_types_held(passages, constraints)
    return frozenset(
        rule.id for rule, there in zip(constraints, held, strict=True) if there == 1
    )


def named_types_held(
    passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> Steps[Vector]:
    """
    Return whether the passages hold a type that each constraint names.

    Returns:
        1 or 0, and nan for a constraint that names no type, shape (constraints,).
    """
    wanted = [parse(rule).types for rule in constraints]
    held: set[str] = {IDENTIFYING}
    if any(wanted):
        texts = [passage.text for passage in passages]
        for outcome in (yield from LocalDetector().detect(texts)):
            if isinstance(outcome, Failure):
                held |= {name for types in wanted for name in types}
            else:
                held |= {mention.type for mention in outcome.value}
    return np.array(
        [float(bool(types & held)) if types else np.nan for types in wanted],
        dtype=np.float32,
    )


CANDIDATES = 40
"""So many constraints are candidates by the documents' votes, even if not bound;
where a policy has no more than these, every one of them is."""
_VOTE_DIGITS = 6
"""More than of a score: among many documents, each has a small share of a vote."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The outcome of binding and ranking.

    Args:
        applied: To be enforced, in the order of the policy.
        dropped: Candidates that the policy's top K left out.
        asked: The ids of those that a model is asked about; all when missing.
    """

    applied: tuple[Constraint, ...]
    dropped: tuple[Constraint, ...] = ()
    asked: frozenset[str] | None = None

    def to_ask(self) -> frozenset[str]:
        """Return the ids of the constraints that a model is asked about."""
        if self.asked is None:
            return frozenset(rule.id for rule in self.applied)
        return self.asked


def candidates(
    passages: Sequence[Passage],
    query: str,
    binding: Sequence[Constraint],
    state: State,
    section: DisclosureSection,
) -> Steps[Candidates]:
    """
    Choose the constraints for these passages, among those that bind.

    Args:
        passages: As retrieved.
        query: Ranks constraints, under a top K by some strategies.
        binding: The constraints to choose among, in the order of the policy.
        state: Knows what was bound.
        section: Gives the strategy and the top K.

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
            names |= yield from _unbound_candidates(passages, rules, names, state)
    if not section.limited:
        asked = frozenset(r.id for r in binding if r.always or r.id in names)
        return Candidates(tuple(binding), asked=asked)
    kept = names
    if section.top_k is not None and len(names) > section.top_k:
        # All rules are compared: what is usual shows only next to the others.
        ranked = yield from ranking(rules, passages, query, state, section.rank_by)
        order = [name for name, _ in ranked if name in names]
        kept = set(order[: section.top_k])
    return Candidates(
        applied=tuple(rule for rule in binding if rule.always or rule.id in kept),
        dropped=tuple(rule for rule in rules if rule.id in names - kept),
    )


def _unbound_candidates(
    passages: Sequence[Passage],
    rules: Sequence[Constraint],
    names: set[str],
    state: State,
) -> Steps[set[str]]:
    """Find candidates that no binding shows: by documents, and by types."""
    if len(rules) <= CANDIDATES:
        return {rule.id for rule in rules}
    votes = yield from _voted(passages, rules, state)
    loudest = np.argsort(-votes.total.round(_VOTE_DIGITS), kind="stable")
    heard = loudest if votes.total.any() else ()
    found = {rules[index].id for index in heard[:CANDIDATES]}
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
    `weighted_average` also each chunk once in a process; `concatenated` embeds one
    text, all chunks as one, as the paper defines it. Constraints are embedded once in a
    process, where vectors of theirs are needed.

    Args:
        rules: The candidates.
        passages: As retrieved.
        query: Embedded only where the strategy compares with it.
        state: Knows what was bound.
        rank_by: `hybrid`, or a key of `STRATEGIES`.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    ids = tuple(rule.id for rule in rules)
    if rank_by == "hybrid":
        scores = yield from _hybrid(rules, passages, state)
        return rank(scores, ids)
    strategy = STRATEGIES[rank_by]
    close = yield from similarities(rules, passages, query, state, strategy.reads)
    return rank(strategy.score(close), ids)


class ConstraintChoice(Confidential):
    """
    The choice of one question, made when it is needed.

    Args:
        texts: With all constraints of the policy.
        query: Ranks constraints.
        principal: May lift some.
        setup: The engine.
    """

    __slots__ = ("_binding", "_chosen", "_query", "_setup", "_texts")

    def __init__(
        self,
        texts: Texts,
        query: str,
        principal: Principal | None,
        setup: DisclosureSetup,
    ) -> None:
        self._texts = texts
        self._query = query
        self._setup = setup
        self._binding = tuple(r for r in setup.rules if binds(r, principal))
        self._chosen: Candidates | None = None

    def applied(self) -> Steps[Sequence[Constraint]]:
        """
        Return the constraints that are enforced.

        Raises:
            SdragError: The state or the embeddings failed.
        """
        if not self._setup.policy.disclosure.limited:
            return self._binding
        chosen = yield from self._candidates(self._binding)
        return chosen.applied

    def to_ask(self) -> Steps[Collection[str]]:
        """
        Return the ids of the constraints that a model is asked about.

        They do not depend on who asks: what is found holds for everybody.

        Raises:
            SdragError: The state or the embeddings failed.
        """
        setup = self._setup
        if setup.policy.disclosure.limited:
            chosen = yield from self._candidates(self._binding)
        else:
            chosen = yield from self._candidates(setup.rules)
        return chosen.to_ask() - setup.closed.keys()

    def left_out(self) -> Iterator[Decision]:
        """Yield the candidates that a top K left out, as a decision for the audit."""
        if self._chosen is not None and self._chosen.dropped:
            names = tuple(rule.id for rule in self._chosen.dropped)
            yield Decision("constraints", "dropped", "ranking", "top-k", names)

    def _candidates(self, binding: Sequence[Constraint]) -> Steps[Candidates]:
        if self._chosen is None:
            setup = self._setup
            self._chosen = yield from candidates(
                self._texts.passages,
                self._query,
                binding,
                setup.state,
                setup.policy.disclosure,
            )
        return self._chosen
