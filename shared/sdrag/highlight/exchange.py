"""What Highlight & Summarize takes and gives: settings, question, plan, answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sdrag.engine.prompts import Label, Prompt
from sdrag.highlight.protocol import Highlighter
from sdrag.highlight.verification import Refusal
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Action, Confidential, Decision, Highlight, Passage

__all__ = ["Answer", "Asked", "Plan", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """
    How questions are answered.

    Args:
        highlighter: Proposes extracts.
        rules: The policy's section.
        has_model: A summarizer can be asked; without one the highlights are joined.
        withheld: Placeholders of the policy, whose words do not count.
    """

    highlighter: Highlighter
    rules: HighlightSection = field(default_factory=HighlightSection)
    has_model: bool = False
    withheld: tuple[str, ...] = ("[REDACTED]",)


@dataclass(frozen=True, slots=True, repr=False)
class Asked(Confidential):
    """
    A question and what was retrieved for it.

    Args:
        question: The asker's words.
        passages: The host's ranking, best first.
        labels: `Label.SENSITIVE` where a constraint applies that is not yet enforced;
            such passages are refused.
    """

    question: str
    passages: tuple[Passage, ...]
    labels: Label = Label.NONE


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Confidential):
    """
    What may be released, before the last call.

    Args:
        question: The asker's words; for measuring divergence, never for a prompt.
        text: What is released if there is nothing to ask a model.
        prompt: What the summarizer is asked, or nothing.
        highlights: What was verified.
        refusals: Why other extracts were not.
        reason: Why it declines, as a short code; empty when it does not.
    """

    question: str
    text: str
    prompt: Prompt | None = None
    highlights: tuple[Highlight, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    reason: str = ""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What verification decided, for the audit."""
        return _refused(self.refusals)


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Confidential):
    """
    What is released, and why.

    Args:
        text: For the asker.
        highlights: What it rests on, for citing.
        refusals: Why other extracts were not used.
        reason: Why it declines or is flagged, as a short code.
        declined: The text is the host's text for declining.
        guessed_questions: The summarizer's guesses; not for the asker.
        similarity: Of the question to the nearest guess, where it was measured.
    """

    text: str
    highlights: tuple[Highlight, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    reason: str = ""
    declined: bool = False
    guessed_questions: tuple[str, ...] = ()
    similarity: float | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on the answer and on the extracts, for the audit."""
        action: Action = "flagged" if self.reason else "released"
        if self.declined:
            action = "withheld"
        said = Decision("answer", action, "highlight", self.reason)
        return (said, *_refused(self.refusals))

    def with_text(self, text: str) -> Answer:
        """Add to the text."""
        return replace(self, text=self.text + text)

    def without_text(self) -> Answer:
        """Leave the text out."""
        return replace(self, text="")

    def __repr__(self) -> str:
        return (
            f"Answer({len(self.text)} characters, {len(self.highlights)} highlights, "
            f"declined={self.declined}, reason={self.reason!r})"
        )


def _refused(refusals: tuple[Refusal, ...]) -> tuple[Decision, ...]:
    return tuple(
        Decision(
            refusal.passage_id or "extract", "dropped", "highlight", refusal.reason
        )
        for refusal in refusals
    )
