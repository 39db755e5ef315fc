"""
Which constraints a question enforces, and which a model is asked about.

Without limits every constraint that binds is enforced, and candidates are chosen only
where a model has something left to read. A policy's limits choose by the question, so
what they leave out is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sdrag.disclosure.candidates import Candidates, candidates
from sdrag.disclosure.picking import picked
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.policy import binds
from sdrag.steps import Steps
from sdrag.vocabulary import Confidential, Constraint, Decision, Principal

__all__ = ["Choosing"]


class Choosing(Confidential):
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
        if setup.policy.disclosure.candidates_by == "model":
            chosen = yield from picked(
                chosen, self._texts, setup.policy.disclosure, setup.key
            )
            self._chosen = chosen
        return chosen.to_ask() - setup.closed.keys()

    def left_out(self) -> Iterator[Decision]:
        """Yield what was a candidate and is not enforced, by the audit's reasons."""
        if self._chosen is None:
            return
        for reason, rules in self._chosen.left_out().items():
            if rules:
                names = tuple(rule.id for rule in rules)
                yield Decision("constraints", "dropped", "ranking", reason, names)

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
