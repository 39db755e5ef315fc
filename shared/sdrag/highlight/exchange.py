"""
What Highlight & Summarize takes and gives: highlighter, question, plan, answer, end.

A highlighter is not trusted. It may be a hijacked model, so nothing it returns is used
but as a proposal that verification takes or refuses. Its prompts hold the question, so
the passages must hold nothing that a constraint withholds. Their label says whether
that is so, and `sdrag.effects.prompts.admit` refuses a prompt in which UNTRUSTED meets
SENSITIVE.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sdrag.effects.limits import Limits
from sdrag.effects.prompts import Label, Labelled, Prompt, fill
from sdrag.effects.steps import Steps
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Action, Confidential, Decision, Highlight, Passage


@dataclass(frozen=True, slots=True, repr=False)
class Context(Confidential):
    """
    The retrieved passages, in document order.

    Args:
        passages: Trusted by the host.
        labels: `Label.NONE` where the passages were redacted or no constraint applies
            to them; `Label.SENSITIVE` otherwise.
    """

    passages: tuple[Passage, ...]
    labels: Label

    def with_question(self, question: Labelled) -> Labelled:
        """Return the passages, each under its number from 1, and the question."""
        blocks = (
            f"[{number}]\n{passage.text}"
            for number, passage in enumerate(self.passages, start=1)
        )
        passages = Labelled("\n\n".join(blocks), self.labels)
        return fill(
            "Passages:\n\n{passages}\n\nQuestion: {question}",
            passages=passages,
            question=question,
        )


Extracts = Sequence[str]
"""What of a context answers a question, the likeliest first; nothing declines."""

Proposal = (
    Steps[Extracts]
    | Extracts
    | Iterator[str]
    | Awaitable[Extracts]
    | AsyncIterator[str]
)
"""Extracts, as a highlighter may give them: by steps, at once or one by one."""


class Highlighter(Protocol):
    """Anything that proposes extracts: steps, functions and generators, async too."""

    def __call__(self, question: Labelled, context: Context) -> Proposal:
        """
        Propose extracts.

        What is async has as long as a call of a model. Of what comes one by one the
        first thousand are taken.

        Raises:
            SdragError: It could not; the pipeline declines.
        """
        ...


Grounding = Callable[[str, str, Sequence[Highlight]], Steps[str]]
"""Says why highlights do not support a summary that answers a question: `unsupported`,
`unchecked`, or nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """
    How questions are answered.

    Args:
        grounding: Judges each summary; without one, none is judged.
        has_model: A summarizer can be asked; without one the highlights are joined.
        placeholders: What stands for hidden values, whose words do not count.
    """

    highlighter: Highlighter
    rules: HighlightSection = field(default_factory=HighlightSection)
    has_model: bool = False
    placeholders: Placeholders = DEFAULT
    limits: Limits = field(default_factory=Limits)
    grounding: Grounding | None = None

    @property
    def judges(self) -> bool:
        """Whether an answer is judged before a word of it is released."""
        return self.grounding is not None or self.rules.min_similarity is not False


@dataclass(frozen=True, slots=True, repr=False)
class Inquiry(Confidential):
    """
    A question and what was retrieved for it.

    Args:
        passages: The host's ranking, best first.
        labels: `Label.SENSITIVE` where a constraint applies that is not yet enforced;
            such passages are refused.
    """

    question: str
    passages: tuple[Passage, ...]
    labels: Label = Label.NONE


@dataclass(frozen=True, slots=True, repr=False)
class AnswerPlan(Confidential):
    """
    What may be released, before the last call.

    Args:
        text: What is released if there is nothing to ask a model.
        dropped: What was decided on passages that the highlighter was not given, and on
            extracts that are no highlights.
    """

    text: str
    prompt: Prompt | None = None
    highlights: tuple[Highlight, ...] = ()
    reason: str = ""
    dropped: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """
    How an answer ended; holds no text.

    `reason`: the code of why it declines, or is quoted; empty otherwise.
    """

    reason: str = ""
    declined: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for a host that reads JSON."""
        return {"declined": self.declined, "reason": self.reason}


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Confidential):
    """What is released, and why."""

    text: str
    highlights: tuple[Highlight, ...] = ()
    reason: str = ""
    dropped: tuple[Decision, ...] = ()

    @property
    def ending(self) -> Ending:
        """How it ended; what rests on no highlight declines."""
        return Ending(self.reason, declined=not self.highlights)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on answer, passages and extracts, for audits."""
        action: Action = "released" if self.highlights else "withheld"
        return (Decision("answer", action, "highlight", self.reason), *self.dropped)
