"""
What else the question decides, where the policy wants it: section 9 of the paper.

Several questions of one message are answered apart: "the highlighter can first split
the questions that are present in the prompt, and then have the H&S system make separate
calls to the summarizer". Of a question that asks for a yes or a no the summarizer is
told which: "the highlighter can optionally pass a tag to the summarizer indicating: i)
whether the question being asked is of yes-no type, and if so ii) what it thinks to be
the answer". And a summarizer that guesses another question has answered another one:
"if there is too much divergence, the system could be programmed to refuse to answer".

So a question chooses one of three tags and how many answers there are, up to a number
of the policy; none of its words reach the summarizer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, StrictBool

from sdrag.effects.prompts import Label, Labelled, Message, Prompt, constant
from sdrag.effects.replies import read_reply
from sdrag.effects.steps import Steps, complete, embed, replied
from sdrag.errors import PromptSanitizationError, SdragError
from sdrag.highlight.exchange import Context
from sdrag.text.sentences import sentences
from sdrag.vocabulary import SCORE_DIGITS, Highlight, Passage

_ASKS = re.compile(r"[?\u061f\uff1f][\"'\u201d\u2019)\u300d!]*\s*\Z")
_AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should"
    r"|may|might|must)"
)
_SUBJECT = r"(?:i|you|he|she|it|we|they|there|this|that|these|those|the|an?)"
_AND = re.compile(
    r",?\s{1,9}(?:and|or|but)\s{1,9}(?:also\s{1,9})?(?="
    rf"(?:who|what|when|where|why|how)\s+{_AUXILIARY}\b|who\s+(?!{_SUBJECT}\s)\S"
    rf"|(?:how|what|which|whose)\s+(?!{_SUBJECT}\s)\S+\s+(?:\S+\s+)?{_AUXILIARY}\b"
    rf"|{_AUXILIARY}\s+{_SUBJECT}\s)",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
_VERDICT = (
    "Say whether the question asks for yes or no and, if it does, whether the answer "
    "that the passages give is yes. "
    'Reply as JSON: {"is_yes_no": true or false, "says_yes": true or false}'
)


class Verdict(BaseModel):
    """The two booleans that a summarizer may be told."""

    is_yes_no: StrictBool
    says_yes: StrictBool


def split_questions(text: str, most: int) -> tuple[str, ...]:
    """Split a message into its questions; what is none stays with the one before it."""
    parts, is_asked = [""], False
    for span in sentences(text):
        sentence = span.of(text)
        asks = _ASKS.search(sentence) is not None
        for piece in _questions_in(sentence) if asks else [sentence]:
            if asks and is_asked and len(parts) < most:
                parts.append(piece)
            else:
                parts[-1] = f"{parts[-1]} {piece}".strip()
            is_asked = is_asked or asks
    return tuple(parts)


def _questions_in(sentence: str) -> list[str]:
    """Split *When does it open and what does it cost?*, but not *When and where?*."""
    pieces = _AND.split(sentence)
    is_short = any(len(piece.split()) < _LEAST_WORDS for piece in pieces)
    return [sentence] if is_short else pieces


def ask_verdict(
    question: Labelled, highlights: Sequence[Highlight], labels: Label
) -> Steps[bool | None]:
    """
    Ask whether the answer is yes or no; None, where the question asks for neither.

    A model that fails leaves the summarizer without the tag.
    """
    quoted = (Passage(each.passage_id, each.text) for each in highlights)
    asked = Context(tuple(quoted), labels).with_question(question)
    messages = (Message("system", constant(_VERDICT)), Message("user", asked))
    prompt = Prompt("highlight.yes_no", messages, reply_format=Verdict)
    try:
        (outcome,) = yield from complete([prompt])
        verdict = read_reply(replied(outcome).text, Verdict)
    except PromptSanitizationError:
        raise
    except SdragError:
        return None
    return verdict.says_yes if verdict.is_yes_no else None


def is_guessed(question: str, guesses: Sequence[str], least: float) -> Steps[bool]:
    """Say whether a guess is like the question; not, where it cannot be measured."""
    try:
        outcomes = yield from embed([question, *guesses], query=True)
        asked, *guessed = [replied(outcome) for outcome in outcomes]
    except SdragError:
        return False
    cosines = (round(float(asked @ guess), SCORE_DIGITS) for guess in guessed)
    return any(cosine >= least for cosine in cosines)
