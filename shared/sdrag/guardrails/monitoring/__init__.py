"""No text is sent to a model."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sdrag.sections import GuardSection


class MonitoringSection(GuardSection):
    """Whether an answer carries what only an injection would put there."""

    look_for: tuple[Literal["links", "emails", "calls"], ...] = Field(
        default=("links", "emails", "calls"), min_length=1
    )
    """What of it is not in the question."""
    action: Literal["flag", "strip", "decline"] = "flag"
    """Note it, take out the sentence, or decline the answer."""
    allow_domains: tuple[str, ...] = ()
    """Domains that an answer may always name."""
