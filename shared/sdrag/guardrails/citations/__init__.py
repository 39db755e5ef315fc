"""Claims and passages are sent to the model that `grounding` names, if to any."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sdrag.sections import GuardSection, Least


class CitationsSection(GuardSection):
    """Whether an answer cites a source for each claim, and the right one."""

    format: Literal["number", "id"] = "number"
    """`[1]` by the passage's place, or `[doc-id]` by its id."""
    require: tuple[Literal["presence", "validity", "accuracy", "completeness"], ...] = (
        Field(default=("presence", "validity", "accuracy"), min_length=1)
    )
    """The checks an answer must pass."""
    threshold: Least = 0.5
    """The least support by a cited passage; up to 1."""
    action: Literal["annotate", "decline"] = "annotate"
    """Mark what fails, or decline the answer."""
