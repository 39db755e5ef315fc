"""
The policy as a whole: validated, hashed, and silent about its own words.

Read with a safe loader into frozen models that forbid unknown keys, so a typing error
is an error and not a silent opening. Three lines make a policy. Constraint text is
confidential: it is in no repr and in no error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator

from sdrag.errors import PolicyError
from sdrag.policy.constraints import ConstraintSection
from sdrag.policy.explaining import explained
from sdrag.policy.guard_sections import GUARDS, GuardSections
from sdrag.policy.sections import (
    DisclosureSection,
    HighlightSection,
    LinkageSection,
    MetadataSection,
    TracingSection,
    WithheldSection,
)
from sdrag.policy.yaml_reading import Lines, parsed, text_of
from sdrag.vocabulary import Constraint

__all__ = ["Policy", "PolicySource"]

LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,3}$")]

_LEAST = 64
"""Tokens; of a smaller piece of a text nobody could say what it means."""


class Policy(GuardSections):
    """
    Everything the policy file says.

    Build one with `Policy.read`, which takes a path, a mapping, a list of sentences or
    a `Policy`. A guard is off until its section is in the file.

    Args:
        constraints: What must not be disclosed; a sentence in plain words is enough.
        when_not_understood: What happens, without a model, with a constraint that the
            local engine does not understand. `refuse` refuses the policy. `withhold`
            withholds all that the constraint holds for.
        languages: Of the texts, as ISO 639-1 codes.
        on_other_language: What happens, without a model, with a text in another
            language. `withhold` withholds it, unless the constraints that hold for it
            ask for structured identifiers alone. `warn` logs a warning and releases
            what the English rules leave, and `best_effort` does so without a warning.
        disclosure: How constraints are bound, ranked and enforced.
        highlight: Highlight & Summarize.
        linkage: CLAM: what links documents, and what is masked.
        metadata: What of the metadata may leave.
        withheld: What the chain learns of what was withheld.
        tracing: What tracers may see.
        access: Who may see which passage.
        staleness: What happens to passages that have expired or were replaced.
        relevance: When a passage is close enough to the question.
        injection: What happens to passages that give orders.
        monitoring: Whether an answer carries what only an injection would put there.
        grounding: Whether an answer's claims are supported by the passages.
        contradictions: What happens when sources disagree.
        citations: Whether an answer says where it has each claim from.
    """

    constraints: tuple[ConstraintSection, ...] = Field(default=(), repr=False)
    when_not_understood: Literal["refuse", "withhold"] = "refuse"
    languages: tuple[LanguageCode, ...] = Field(default=("en",), min_length=1)
    on_other_language: Literal["withhold", "warn", "best_effort"] = "withhold"
    disclosure: DisclosureSection = DisclosureSection()
    highlight: HighlightSection = HighlightSection()
    linkage: LinkageSection = LinkageSection()
    metadata: MetadataSection = MetadataSection()
    withheld: WithheldSection = WithheldSection()
    tracing: TracingSection = TracingSection()

    @field_validator("constraints")
    @classmethod
    def _numbered(
        cls, value: tuple[ConstraintSection, ...]
    ) -> tuple[ConstraintSection, ...]:
        """Give each constraint an id; its place in the list, where it has none."""
        named = tuple(
            entry if entry.id else entry.model_copy(update={"id": f"c{number}"})
            for number, entry in enumerate(value, start=1)
        )
        ids = [entry.id for entry in named]
        if len(set(ids)) != len(ids):
            raise ValueError("two constraints have the same id")
        return named

    @classmethod
    def read(cls, source: PolicySource) -> Policy:
        """
        Read a policy.

        Args:
            source: A path to a YAML file, a mapping of its shape, a list of
                constraints, or a `Policy`.

        Raises:
            PolicyError: It cannot be read; names the line and the key.
        """
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return cls._checked(dict(source), {})
        if isinstance(source, (list, tuple)):
            return cls._checked({"constraints": list(source)}, {})
        if not isinstance(source, (str, Path)):
            raise PolicyError(
                f"A policy is no {type(source).__name__}.",
                hint="Give the path of a YAML file, a mapping, or a list of sentences.",
            )
        return cls.parse(text_of(Path(source)))

    @classmethod
    def parse(cls, text: str) -> Policy:
        """
        Read a policy from the text of a YAML document.

        Raises:
            PolicyError: As `read`.
        """
        read = parsed(text)
        if isinstance(read, PolicyError):
            raise read
        return cls._checked(*read)

    @cached_property
    def rules(self) -> tuple[Constraint, ...]:
        """The constraints, as the core works with them."""
        return tuple(
            Constraint(
                id=entry.id or "",
                text=entry.text,
                method=entry.method,
                where=entry.where,
                unless=entry.unless,
                always=entry.always,
                where_missing=entry.where_missing,
                sensitivity=entry.sensitivity,
            )
            for entry in self.constraints
        )

    def without_limits(self) -> Self:
        """Return the same policy with every constraint enforced, and asked about."""
        unlimited = {"top_k": None}
        return self.model_copy(
            update={"disclosure": self.disclosure.model_copy(update=unlimited)}
        )

    def fitted(self, tokens: int) -> Self:
        """
        Return the same policy with at most so many tokens of text in a prompt.

        Its hash stays: it says the same, and a model takes it in smaller pieces.
        """
        section = self.disclosure
        if tokens >= section.token_budget:
            return self
        smaller = section.model_copy(update={"token_budget": max(tokens, _LEAST)})
        copy = self.model_copy(update={"disclosure": smaller})
        copy.__dict__["hash"] = self.hash
        return copy

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; what was made of the fields is made again."""
        copy = super().model_copy(update=update, deep=deep)
        for name in ("rules", "hash"):
            copy.__dict__.pop(name, None)
        return copy

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of the guards that are on, in the order in which they run."""
        on = (guard.section for guard in GUARDS if guard.settings(self) is not None)
        return tuple(dict.fromkeys(on))

    @cached_property
    def hash(self) -> str:
        """
        Sixteen hex digits that change with anything the policy says.

        They are for comparisons and for keys that are hashed again. They have no key
        of their own, so whoever sees them can test a guess of a constraint: what leaves
        is `sdrag.wrapper_setup.policy_hash`. The examples of constraints are no part
        of it: they change nothing that leaves.
        """
        examples = {"constraints": {"__all__": {"examples"}}}
        said = self.model_dump(mode="json", exclude=examples)
        canonical = json.dumps(said, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Policy(constraints={[c.id for c in self.constraints]})"

    __str__ = __repr__

    @classmethod
    def _checked(cls, value: dict[str, Any], lines: Lines) -> Policy:
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)
        raise explained(problems, lines, cls)


PolicySource = (
    Policy | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | str | Path
)
"""A policy, a mapping of its shape, a list of constraints, or the path of its file."""
