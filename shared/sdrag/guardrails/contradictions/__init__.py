"""With `method: nli` or `llm` pairs of sentences are sent to that model."""

from __future__ import annotations

from typing import Literal

from sdrag.sections import GuardSection, MetadataKey, Share


class ContradictionsSection(GuardSection):
    """What happens when sources, or source and answer, disagree."""

    strategy: Literal["present", "authoritative", "recent", "decline", "review"] = (
        "present"
    )
    """Add a notice, drop the less authoritative or the older passage, decline, or flag
    for review."""
    authority_key: MetadataKey = "authority"
    """Holds a number; the greater is believed."""
    updated_key: MetadataKey = "updated"
    """Holds the date of the last change."""
    topic_key: MetadataKey = "topic"
    """Holds a passage's topic, or a list of them."""
    critical_topics: tuple[str, ...] = ()
    """Topics on which a contradiction always declines and escalates."""
    threshold: Share = 0.5
    """The least certainty that counts."""
    method: Literal["local", "nli", "llm"] = "local"
    """The local rules, an NLI model that you pass, or the model of `llm=`."""
    notice: bool = True
    """Name the sources that disagree in one more passage."""
