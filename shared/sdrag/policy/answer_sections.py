"""The sections on what is checked after the answer; each off until present."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sdrag.policy.sections import Count, MetadataKey, Section, Share

__all__ = [
    "CitationsSection",
    "ContradictionsSection",
    "GroundingSection",
    "MonitoringSection",
]


class GroundingSection(Section):
    """
    Whether an answer's claims are supported by the passages.

    Args:
        method: The local scorer, an NLI model that was handed in, or the host's model.
        threshold: The least support that counts, from 0 to 1.
        action: Mark unsupported claims, drop them, or decline the answer.
        max_claims: An answer with more is declined.
    """

    method: Literal["local", "nli", "llm"] = "local"
    threshold: Share = 0.5
    action: Literal["annotate", "drop", "decline"] = "annotate"
    max_claims: Count = 60


class CitationsSection(Section):
    """
    Whether an answer says where it has each claim from, and says it rightly.

    Args:
        format: `[1]` by the passage's place, `[doc-id]` by its id, or citations handed
            over as data beside the answer.
        require: The checks an answer must pass.
        threshold: The least support by a cited passage, from 0 to 1.
        action: Mark what fails, or decline the answer.
    """

    format: Literal["number", "id", "structured"] = "number"
    require: tuple[Literal["presence", "validity", "accuracy", "completeness"], ...] = (
        "presence",
        "validity",
        "accuracy",
    )
    threshold: Share = 0.5
    action: Literal["annotate", "decline"] = "annotate"


class ContradictionsSection(Section):
    """
    What happens when sources disagree with each other, or the answer with them.

    Args:
        strategy: Present both sides, prefer the more authoritative or the newer
            passage, decline, or flag for review.
        authority_key: Holds a number; the greater is believed.
        updated_key: Holds the date of the last change.
        topic_key: Holds a passage's topic, or a list of them.
        critical_topics: Topics on which a contradiction always declines and escalates.
        threshold: The least certainty that counts, from 0 to 1.
        method: The local rules, an NLI model that was handed in, or the host's model.
        notice: Tell the chain which sources disagree, in a passage after them.
    """

    strategy: Literal["present", "authoritative", "recent", "decline", "review"] = (
        "present"
    )
    authority_key: MetadataKey = "authority"
    updated_key: MetadataKey = "updated"
    topic_key: MetadataKey = "topic"
    critical_topics: tuple[str, ...] = ()
    threshold: Share = 0.5
    method: Literal["local", "nli", "llm"] = "local"
    notice: bool = True


class MonitoringSection(Section):
    """
    Whether an answer carries what only an injection would put there.

    Args:
        look_for: Links, e-mail addresses and calls to action that stand in passages
            and not in the question.
        action: Note it, take out the sentence, or decline the answer.
        allow_domains: Domains that an answer may always name.
    """

    look_for: tuple[Literal["links", "emails", "calls"], ...] = Field(
        default=("links", "emails", "calls"), min_length=1
    )
    action: Literal["flag", "strip", "decline"] = "flag"
    allow_domains: tuple[str, ...] = ()
