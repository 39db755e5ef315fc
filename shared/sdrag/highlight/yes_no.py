"""
Yes-no questions: two booleans beside the extracts, and nothing else.

Section 9: "the highlighter can optionally pass a tag to the summarizer indicating: i)
whether the question being asked is of yes-no type, and if so ii) what it thinks to be
the answer". Any highlighter can be given this; the booleans come from a call of their
own, made side by side with the highlighter's, and a reply that is not two booleans is
none at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, StrictBool

from sdrag.engine.prompts import Labelled, Message, Prompt, constant, fill
from sdrag.engine.steps import Steps, complete, replied
from sdrag.errors import SdragError
from sdrag.highlight.json_replies import read_reply
from sdrag.highlight.protocol import Context, Highlighter, Proposal
from sdrag.highlight.together import together

__all__ = ["YesNo", "with_yes_no"]

_TASK = (
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
        both: list[Steps[Any]] = [
            highlighter(question, context),
            _booleans(question, context),
        ]
        proposed, said = yield from together(both)
        proposal: Proposal = replied(proposed)
        found: YesNo | None = replied(said)
        if found is None or not found.is_yes_no:
            return proposal
        return replace(proposal, is_yes_no=True, says_yes=found.says_yes)

    return asking


def _booleans(question: Labelled, context: Context) -> Steps[YesNo | None]:
    asked = fill(
        "Passages:\n\n{passages}\n\nQuestion: {question}",
        passages=context.numbered(),
        question=question,
    )
    prompt = Prompt(
        "highlight.yes_no",
        (Message("system", constant(_TASK)), Message("user", asked)),
        reply_format=YesNo,
    )
    try:
        (outcome,) = yield from complete([prompt])
        return read_reply(replied(outcome), YesNo)
    except SdragError:
        return None
