"""
The entries of `constraints`: what must not be disclosed, for what and to whom.

An entry's words and its examples are confidential: they are in no repr and in no
error.
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

from sdrag.policy.sections import Listed, Section, listed
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Method, Sensitivity, WhereMissing

__all__ = ["ConstraintSection", "ExampleSection"]


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
    """
    A text that shows what a constraint means; `sdrag check` runs it.

    Args:
        text: As a passage could say it.
        hides: What of it must not leave.
        keeps: What of it must stay.
    """

    text: str = Field(min_length=1, repr=False)
    hides: Quoted = Field(default=(), repr=False)
    keeps: Quoted = Field(default=(), repr=False)

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


class ConstraintSection(Section):
    """
    One entry of `constraints`; a bare string is enough.

    Args:
        text: What must not be disclosed, in plain words.
        id: Names it in audits; its place in the list, where there is none.
        method: How it is enforced.
        where: Metadata keys and the values for which it holds. It also holds where a
            value is missing, is a string that reads as a list, or contains a listed
            value as a word.
        where_missing: `skip`: it does not hold where the key is missing or empty.
        unless: It does not bind principals who have all of these attributes; a list of
            mappings gives alternatives. Type and value must be equal.
        always: Holds for every passage, without binding or ranking.
        sensitivity: In place of that of `disclosure`.
        examples: What it must hide and keep. They change nothing that is released.
    """

    text: str = Field(min_length=1, repr=False)
    id: str | None = Field(default=None, pattern=r"^[\w.:-]{1,64}$")
    method: Method = "redact"
    where: dict[str, Listed] = Field(default_factory=dict)
    where_missing: WhereMissing = "hold"
    unless: Unless = ()
    always: bool = False
    sensitivity: Sensitivity | None = None
    examples: tuple[ExampleSection, ...] = Field(default=(), repr=False)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @field_validator("text")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a constraint needs a text")
        return value.strip()
