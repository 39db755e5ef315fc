"""
The guards of the policy file: the section of each, and the one table of them all.

A guard is off until its section is in the file, and strict from then on. The pipeline
runs the rows of `GUARDS` in their order, `sdrag check` names them, and the reference in
`docs/guides/guardrails.md` is made of them. A new guard is a module in
`sdrag.guardrails`, its section and row here, and its test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sdrag.policy.sections import Count, MetadataKey, Section, Share

Least = Annotated[float, Field(gt=0.0, le=1.0)]
"""A threshold from which on something counts; with 0 nothing would be checked."""
Method = Literal["local", "nli", "llm"]
"""Who judges: the local engine, a judge of pairs that you pass, or the model."""
GuardStage = Literal["access", "retrieval", "release", "answer"]
"""Where a guard runs: around your application's search, on what it returned, on
what was released, or on the answer."""


class GuardSection(Section):
    """The settings of a guard."""

    @property
    def asks(self) -> Method:
        """How it judges."""
        return "local"


class AccessSection(GuardSection):
    """Who may see which passage, by keys of its metadata; a key of null is not used."""

    tenant_key: MetadataKey | None = "tenant"
    """Holds the tenant, or a list of tenants."""
    roles_key: MetadataKey | None = "roles"
    """Holds a role, or a list of roles, any of which opens the passage."""
    level_key: MetadataKey | None = "level"
    """Holds the clearance that is needed."""
    uses_key: MetadataKey | None = "allowed_uses"
    """Holds what a licence allows the passage to be used for; a principal's attribute
    `use` names its use."""
    required: tuple[Literal["tenant", "roles", "level"], ...] = ()
    """Tags without which no principal sees a passage; the store can filter by them."""
    listed: tuple[Literal["tenant", "roles"], ...] = ("roles",)
    """Tags that may hold a list in the store; not every store can filter by one."""
    without_principal: Literal["deny", "public"] = "deny"
    """`public` shows untagged passages to everybody."""
    budget: Count = 200
    """The most passages asked of the store until enough are allowed."""

    @model_validator(mode="after")
    def _required_have_keys(self) -> Self:
        if any(getattr(self, f"{name}_key") is None for name in self.required):
            raise ValueError("a required tag needs its key")
        return self


class StalenessSection(GuardSection):
    """What happens to passages that have expired or were replaced."""

    valid_until_key: str = "valid_until"
    """Holds the last date, ISO 8601, on which it may be used."""
    updated_key: str = "updated"
    """Holds the date of the last change."""
    version_key: str = "version"
    """Holds a number, a dotted number or a date; the greatest wins."""
    superseded_by_key: str = "superseded_by"
    """Holds anything where the document was replaced."""
    document_key: str = "document_id"
    """Names the document, where the passage itself does not."""
    action: Literal["drop", "disclaim"] = "drop"
    """Drop what has expired, or keep it with a disclaimer."""
    recency_half_life_days: Annotated[float, Field(gt=0)] | None = None
    """Rank an older passage lower, by half for each such time. With `k=` on the
    wrapper, four times as many passages are ranked."""


class RelevanceSection(GuardSection):
    """When a passage is close enough to the question to be used."""

    min_score: Share = 0.25
    """The least similarity."""
    min_passages: Annotated[int, Field(ge=0)] = 1
    """With fewer relevant passages, none is returned."""
    scores: Literal[
        "auto",
        "similarity",
        "cosine_distance",
        "l2",
        "squared_l2",
        "measured",
    ] = "auto"
    """What the store's scores are. `auto` takes what can only be similarities and
    embeds the rest itself; `measured` always embeds."""
    rerank: bool = False
    """Score and order passages with the cross-encoder that you pass. With `k=` on the
    wrapper, four times as many passages are scored; without it, those found."""
    insufficient: Literal["empty", "notice"] = "empty"
    """What is returned where too few are relevant: nothing, or a passage that says so.
    """

    @property
    def asks(self) -> Method:
        """How it judges."""
        return "nli" if self.rerank else "local"

    @property
    def measures(self) -> bool:
        """Whether it may have to embed passages to score them."""
        return not self.rerank and self.scores in {"auto", "measured"}


class InjectionSection(GuardSection):
    """What happens to passages that give instructions to a model."""

    threshold: Share = 0.5
    """The least score of a window that counts."""
    action: Literal["drop", "strip", "flag"] = "drop"
    """Drop the passage, strip the sentences, or flag and keep it."""
    max_characters: Count = 20_000
    """A longer passage is treated as an injection."""
    decode_depth: Annotated[int, Field(ge=0, le=5)] = 3
    """How many encodings inside each other are undone."""
    local_classifier: bool = True
    """Use the trained head too (extra `local`)."""


class MonitoringSection(GuardSection):
    """Whether an answer carries what only an injection would put there."""

    look_for: tuple[Literal["links", "emails", "calls"], ...] = Field(
        default=("links", "emails", "calls"), min_length=1
    )
    """Links, e-mail addresses and calls to action that are not in the question."""
    action: Literal["flag", "strip", "decline"] = "flag"
    """Note it, take out the sentence, or decline the answer."""
    allow_domains: tuple[str, ...] = ()
    """Domains that an answer may always name."""


class GroundingSection(GuardSection):
    """Whether an answer's claims are supported by the passages."""

    method: Literal["local", "nli", "llm"] = "local"
    """The local scorer, an NLI model that you pass, or the model of `llm=`."""
    threshold: Least = 0.5
    """The least support that counts; up to 1."""
    action: Literal["annotate", "drop", "decline"] = "annotate"
    """Mark unsupported claims, drop them, or decline the answer."""
    max_claims: Count = 60
    """An answer with more is declined."""

    @property
    def asks(self) -> Method:
        """How it judges."""
        return self.method


