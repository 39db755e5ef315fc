"""
The sections of one constraint: its text, for whom it holds, what stays, its examples.

A bare string is a constraint, and a bare string is a keep. What is confidential is in
no repr and in no error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from sdrag.sections import Levels, Listed, Section, listed
from sdrag.text.folding import fold_text
from sdrag.text.patterns import linear_pattern
from sdrag.vocabulary import (
    STRUCTURED,
    Example,
    Keep,
    Method,
    Pattern,
    Sensitivity,
    WhereMissing,
)

_MOST_WORDS = 10_000
_MOST_PATTERNS = 500
_NO_FOLDER = (
    "a list is read from a file where the policy is a file itself: give its path, or"
    " put the entries here"
)
Words = Annotated[str, Field(min_length=1, max_length=200)]
Expression = Annotated[str, Field(min_length=1, max_length=500)]


def _alternatives(value: Any) -> Any:
    """Take one mapping as a list of one, and an empty one as none."""
    if isinstance(value, Mapping):
        return (value,) if value else ()
    return value


Attributes = Annotated[dict[str, Listed], Field(min_length=1)]
Unless = Annotated[
    tuple[Attributes, ...],
    BeforeValidator(
        _alternatives,
        json_schema_input_type=tuple[Attributes, ...] | dict[str, Listed],
    ),
]
Quoted = Annotated[
    tuple[str, ...],
    BeforeValidator(listed, json_schema_input_type=tuple[str, ...] | str),
]


class ExampleSection(Section):
    """What a constraint means, on a text of your own."""

    text: str = Field(min_length=1, repr=False)
    """As a passage could say it."""
    hides: Quoted = Field(default=(), repr=False)
    """What of it must not leave."""
    keeps: Quoted = Field(default=(), repr=False)
    """What of it must stay."""

    @field_validator("hides", "keeps")
    @classmethod
    def _in_the_text(
        cls, value: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        text = fold_text(info.data.get("text", ""))
        for number, quoted in enumerate(map(fold_text, value), start=1):
            if not quoted or quoted not in text:
                raise ValueError(f"number {number} does not occur in the text")
        return value

    @model_validator(mode="after")
    def _shows_something(self) -> Self:
        if not self.hides and not self.keeps:
            raise ValueError("an example needs hides or keeps")
        return self

    def example(self) -> Example:
        """Return it as the core works with it."""
        return Example(self.text, self.hides, self.keeps)


class PatternSection(Section):
    """An entry of `patterns`: a type of values of your own."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+){0,5}$")
    """What constraints and its placeholder call it, in the singular, such as `employee
    number`."""
    pattern: Annotated[
        tuple[Expression, ...],
        BeforeValidator(
            listed, json_schema_input_type=tuple[Expression, ...] | Expression
        ),
    ] = Field(default=(), max_length=_MOST_PATTERNS, repr=False)
    """RE2, one or several; letters match in any case. A structure is read as lines of
    `label: value`."""
    file: str | None = Field(default=None, repr=False)
    """In place of `pattern`, a file that lists them, as that of a `keep` does."""
    group: Annotated[int, Field(ge=0)] = 0
    """Which group of a match goes; 0 is all of it."""
    cues: Quoted = Field(default=(), repr=False)
    """Words of which one must be within 40 characters of a match."""

    @model_validator(mode="after")
    def _is_narrow(self) -> Self:
        if self.file is not None and not self.pattern:
            raise ValueError(_NO_FOLDER)
        if not self.pattern or self.file is not None:
            raise ValueError("name one of pattern and file")
        for number, each in enumerate(self.pattern, start=1):
            try:
                linear_pattern(each).check_narrow(self.group)
            except ValueError as error:
                place = f"entry {number}: " if len(self.pattern) > 1 else ""
                raise ValueError(f"{place}{error}") from None
        return self

    def described(self) -> tuple[Pattern, ...]:
        """Return its expressions as the core works with them."""
        name = self.name.lower()
        return tuple(Pattern(name, p, self.group, self.cues) for p in self.pattern)


