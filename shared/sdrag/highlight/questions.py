"""
Several questions in one prompt: split, so that each gets a summarizer of its own.

Section 9: "the highlighter can first split the questions that are present in the
prompt, and then have the H&S system make separate calls to the summarizer". A split is
the asker's words still and is labelled so. It is bounded: each part multiplies what an
attacker can choose, and costs a call.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from sdrag.errors import SdragError
from sdrag.highlight.replies import read_reply
from sdrag.prompts import Labelled, Message, Prompt, constant
from sdrag.sentences import sentences
from sdrag.steps import Steps, complete, replied

__all__ = ["Questions", "split_by_marks", "split_by_model"]

_TASK = (
    "Split what the user asks into separate questions, each of which can be understood "
    "alone. Most ask one thing only; then return it unchanged. Do not answer. "
    'Reply as JSON: {"questions": ["..."]}'
)


class Questions(BaseModel):
    """The reply of the splitter."""

    questions: list[str] = Field(default_factory=list)


def split_by_marks(question: Labelled, most: int) -> tuple[Labelled, ...]:
    """
    Split at question marks.

    Args:
        question: The asker's words. What stands before the first question stays with
            it; what follows the last one stays with that.
        most: The most parts; the rest stays with the last.
    """
    parts: list[str] = []
    closed = True
    for span in sentences(question.text):
        text = span.of(question.text)
        if closed and len(parts) < most:
            parts.append(text)
        else:
            parts[-1] += f" {text}"
        closed = text.endswith("?")
    if len(parts) > 1 and not parts[-1].endswith("?"):
        trailing = parts.pop()
        parts[-1] += f" {trailing}"
    return tuple(Labelled(part, question.labels) for part in parts) or (question,)


def split_by_model(question: Labelled, most: int) -> Steps[tuple[Labelled, ...]]:
    """Split with a model; when it fails, the question stays whole."""
    prompt = Prompt(
        "highlight.split",
        (Message("system", constant(_TASK)), Message("user", question)),
        reply_format=Questions,
    )
    (outcome,) = yield from complete([prompt])
    try:
        found = read_reply(replied(outcome), Questions).questions
    except SdragError:
        return (question,)
    parts = tuple(Labelled(text, question.labels) for text in found if text.strip())
    return parts[:most] or (question,)
