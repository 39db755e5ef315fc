"""
Which constraints a question enforces, and which a model is asked about.

Without a top K every constraint that binds the principal is enforced, and candidates
are chosen only where a model has something left to read. Candidates are the constraints
bound to a retrieved chunk; all, where the policy has no more than `FEW` or a chunk was
never bound; and those that are always enforced.

A top K chooses among candidates by a ranking, so what it leaves out is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sdrag.disclosure.ranking import rank
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.effects.steps import Steps
from sdrag.policy import DisclosureSection, binds
from sdrag.state import State
from sdrag.vocabulary import Confidential, Constraint, Decision, Passage, Principal

__all__ = ["FEW", "Candidates", "ConstraintChoice", "choose"]

FEW = 40
"""Where a policy has no more constraints, every one of them is a candidate."""


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

    Raises:
        SdragError: The state or the embeddings failed.
    """
    rules = [rule for rule in binding if not rule.always]
    names = {rule.id for rule in rules}
    if passages and len(rules) > FEW:
        names = _bound(passages, rules, state)
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


def _bound(
    passages: Sequence[Passage], rules: Sequence[Constraint], state: State
) -> set[str]:
    """Return what is bound to one of the passages; all where one was never bound."""
    names: set[str] = set()
    for scores in state.bindings.read(passages, rules):
        if scores is None:
            return {rule.id for rule in rules}
        names |= scores.keys()
    return names


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
        limited = setup.policy.disclosure.limited
        chosen = yield from self._candidates(self._binding if limited else setup.rules)
        return chosen.asked - setup.closed.keys()

    def left_out(self) -> Iterator[Decision]:
        """Yield the candidates that a top K left out, as a decision for the audit."""
        if self._chosen is not None and self._chosen.dropped:
            names = tuple(rule.id for rule in self._chosen.dropped)
            yield Decision("constraints", "dropped", "ranking", "top-k", names)

    def _candidates(self, binding: Sequence[Constraint]) -> Steps[Candidates]:
        if self._chosen is None:
            self._chosen = yield from choose(
                self._texts.passages,
                self._query,
                binding,
                self._setup.state,
                self._setup.policy.disclosure,
            )
        return self._chosen