class KeepSection(Section):
    """An entry of `keep`; a bare string is its `words`."""

    words: Annotated[
        tuple[Words, ...],
        BeforeValidator(listed, json_schema_input_type=tuple[Words, ...] | Words),
    ] = Field(default=(), max_length=_MOST_WORDS, repr=False)
    """They stay wherever they are, in any case, as whole words; a list of several."""
    file: str | None = Field(default=None, repr=False)
    """In place of `words`, a file in the policy's folder or below that lists them: one
    a line, with comments after #, or a YAML list."""
    pattern: str | None = Field(default=None, min_length=1, max_length=500, repr=False)
    """RE2: whole words that it matches stay, in any case, and codes without a check
    digit too."""
    type: str | None = Field(default=None, pattern="^[A-Z][A-Z_]*$")
    """Mentions of this type stay, such as `DATE`. Structured identifiers never do."""
    unless_near: Quoted = Field(default=(), repr=False)
    """With `type`: but not where such a word is in the sentence, in a label before it
    or at the head of its table."""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"words": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _opens_something(self) -> Self:
        if self.file is not None and not (self.words or self.pattern or self.type):
            raise ValueError(_NO_FOLDER)
        if sum(map(bool, (self.words, self.pattern, self.type, self.file))) != 1:
            raise ValueError("name one of words, file, pattern and type")
        if self.unless_near and not self.type:
            raise ValueError("unless_near belongs to a type")
        if self.type in STRUCTURED:
            raise ValueError("structured identifiers never stay")
        for number, words in enumerate(self.words, start=1):
            if not any(map(str.isalnum, words)):
                place = f"entry {number}: " if len(self.words) > 1 else ""
                raise ValueError(f"{place}words need a letter or a digit")
        if any("\ud800" <= character <= "\udfff" for character in "".join(self.words)):
            raise ValueError("words are no text")
        if self.pattern:
            linear_pattern(self.pattern)
        return self

    def keep(self) -> Keep:
        """Return it as the core works with it."""
        return Keep(self.words, self.pattern or "", self.type or "", self.unless_near)


def _keeps(value: Any) -> Any:
    return (value,) if isinstance(value, (str, Mapping)) else value


Keeps = Annotated[
    tuple[KeepSection, ...],
    BeforeValidator(
        _keeps, json_schema_input_type=tuple[KeepSection | str, ...] | KeepSection | str
    ),
    Field(repr=False),
]


class ConstraintSection(Section):
    """One entry of `constraints`; a bare string is enough."""

    text: str = Field(min_length=1, max_length=2_000, repr=False)
    """What must not be disclosed, in plain words."""
    id: str | None = Field(default=None, pattern=r"^[\w.:-]{1,64}$")
    """Its name in audits; by default its place in the list, such as `c1`."""
    method: Method = "redact"
    """`redact` cuts what is detected, `rephrase` lets a model reword the passage,
    `withhold` drops it."""
    where: dict[str, Listed] = Field(default_factory=dict)
    """Metadata keys and the values for which it holds. It also holds where a value is
    missing, reads as a list, or contains a listed value as a word."""
    where_missing: WhereMissing = "hold"
    """`skip`: it does not hold where the key is missing or empty."""
    unless: Unless = ()
    """Principals with all of these attributes are exempt; a list of mappings gives
    alternatives."""
    always: bool = False
    """Holds for every passage, without binding or ranking."""
    sensitivity: Sensitivity | None = None
    """Overrides that of `disclosure`."""
    keep: Keeps = ()
    """What stays although the constraint hides its like."""
    instead: Levels = ()
    """How coarse a value is said: dates to `month`, `year` or `decade`, ages to
    `five-years` or `ten-years`, sums to a `band` or `magnitude`, addresses to `town` or
    `region`, postcodes to `outward`, numbers to `last-four`, names to `initials`. All
    else gets a placeholder."""
    examples: tuple[ExampleSection, ...] = Field(default=(), repr=False)
    """What it must hide and keep."""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_something_in_place(self) -> Self:
        if self.instead and self.method != "redact":
            raise ValueError("instead belongs to the method redact")
        return self

    @field_validator("text")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a constraint needs a text")
        return value.strip()