class ContradictionsSection(GuardSection):
    """What happens when sources, or source and answer, disagree."""

    strategy: Literal["present", "authoritative", "recent", "decline", "review"] = (
        "present"
    )
    """Present both sides, prefer the more authoritative or the newer passage, decline,
    or flag for review."""
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

    @property
    def asks(self) -> Method:
        """How it judges."""
        return self.method


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


class GuardSections(Section):
    """The sections of a policy that turn guards on."""

    access: AccessSection | None = None
    """Who may see which passage."""
    staleness: StalenessSection | None = None
    """What happens to passages that have expired or were replaced."""
    relevance: RelevanceSection | None = None
    """When a passage is close enough to the question."""
    injection: InjectionSection | None = None
    """What happens to passages that give instructions to a model."""
    monitoring: MonitoringSection | None = None
    """Whether an answer carries what only an injection would put there."""
    grounding: GroundingSection | None = None
    """Whether an answer's claims are supported by the passages."""
    contradictions: ContradictionsSection | None = None
    """What happens when sources disagree."""
    citations: CitationsSection | None = None
    """Whether an answer cites a source for each claim."""


@dataclass(frozen=True, slots=True)
class Guard:
    """
    A row of the table: one guard at one stage.

    Args:
        section: Its key in the policy file, which is also its name.
        stage: Where it runs.
        screen: The function that screens, as `module:name`; it is imported when a
            request first needs it. `sdrag.guardrails.screened` says what functions of
            each stage take and return.
        does: What it does, in one sentence.
        judge: The judge of pairs that it needs where its section asks for one.
    """

    section: str
    stage: GuardStage
    screen: str
    does: str
    judge: Literal["relevance", "entailment", "contradiction"] | None = None

    def settings(self, sections: GuardSections) -> Any:
        """Return its section, or None where it is off."""
        return getattr(sections, self.section)

    def load(self) -> Callable[..., Any]:
        """Return the function that screens."""
        return _loaded(self.screen)


@cache
def _loaded(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), name)
    return loaded


GUARDS: tuple[Guard, ...] = (
    Guard(
        "access",
        "access",
        "sdrag.guardrails.access:check",
        "Drops what the principal may not see, and asks the store for no more.",
    ),
    Guard(
        "staleness",
        "retrieval",
        "sdrag.guardrails.staleness:at_retrieval",
        "Drops what has expired or was replaced.",
    ),
    Guard(
        "relevance",
        "retrieval",
        "sdrag.guardrails.relevance:at_retrieval",
        "Drops what is not close enough to the question.",
        judge="relevance",
    ),
    Guard(
        "staleness",
        "retrieval",
        "sdrag.guardrails.staleness:ranked_at_retrieval",
        "Ranks recent passages first.",
    ),
    Guard(
        "injection",
        "retrieval",
        "sdrag.guardrails.injection.screen:at_retrieval",
        "Drops, strips or flags passages that give instructions to a model.",
    ),
    Guard(
        "contradictions",
        "release",
        "sdrag.guardrails.contradictions:at_release",
        "Finds sources that disagree, and does what the strategy says.",
        judge="contradiction",
    ),
    Guard(
        "monitoring",
        "answer",
        "sdrag.guardrails.monitoring:at_answer",
        "Finds what only an injection would have put into the answer.",
    ),
    Guard(
        "grounding",
        "answer",
        "sdrag.guardrails.grounding:at_answer",
        "Checks that a passage supports each claim.",
        judge="entailment",
    ),
    Guard(
        "contradictions",
        "answer",
        "sdrag.guardrails.contradictions:at_answer",
        "Finds claims that a passage contradicts.",
        judge="contradiction",
    ),
    Guard(
        "citations",
        "answer",
        "sdrag.guardrails.citations:at_answer",
        "Checks that each claim is cited, and rightly.",
    ),
)
"""Every guard that has a section, in the order in which they run."""
