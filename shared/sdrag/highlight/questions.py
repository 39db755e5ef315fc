"""
What is asked of a question before it is answered: its parts, and whether it is yes-no.

Section 9: "the highlighter can first split the questions that are present in the
prompt, and then have the H&S system make separate calls to the summarizer". The parts
are still the asker's words, and are labelled so. Their number is bounded, because each
part multiplies what an attacker can choose, and costs a call.

Section 9 too: "the highlighter can optionally pass a tag to the summarizer indicating:
i) whether the question being asked is of yes-no type, and if so ii) what it thinks to
be the answer". Any highlighter can be given this. The two booleans come from a call of
their own, made at the same time as the highlighter's. A reply that is not two booleans
is ignored.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, Field, StrictBool

from sdrag.effects.prompts import Labelled, Message, Prompt, constant
from sdrag.effects.replies import read_reply
from sdrag.effects.steps import Steps, complete, gather, replied
from sdrag.errors import SdragError
from sdrag.highlight.exchange import Context, Highlighter, Proposal
from sdrag.text.sentences import sentences

_MARKS = ("?", "\u061f", "\uff1f")
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
        question: The asker's words. What is before the first question stays with
            it; what follows the last one stays with that.
        most: The most parts; the rest stays with the last.
    """
    texts = [span.of(question.text) for span in sentences(question.text)]
    last = max((at for at, text in enumerate(texts) if _asks(text)), default=0)
    parts: list[str] = []
    closed = True
    for index, text in enumerate(texts):
        if closed and len(parts) < most and (not parts or index <= last):
            parts.append(text)
        else:
            parts[-1] += f" {text}"
        closed = _asks(text)
    return tuple(Labelled(part, question.labels) for part in parts) or (question,)


def split_by_model(question: Labelled, most: int) -> Steps[tuple[Labelled, ...]]:
    """
    Split with a model; when it fails, the question stays whole.

    Args:
        question: The asker's words.
        most: The most parts; the rest stays with the last.
    """
    prompt = Prompt(
        "highlight.split",
        (Message("system", constant(_TASK)), Message("user", question)),
        reply_format=Questions,
    )
    try:
        (outcome,) = yield from complete([prompt])
        questions = read_reply(replied(outcome).text, Questions).questions
    except SdragError:
        return (question,)
    parts = [text for text in dict.fromkeys(map(str.strip, questions)) if text]
    if len(parts) > most:
        parts[most - 1 :] = [" ".join(parts[most - 1 :])]
    return tuple(Labelled(text, question.labels) for text in parts) or (question,)


def _asks(text: str) -> bool:
    """Say whether a text ends in a question mark, quoted or shouted."""
    return text.rstrip("\"'\u201d\u2019)\u300d!").endswith(_MARKS)


_YES_NO_TASK = (
    "Say whether the question asks for yes or no and, if it does, whether the answer "
    "that the passages give is yes. "
    'Reply as JSON: {"is_yes_no": true or false, "says_yes": true or false}'
)


class YesNo(BaseModel):
    """The two booleans."""

    is_yes_no: StrictBool
    says_yes: StrictBool


def with_yes_no(highlighter: Highlighter) -> Highlighter:
    """Let a highlighter tell yes-no questions and their answer."""

    def asking(question: Labelled, context: Context) -> Steps[Proposal]:
        proposed, reply = yield from gather(
            highlighter(question, context), _booleans(question, context)
        )
        proposal, booleans = replied(proposed), replied(reply)
        if booleans is None or not booleans.is_yes_no:
            return proposal
        return replace(proposal, is_yes_no=True, says_yes=booleans.says_yes)

    return asking


def _booleans(question: Labelled, context: Context) -> Steps[YesNo | None]:
    asked = context.with_question(question)
    prompt = Prompt(
        "highlight.yes_no",
        (Message("system", constant(_YES_NO_TASK)), Message("user", asked)),
        reply_format=YesNo,
    )
    try:
        (outcome,) = yield from complete([prompt])
        return read_reply(replied(outcome).text, YesNo)
    except SdragError:
        return None
