"""
The guards of the policy file: the section of each, and the one table of them all.

A guard is off until its section is in the file, and strict from then on. The pipeline
runs the rows of `GUARDS` in their order, `sdrag check` names them, and the reference in
`docs/guides/guardrails.md` is made of them. A new guard is a module or a package in
`sdrag.guardrails` with its section, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

from sdrag.guardrails.access import AccessSection
from sdrag.guardrails.citations import CitationsSection
from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.monitoring import MonitoringSection
from sdrag.guardrails.relevance import RelevanceSection
from sdrag.guardrails.staleness import StalenessSection
from sdrag.sections import Section

GuardStage = Literal["access", "retrieval", "release", "answer"]
"""Where a guard runs: around your application's search, on what it returned, on
what was released, or on the answer."""


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
            request first needs it. `sdrag.guardrails.results` says what functions of
            each stage take and return.
        does: What it does, in one sentence.
        judge: The judge of pairs that it needs where its section asks for one.
        sends: What text it sends to which model, and when; empty if it never does.
    """

    section: str
    stage: GuardStage
    screen: str
    does: str
    judge: Literal["relevance", "entailment", "contradiction"] | None = None
    sends: str = ""

    def settings(self, sections: GuardSections) -> Any:
        """Return its section, or None where it is off."""
        return getattr(sections, self.section)

    def load(self) -> Callable[..., Any]:
        """Return the function that screens."""
        return _load(self.screen)


@cache
def _load(path: str) -> Callable[..., Any]:
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
        sends="Question and passages: to the judge with `rerank: true`, else to"
        " `embeddings=` where scores are measured.",
    ),
    Guard(
        "staleness",
        "retrieval",
        "sdrag.guardrails.staleness:rank_at_retrieval",
        "Ranks recent passages first.",
    ),
    Guard(
        "injection",
        "retrieval",
        "sdrag.guardrails.injection.screen:at_retrieval",
        "Drops, strips or flags passages that give instructions to a model.",
        sends='Passages, to `judges={"injection": ...}` where it is passed.',
    ),
    Guard(
        "contradictions",
        "release",
        "sdrag.guardrails.contradictions.check:at_release",
        "Finds sources that disagree, and does what the strategy says.",
        judge="contradiction",
        sends="Pairs of released sentences, with `method: nli` or `llm`.",
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
        "sdrag.guardrails.grounding.check:at_answer",
        "Checks that a passage supports each claim.",
        judge="entailment",
        sends="Claims and passages, with `method: nli` or `llm`.",
    ),
    Guard(
        "contradictions",
        "answer",
        "sdrag.guardrails.contradictions.check:at_answer",
        "Finds claims that a passage contradicts.",
        judge="contradiction",
        sends="Claims and sentences, with `method: nli` or `llm`.",
    ),
    Guard(
        "citations",
        "answer",
        "sdrag.guardrails.citations.check:at_answer",
        "Checks that each claim is cited, and rightly.",
        sends="As `grounding`.",
    ),
)
"""Every guard that has a section, in the order in which they run."""
