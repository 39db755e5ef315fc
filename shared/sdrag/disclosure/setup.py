"""
What disclosure control is set up with, shared by all requests.

Nothing of a request is kept on it but which texts the model failed at, by their keys.
Whether its policy can be enforced was asked before: see `enforceable`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic

from sdrag.disclosure.constraint_parser import PATTERN, ParsedConstraint, parse
from sdrag.disclosure.enforceable import find_blanket_rules
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.effects.limits import Limits
from sdrag.effects.steps import Steps
from sdrag.memo import Memo
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.state.findings import LOCAL, MODEL
from sdrag.vocabulary import STRUCTURED, Constraint, Passage, Span


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """
    That a model could not decide a constraint on a text.

    Args:
        code: Why.
        spans: What it quoted all the same.
        until: When it is asked again, by the monotonic clock.
    """

    code: str
    spans: tuple[Span, ...]
    until: float


REMEMBERED = 600.0
"""Seconds for which a model is not asked again what it failed at."""
_MOST_FAILURES = 50_000
Suspects = Callable[[Sequence[Passage]], Steps[Sequence[bool]]]
"""Says of each text whether it speaks to a model."""


def _nobody(texts: Sequence[Passage]) -> Steps[Sequence[bool]]:
    yield from ()
    return [False] * len(texts)


@dataclass(frozen=True)
class DisclosureSetup:
    """
    What disclosure control is set up with.

    Args:
        policy: What must not be disclosed.
        state: Everything that is remembered.
        locator: The local engine.
        has_model: Whether a model is asked too.
        has_embeddings: Whether texts can be embedded. If not, no constraint is bound to
            chunks, and a model is asked about every constraint.
        model_id: Names the model in cache keys.
        suspects: Says which texts speak to a model rather than to a reader: of what
            is in them no model is asked.
        limits: The bounds of the texts that are read at a question.
        failures: Of the model, by the keys of text and constraint: it is not asked the
            same at every question.
        trials: How a model failed at texts of ours, by its key; no code if it did not.
    """

    policy: Policy
    state: State
    locator: LocalLocator
    has_model: bool = False
    has_embeddings: bool = True
    model_id: str = ""
    suspects: Suspects = _nobody
    limits: Limits = field(default_factory=Limits)
    failures: Memo[tuple[bytes, bytes], ModelFailure] = field(
        default_factory=lambda: Memo(_MOST_FAILURES), repr=False
    )
    trials: Memo[bytes, ModelFailure] = field(
        default_factory=lambda: Memo(1), repr=False
    )

    @cached_property
    def key(self) -> bytes:
        """Makes stamps and aliases that nobody can forge, the same in every process."""
        return self.state.keys.of("aliases", size=32)

    @cached_property
    def local_key(self) -> bytes:
        """The key of the local engine: what another one found is stale."""
        return LOCAL + self.state.keys.of("engine", self.locator.identity)

    @cached_property
    def model_key(self) -> bytes | None:
        """The key of the model, if there is one."""
        named = self.state.keys.of("model", self.model_id)
        return MODEL + named if self.has_model else None

    @cached_property
    def placeholders(self) -> Placeholders:
        """What may stand in a text in place of a hidden value."""
        return Placeholders.of(self.policy, self.state.shared_keys.placeholders)

    @cached_property
    def blanket_rules(self) -> Mapping[str, str]:
        """The ids of constraints that withhold whatever they hold for, and why."""
        has_model = self.has_model
        return find_blanket_rules(self.policy, self.locator, has_model=has_model)

    @cached_property
    def needing_model(self) -> frozenset[str]:
        """The ids of constraints that would be blanket rules without a model."""
        closed = find_blanket_rules(self.policy, self.locator, has_model=False)
        return frozenset(closed)

    @property
    def asks_singly(self) -> bool:
        """Whether the model is asked about one constraint at a time."""
        return self.policy.disclosure.small_model is True

    @property
    def trial(self) -> ModelFailure | None:
        """What came of the last trial of the model, unless that is long ago."""
        last = self.trials.get(self.model_key or b"")
        return last if last is not None and last.until > monotonic() else None

    @property
    def left_out(self) -> str:
        """Why the model turned out to be too small to be asked, as a code, if so."""
        is_tried = self.policy.disclosure.small_model == "auto"
        return trial.code if is_tried and (trial := self.trial) else ""

    @property
    def is_small(self) -> bool:
        """Whether the model is too small to free words, or to write them."""
        return self.asks_singly or bool(self.left_out)

    @cached_property
    def hard(self) -> frozenset[str]:
        """The ids of constraints that a small model is asked about."""
        if self.policy.disclosure.on_model_failure == "withhold":
            return frozenset(rule.id for rule in self.rules)
        read = frozenset(rule.id for rule in self.rules if parse(rule).meaning)
        return read | self.needing_model

    @cached_property
    def rules(self) -> tuple[Constraint, ...]:
        """The constraints; no top K leaves out a blanket rule."""
        return tuple(
            replace(rule, always=True) if rule.id in self.blanket_rules else rule
            for rule in self.policy.rules
        )

    @cached_property
    def rule_keys(self) -> Mapping[str, bytes]:
        """The keys of the constraints, by their ids."""
        return {rule.id: self.state.keys.rule(rule) for rule in self.rules}

    @cached_property
    def needing_language(self) -> frozenset[str]:
        """The ids of constraints that the local engine enforces in English alone."""
        return frozenset(rule.id for rule in self.rules if _needs_language(parse(rule)))

    @cached_property
    def of_people(self) -> frozenset[str]:
        """The ids of the constraints that ask for names of people."""
        return frozenset(r.id for r in self.rules if "PERSON" in parse(r).types)

    @cached_property
    def style(self) -> PlaceholderStyle:
        """What stands in place of what is cut."""
        section = self.policy.disclosure
        return PlaceholderStyle.of(self.rules, section, self.placeholders)

    def document_of(self, text: Passage) -> bytes:
        """Return the key of a text's document, or of the text itself."""
        access = self.policy.access
        tenant = None
        if access is not None and access.tenant_key is not None:
            tenant = repr(text.metadata.get(access.tenant_key))
        name = text.document_id
        if name is None:
            name = f"passage {text.id}"
        return self.state.keys.document(tenant, name)


def _needs_language(parsed: ParsedConstraint) -> bool:
    if parsed.kind == "named":
        return not parsed.surely_names
    by_form = parsed.types <= STRUCTURED | {PATTERN}
    return parsed.people or parsed.meaning or not by_form
