"""
What disclosure control is set up with, and what a host may bring for it.

A setup is valid by construction and shared by all requests: nothing of one is kept on
it.

Some constraints withhold every passage they hold for. A blanket one does because it
says so ("nothing may be disclosed"). One that needs a model where there is none does
because nobody can say what it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.understood import why_not
from sdrag.effects.runner import Limits
from sdrag.effects.steps import Outcome, Steps
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.vocabulary import Constraint, Finding, Passage

__all__ = ["DisclosureSetup", "Locator", "closed_rules"]


def closed_rules(
    rules: Iterable[Constraint], *, understands: bool
) -> Mapping[str, str]:
    """
    Return the ids of such constraints, each with the reason's code.

    Args:
        rules: Of the policy.
        understands: Whether there is a model, or a locator of the host's own.
    """
    reasons = {rule.id: _reason(parse(rule), understands=understands) for rule in rules}
    return {name: reason for name, reason in reasons.items() if reason}


def _reason(parsed: ParsedConstraint, *, understands: bool) -> str:
    if parsed.kind == "everything":
        return "everything"
    return "not-understood" if not understands and why_not(parsed) else ""


class Locator(Protocol):
    """Finds what constraints withhold, without a language model."""

    @property
    def identity(self) -> str:
        """What changes with whatever it finds; another one locates anew."""
        ...

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """Return, for each passage, the findings in its own text."""
        ...


Suspects = Callable[[Sequence[Passage]], Steps[Sequence[bool]]]
"""Says of each text whether it speaks to a model."""


def _nobody(texts: Sequence[Passage]) -> Steps[Sequence[bool]]:
    yield from ()
    return [False] * len(texts)


@dataclass(frozen=True, slots=True)
class DisclosureSetup:
    """
    What disclosure control is set up with.

    Args:
        policy: What must not be disclosed.
        state: Everything that is remembered; taken with a memory of vectors of its own.
        locator: The local engine.
        has_model: Whether a model is asked too.
        has_embeddings: Whether texts can be embedded. If not, no constraint is bound to
            chunks, and a model is asked about every constraint.
        model_id: Names the model in cache keys.
        suspects: Says which texts speak to a model rather than to a reader: of what
            is in them no model is asked.
        limits: The bounds of the texts that are read at a question.
    """

    policy: Policy
    state: State
    locator: Locator
    has_model: bool = False
    has_embeddings: bool = True
    model_id: str = ""
    suspects: Suspects = _nobody
    limits: Limits = field(default_factory=Limits)
    key: bytes = field(init=False, repr=False)
    closed: Mapping[str, str] = field(init=False, repr=False)
    needing_model: frozenset[str] = field(init=False, repr=False)
    rules: tuple[Constraint, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Its vectors are of the wrapper's own model, so no other wrapper sees them.
        object.__setattr__(self, "state", self.state.remembering())
        # Makes marks and aliases that nobody can forge, the same in every process.
        object.__setattr__(self, "key", self.state.keys.of("aliases", size=32))
        closed = closed_rules(self.policy.rules, understands=self.understands)
        object.__setattr__(self, "closed", closed)
        needing = closed_rules(self.policy.rules, understands=not self.locates_alone)
        object.__setattr__(self, "needing_model", frozenset(needing))
        # No top K may leave out what withholds everything.
        rules = tuple(
            replace(rule, always=True) if rule.id in closed else rule
            for rule in self.policy.rules
        )
        object.__setattr__(self, "rules", rules)

    @property
    def understands(self) -> bool:
        """Whether a model, or a locator of the host's own, reads texts too."""
        return self.has_model or not self.locates_alone

    @property
    def locates_alone(self) -> bool:
        """Whether only the package's local engine reads texts where no model does."""
        return isinstance(self.locator, LocalLocator)

    def document_of(self, text: Passage) -> bytes:
        """Return the key of the document of a text; one of none is its own."""
        access = self.policy.access
        tenant = None
        if access is not None and access.tenant_key is not None:
            tenant = repr(text.metadata.get(access.tenant_key))
        name = text.document_id
        if name is None:
            name = f"passage {text.id}"
        return self.state.keys.document(tenant, name)
