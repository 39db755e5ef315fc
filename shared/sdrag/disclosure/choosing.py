"""
Which constraints a question enforces, and which a model is asked about.

Without limits every constraint that binds is enforced, and candidates are chosen only
where a model has something left to read. A policy's limits choose by the question, so
what they leave out is reported.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sdrag.disclosure.candidates import Candidates, candidates
from sdrag.disclosure.llm_constraint_filter import picked
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.engine.steps import Reply, Steps, compute
from sdrag.policy import binds
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
            chosen = yield from self._picked(chosen)
            self._chosen = chosen
        return chosen.to_ask() - setup.closed.keys()

    def _picked(self, chosen: Candidates) -> Steps[Candidates]:
        """
        Have a model pick, or recall what it left out of exactly these texts.

        It read them together, so what it left out holds for no other texts: a passage
        that talks it into leaving something out does so beside itself alone.
        """
        setup, store = self._setup, self._setup.state.replies
        texts = [(str(one.document_id), one.text) for one in self._texts.all]
        parts = [part for text in texts for part in text]
        asked = sorted(chosen.to_ask())
        key = store.key(["picked", setup.model_id, setup.policy.hash, *asked, *parts])
        (known,) = yield from compute(store.get, [key])
        if isinstance(known, Reply) and known.value is not None:
            left = frozenset(json.loads(known.value))
            return replace(
                chosen,
                asked=chosen.to_ask() - left,
                unpicked=tuple(rule for rule in chosen.applied if rule.id in left),
            )
        chosen = yield from picked(
            chosen, self._texts, setup.policy.disclosure, setup.key
        )
        if chosen.unpicked:
            names = json.dumps([rule.id for rule in chosen.unpicked])
            yield from compute(lambda said: store.put(key, said), [names])
        return chosen

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
