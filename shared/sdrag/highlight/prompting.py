"""
The highlighters that ask a language model: baseline, structured, two steps, span.

Section 4.1 of the paper. None of them is trusted: the model may have been told by the
asker to return anything at all. The answer that the structured and the two-step
highlighter make the model write first only grounds it; it is dropped here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice

from pydantic import BaseModel, Field

from sdrag.effects.prompts import Labelled, Message, Prompt, constant, fill
from sdrag.effects.replies import MAX_REPLY, read_reply
from sdrag.effects.steps import Steps, complete, replied
from sdrag.highlight.protocol import Context, Proposal
from sdrag.text.folding import Folded, fold, fold_text

__all__ = [
    "Extraction",
    "Spans",
    "baseline",
    "between",
    "by_span",
    "structured",
    "two_steps",
]

_BULLET = re.compile(r"[ \t]*(?:[-*\u2022]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)")
_QUOTES = "\"'\u201c\u201d\u2018\u2019"

_TASK = (
    "You find, in passages, the text that answers a question. Copy it word for word: "
    "whole sentences, unchanged, none longer than it need be. Add nothing of your own. "
    "Where the passages do not answer the question, return no text."
)
_BULLETS = "Write each piece of text on a line of its own that begins with '- '."
_STRUCTURED = (
    "First answer the question for yourself, then give the text that the answer rests "
    'on. Reply as JSON: {"answer": "...", "text_extracts": ["...", "..."]}'
)
_ANSWER = "Answer the question from the passages, in a few sentences."
_GIVEN_ANSWER = (
    "An answer to the question is given. Give the text that it rests on. "
    'Reply as JSON: {"text_extracts": ["...", "..."]}'
)
_SPANS = (
    "Do not copy it whole. For each piece give the number of its passage, its first "
    "words and its last words, at least four of each and enough to be found again. "
    'Reply as JSON: {"spans": [{"passage": 1, "start": "...", "end": "..."}]}'
)
_QUESTION = "Passages:\n\n{passages}\n\nQuestion: {question}"
_WITH_ANSWER = _QUESTION + "\n\nAnswer: {answer}"


class Extraction(BaseModel):
    """The reply of the structured highlighter; the answer grounds it."""

    answer: str = ""
    text_extracts: list[str] = Field(default_factory=list)


class SpanEnds(BaseModel):
    """The first and the last words of a stretch of a passage, counted from 1."""

    passage: int
    start: str
    end: str


class Spans(BaseModel):
    """The reply of the span highlighter."""

    spans: list[SpanEnds] = Field(default_factory=list)


def baseline(question: Labelled, context: Context) -> Steps[Proposal]:
    """Ask for a list of extracts (H&S Baseline)."""
    prompt = _prompt("highlight.baseline", f"{_TASK} {_BULLETS}", question, context)
    (outcome,) = yield from complete([prompt])
    reply = replied(outcome).text[:MAX_REPLY]
    found = (_BULLET.fullmatch(line) for line in reply.splitlines())
    return Proposal(tuple(_bare(match["text"]) for match in found if match))


def structured(question: Labelled, context: Context) -> Steps[Proposal]:
    """Ask for an answer, then for the text it rests on (H&S Structured)."""
    prompt = _prompt(
        "highlight.structured", f"{_TASK} {_STRUCTURED}", question, context, Extraction
    )
    (outcome,) = yield from complete([prompt])
    return Proposal(tuple(read_reply(replied(outcome).text, Extraction).text_extracts))


def two_steps(question: Labelled, context: Context) -> Steps[Proposal]:
    """Ask for an answer; then, in a second call, for its text (H&S Two Steps)."""
    first = _prompt("highlight.answer", _ANSWER, question, context)
    (outcome,) = yield from complete([first])
    values = {"passages": context.numbered(), "question": question}
    second = Prompt(
        "highlight.two_steps",
        (
            Message("system", constant(f"{_TASK} {_GIVEN_ANSWER}")),
            Message("user", fill(_WITH_ANSWER, **values, answer=replied(outcome))),
        ),
        reply_format=Extraction,
    )
    (outcome,) = yield from complete([second])
    return Proposal(tuple(read_reply(replied(outcome).text, Extraction).text_extracts))


def by_span(question: Labelled, context: Context) -> Steps[Proposal]:
    """
    Ask where each extract starts and ends (H&S Span); nothing is matched fuzzily.

    A stretch that cannot be found is dropped: "the pipeline simply rejected any
    non-matching texts".
    """
    prompt = _prompt("highlight.span", f"{_TASK} {_SPANS}", question, context, Spans)
    (outcome,) = yield from complete([prompt])
    texts = [passage.text for passage in context.passages]
    found = [
        between(texts[ends.passage - 1], ends.start, ends.end)
        for ends in read_reply(replied(outcome).text, Spans).spans
        if 1 <= ends.passage <= len(texts)
    ]
    return Proposal(tuple(extract for extract in found if extract))


def _prompt(
    name: str,
    task: str,
    question: Labelled,
    context: Context,
    reply_format: type[BaseModel] | None = None,
) -> Prompt:
    asked = fill(_QUESTION, passages=context.numbered(), question=question)
    messages = (Message("system", constant(task)), Message("user", asked))
    return Prompt(name, messages, reply_format=reply_format)


def _bare(line: str) -> str:
    """Take the quotation marks off a line that has them at both ends."""
    text = line.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        return text[1:-1]
    return text


_MAX_OCCURRENCES = 1_000


def between(text: str, start: str, end: str) -> str | None:
    """
    Give the passage's own text from `start` to `end`, both included.

    Args:
        text: The passage.
        start: The first words, up to case, whitespace and typography.
        end: The last words.
    """
    folded = fold(text)
    first, last = fold_text(start), fold_text(end)
    starts, ends = _places(folded, first), _places(folded, last)
    pairs = []
    for opening in starts:
        # In a short sentence the last words begin among the first ones.
        index = bisect_left(ends, opening + max(0, len(first) - len(last)))
        if index < len(ends):
            pairs.append((ends[index] + len(last) - opening, opening))
    if not pairs:
        return None
    length, opening = min(pairs)
    return folded.span(opening, opening + length).of(text)


def _places(folded: Folded, phrase: str) -> list[int]:
    return list(islice(folded.positions(phrase), _MAX_OCCURRENCES))
