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
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from sdrag.errors import PolicyError, UsageError
from sdrag.policy.constraint_sections import (
    ConstraintSection,
    Keeps,
    PatternSection,
)
from sdrag.policy.guards import GUARDS, GuardSections
from sdrag.policy.reading import (
    Lines,
    explain_problems,
    parse_yaml,
    text_of,
    with_lists,
)
from sdrag.policy.sections import (
    DisclosureSection,
    HighlightSection,
    LinkageSection,
    MetadataSection,
    SessionSection,
    TracingSection,
    WithheldSection,
)
from sdrag.text.patterns import naming
from sdrag.vocabulary import Constraint

LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,3}$")]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LEAST = 64
"""Tokens; of a smaller piece of a text nobody could say what it means."""


class Policy(GuardSections):
    """
    Everything the policy file says.

    Build one with `Policy.read`, which takes a path, a mapping, a list of sentences or
    a `Policy`. A guard is off until its section is in the file.
    """

    constraints: tuple[ConstraintSection, ...] = Field(default=(), repr=False)
    """What must not be disclosed; a sentence in plain words is enough."""
    allow_empty: bool = False
    """Allows a policy without constraints, which would release everything."""
    keep: Keeps = ()
    """What stays under every constraint."""
    patterns: tuple[PatternSection, ...] = Field(default=(), repr=False)
    """Types of values of your own; constraints hide them by their names."""
    when_not_understood: Literal["refuse", "withhold"] = "refuse"
    """Without a model, where a constraint is not understood: `refuse` the policy, or
    `withhold` all that the constraint holds for."""
    languages: tuple[LanguageCode, ...] = Field(default=("en",), min_length=1)
    """The languages, as ISO 639-1 codes or `und`, that the English rules read without a
    model; a text in another is withheld, unless its constraints ask for structured
    identifiers alone."""
    disclosure: DisclosureSection = DisclosureSection()
    """How constraints are bound, ranked and enforced."""
    highlight: HighlightSection = HighlightSection()
    """Highlight & Summarize."""
    linkage: LinkageSection = LinkageSection()
    """CLAM: what links documents, and what is masked."""
    metadata: MetadataSection = MetadataSection()
    """What of the metadata may leave."""
    session: SessionSection | None = None
    """How much of what links people one session may put together."""
    withheld: WithheldSection = WithheldSection()
    """What the chain learns of what was withheld."""
    tracing: TracingSection = TracingSection()
    """What tracers may see."""

    def __new__(cls, *sources: Any, **_: Any) -> Self:
        """Refuse what is passed by position, with the call that reads it."""
        if sources:
            raise UsageError(
                "`Policy` takes its sections by name.",
                hint="Call Policy.read with a path, a mapping or a list of sentences.",
            )
        return super().__new__(cls)

    @field_validator("constraints")
    @classmethod
    def _number_constraints(
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

    @model_validator(mode="after")
    def _each_pattern_is_named(self) -> Self:
        texts = [entry.text for entry in self.constraints]
        for number, each in enumerate(self.patterns, start=1):
            if texts and not any(map(naming(each.name).search, texts)):
                raise ValueError(f"no constraint names pattern {number}")
        return self

    @model_validator(mode="after")
    def _no_session_beside_restored_values(self) -> Self:
        if self.session and self.disclosure.restore:
            raise ValueError("a session counts no values that `restore` gives back")
        return self

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
            return cls._check(dict(source), {})
        if isinstance(source, (list, tuple)):
            return cls._check({"constraints": list(source)}, {})
        if not isinstance(source, (str, Path)):
            raise PolicyError(
                f"A policy is no {type(source).__name__}.",
                hint="Give the path of a YAML file, a mapping, or a list of sentences.",
            )
        return cls.parse(text_of(Path(source)), folder=Path(source).parent)

    @classmethod
    def parse(cls, text: str, *, folder: Path | None = None) -> Policy:
        """
        Read a policy from the text of a YAML document.

        Args:
            text: The document.
            folder: Where lists are that it has in files; by default it has none.

        Raises:
            PolicyError: As `read`.
        """
        read = parse_yaml(text)
        if isinstance(read, PolicyError):
            raise read
        value, lines = read
        if folder is not None:
            value = with_lists(value, lines, folder)
        return cls._check(value, lines)

    @cached_property
    def rules(self) -> tuple[Constraint, ...]:
        """The constraints, as the core works with them."""
        patterns = [each for entry in self.patterns for each in entry.described()]
        return tuple(
            Constraint(
                id=entry.id or "",
                text=entry.text,
                method=entry.method,
                where=entry.where,
                unless=entry.unless,
                always=entry.always,
                where_missing=entry.where_missing,
                instead=entry.instead,
                sensitivity=entry.sensitivity,
                keep=tuple(each.keep() for each in (*entry.keep, *self.keep)),
                examples=tuple(each.example() for each in entry.examples),
                patterns=tuple(
                    each for each in patterns if naming(each.name).search(entry.text)
                ),
            )
            for entry in self.constraints
        )

    @cached_property
    def entries(self) -> Mapping[str, ConstraintSection]:
        """The constraints as they are written, by their ids."""
        return MappingProxyType({entry.id or "": entry for entry in self.constraints})

    def without_limits(self) -> Self:
        """Return it as its author tries it: all is enforced, and it may be empty."""
        limits = {"top_k": None, "local_seconds": None}
        every = self.disclosure.model_copy(update=limits)
        return self.model_copy(
            update={"disclosure": every, "session": None, "allow_empty": True}
        )

    def limit_tokens(self, tokens: int) -> Self:
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
        for name in ("entries", "rules", "hash"):
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
        is the engine's `policy_hash`.
        """
        said = self.model_dump(mode="json")
        canonical = json.dumps(said, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Policy(constraints={[c.id for c in self.constraints]})"

    __str__ = __repr__

    @classmethod
    def _check(cls, value: dict[str, Any], lines: Lines) -> Policy:
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)
        raise explain_problems(problems, lines, cls)


def check_not_empty(policy: Policy) -> None:
    """Refuse a policy that would release everything without having been meant to."""
    given = policy.model_fields_set - {"allow_empty"}
    empty = "constraints" in given and not policy.constraints
    if (empty or not given) and not policy.allow_empty:
        raise PolicyError(
            "The policy has no constraints, so everything would be released.",
            key="constraints",
            hint="Write what must not be disclosed, or `allow_empty: true`"
            " where nothing must be hidden.",
        )


PolicySource = (
    Policy | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | str | Path
)
"""A policy, a mapping of its shape, a list of constraints, or the path of its file."""


def policy_schema() -> dict[str, Any]:
    """
    Return the JSON schema (draft 2020-12) of a policy file, as plain data.

    It accepts what `Policy.read` accepts in form. What only reading can tell, such as
    two constraints of one id, it does not know.
    """
    schema = Policy.model_json_schema()
    bare = {"type": "string", "minLength": 1}
    item = {"anyOf": [bare, {"$ref": f"#/$defs/{ConstraintSection.__name__}"}]}
    schema["properties"]["constraints"]["items"] = item
    schema |= {"type": ["object", "array"], "items": item}  # a list: the constraints
    return {"$schema": _DIALECT, **schema, "title": "sdrag policy"}
