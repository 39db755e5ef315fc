"""
Several questions in one prompt: split, so that each gets a summarizer of its own.

Section 9: "the highlighter can first split the questions that are present in the
prompt, and then have the H&S system make separate calls to the summarizer". A split is
the asker's words still and is labelled so. It is bounded: each part multiplies what an
attacker can choose, and costs a call.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from sdrag.engine.prompts import Labelled, Message, Prompt, constant
from sdrag.engine.steps import Steps, complete, replied
from sdrag.errors import SdragError
from sdrag.highlight.json_replies import read_reply
from sdrag.text.sentences import sentences

__all__ = ["Questions", "split_by_marks", "split_by_model"]

_TASK = (
    "Split what the user asks into separate questions, each of which can be understood "
    "alone. Most ask one thing only; then return it unchanged. Do not answer. "
    'Reply as JSON: {"questions": ["..."]}'
)


_MARKS = ("?", "\u061f", "\uff1f")


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
    said = [span.of(question.text) for span in sentences(question.text)]
    last = max((at for at, text in enumerate(said) if _asks(text)), default=0)
    parts: list[str] = []
    closed = True
    for index, text in enumerate(said):
        if closed and len(parts) < most and (not parts or index <= last):
            parts.append(text)
        else:
            parts[-1] += f" {text}"
        closed = _asks(text)
    return tuple(Labelled(part, question.labels) for part in parts) or (question,)


def split_by_model(question: Labelled, most: int) -> Steps[tuple[Labelled, ...]]:
    """Split with a model; when it fails, the question stays whole."""
    prompt = Prompt(
        "highlight.split",
        (Message("system", constant(_TASK)), Message("user", question)),
        reply_format=Questions,
    )
    try:
        (outcome,) = yield from complete([prompt])
        found = read_reply(replied(outcome), Questions).questions
    except SdragError:
        return (question,)
    said = dict.fromkeys(text.strip() for text in found)
    parts = tuple(Labelled(text, question.labels) for text in said if text)
    return parts[:most] or (question,)


def _asks(text: str) -> bool:
    """Say whether a text ends in a question mark, quoted or shouted."""
    return text.rstrip("\"'\u201d\u2019)\u300d!").endswith(_MARKS)
