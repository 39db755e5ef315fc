"""The shapes of what the page asks."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sdrag.policy import MAX_POLICY_BYTES
from sdrag.vocabulary import Sensitivity

__all__ = [
    "Asking",
    "Explaining",
    "Forgetting",
    "Opening",
    "Reporting",
    "Typed",
    "Viewing",
]

Name = Annotated[str, Field(min_length=1, max_length=1_000)]
Role = Annotated[str, Field(min_length=1, max_length=100)]


class _Shape(BaseModel):
    """A request: frozen, closed to unknown keys, and quoted in no error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Typed(_Shape):
    """
    A policy as it is in the editor.

    Args:
        policy: Its text, right or wrong.
    """

    policy: Annotated[str, Field(max_length=MAX_POLICY_BYTES, repr=False)]


class Viewing(Typed):
    """
    A policy, and what the slider says.

    Args:
        sensitivity: In place of the policy's own; the policy's own when missing.
    """

    sensitivity: Sensitivity | None = None


class Explaining(Viewing):
    """
    A document to be coloured.

    Args:
        document: Its number.
        roles: Of who looks at it; nobody in particular when empty.
    """

    document: Annotated[int, Field(ge=0)]
    roles: Annotated[tuple[Role, ...], Field(max_length=20)] = ()


class Reporting(Viewing):
    """
    A report of all documents.

    Args:
        roles: Of who looks at them.
    """

    roles: Annotated[tuple[Role, ...], Field(max_length=20)] = ()


class Asking(Viewing):
    """
    A question to all loaded documents.

    Args:
        question: In the asker's words.
        roles: Of the asker.
    """

    question: Annotated[str, Field(min_length=1, max_length=2_000, repr=False)]
    roles: Annotated[tuple[Role, ...], Field(max_length=20)] = ()


class Forgetting(_Shape):
    """
    A document that is not looked at any more.

    Args:
        document: Its number.
    """

    document: Annotated[int, Field(ge=0)]


class Opening(_Shape):
    """
    A file of the given folder.

    Args:
        path: As it was listed.
    """

    path: Name
