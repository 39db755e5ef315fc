"""
What disclosure control is set up with, and what a host may bring for it.

A setup is valid by construction and shared by all requests: nothing of one is kept on
it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sdrag.cache import MemoryCache, RedactionCache
from sdrag.disclosure.binding_store import BindingStore
from sdrag.disclosure.closed import closed_rules
from sdrag.disclosure.fingerprints import seen_keys
from sdrag.disclosure.history import History, MemoryHistory
from sdrag.disclosure.local import LocalLocator
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.steps import Outcome, Steps
from sdrag.vocabulary import Constraint, Finding, Passage

__all__ = ["DisclosureSetup", "Locator", "Withheld"]


class Locator(Protocol):
    """Finds what constraints withhold, without a language model."""

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """Return, for each passage, the findings in its own text."""
        ...


class Withheld(Protocol):
    """Remembers, without keeping it, what was cut out of a released passage."""

    def remember(self, passage: Passage, forms: Iterable[str]) -> None:
        """Take note of the forms that were cut out of a passage."""
        ...

    def recall(self, passage: Passage) -> bool:
        """Say whether that is still known, and keep it for longer."""
        ...


@dataclass(frozen=True, slots=True)
class DisclosureSetup:
    """
    What disclosure control is set up with.

    Args:
        policy: What must not be disclosed.
        bindings: The sidecar.
        locator: The local engine.
        has_model: Whether a model is asked too.
        model_id: Names the model in cache keys.
        cache: Remembers what was released.
        key: Makes marks and aliases unforgeable.
        withheld: Is told what was cut out; what it has forgotten is judged anew.
        history: Keeps what was withheld, for a policy that is monotone.
    """

    policy: Policy
    bindings: BindingStore
    locator: Locator
    has_model: bool = False
    model_id: str = ""
    cache: RedactionCache = field(default_factory=MemoryCache)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    withheld: Withheld | None = None
    history: History | None = None
    keys: tuple[str, ...] = field(init=False, repr=False)
    closed: Mapping[str, str] = field(init=False, repr=False)
    rules: tuple[Constraint, ...] = field(init=False, repr=False)
    conditional: tuple[Constraint, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", seen_keys(self.policy))
        understands = self.has_model or not isinstance(self.locator, LocalLocator)
        closed = closed_rules(self.policy.rules, understands=understands)
        object.__setattr__(self, "closed", closed)
        # No top K may leave out what withholds everything.
        rules = tuple(
            replace(rule, always=True) if rule.id in closed else rule
            for rule in self.policy.rules
        )
        object.__setattr__(self, "rules", rules)
        conditional = tuple(rule for rule in self.policy.rules if rule.unless)
        object.__setattr__(self, "conditional", conditional)
        if not self.policy.disclosure.monotone:
            if self.history is not None:
                raise UsageError(
                    "A history is kept for a monotone policy only.",
                    hint="Say `disclosure: {monotone: true}`.",
                )
        elif self.history is None:
            object.__setattr__(self, "history", MemoryHistory())
