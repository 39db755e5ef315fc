"""
What the sections of the policy are made of.

A section is a frozen model with a default for everything, and closed to unknown keys.
Guards declare theirs beside their code, below the policy that puts all together.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def listed(value: Any) -> Any:
    """Take one value as a list of one."""
    return tuple(value) if isinstance(value, (list, tuple, set)) else (value,)


Scalar = str | int | float | bool
Listed = Annotated[
    tuple[Scalar, ...],
    BeforeValidator(listed, json_schema_input_type=tuple[Scalar, ...] | Scalar),
    Field(min_length=1),
]
Level = Literal[
    "month",
    "year",
    "decade",
    "five-years",
    "ten-years",
    "band",
    "magnitude",
    "town",
    "region",
    "outward",
    "last-four",
    "initials",
]
"""How coarse a value is said in place of being hidden."""
Levels = Annotated[
    tuple[Level, ...],
    BeforeValidator(listed, json_schema_input_type=tuple[Level, ...] | Level),
]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]
MetadataKey = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]
Least = Annotated[float, Field(gt=0.0, le=1.0)]
"""A threshold from which on something counts; with 0 nothing would be checked."""
JudgedBy = Literal["local", "nli", "llm"]
"""Who judges: the local engine, a judge of pairs that you pass, or the model."""


class Section(BaseModel):
    """A part of the policy: frozen, and closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class GuardSection(Section):
    """The settings of a guard."""

    @property
    def asks(self) -> JudgedBy:
        """How it judges: by its `method`, where it has one."""
        return getattr(self, "method", "local")
