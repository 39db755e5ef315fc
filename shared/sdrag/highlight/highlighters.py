"""
The highlighters of the package: those that ask a language model, and all by name.

Section 4.1 of the paper. None of them is trusted: the model may have been told by the
user to return anything at all. The answer that the structured and the two-step
highlighter make the model write first only grounds it; it is dropped here.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from inspect import isawaitable
from itertools import islice
from types import MappingProxyType
from typing import Any, cast

from pydantic import BaseModel, Field

from sdrag.effects.calls import try_within
from sdrag.effects.prompts import Labelled, Message, Prompt, constant, fill
from sdrag.effects.replies import MAX_REPLY, read_reply
from sdrag.effects.steps import Steps, complete, replied
from sdrag.errors import HostError, UsageError
from sdrag.highlight.exchange import Context, Extracts, Highlighter
from sdrag.highlight.local import local
from sdrag.text.folding import Folded, fold, fold_text

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


def baseline(question: Labelled, context: Context) -> Steps[Sequence[str]]:
    """Ask for a list of extracts (H&S Baseline)."""
    asked = context.with_question(question)
    reply = yield from _ask("baseline", f"{_TASK} {_BULLETS}", asked)
    matches = (_BULLET.fullmatch(line) for line in reply.text[:MAX_REPLY].splitlines())
    return [_bare(match["text"]) for match in matches if match]


def structured(question: Labelled, context: Context) -> Steps[Sequence[str]]:
    """Ask for an answer, then for the text it rests on (H&S Structured)."""
    asked = context.with_question(question)
    task = f"{_TASK} {_STRUCTURED}"
    reply = yield from _ask("structured", task, asked, Extraction)
    return read_reply(reply.text, Extraction).text_extracts


def two_steps(question: Labelled, context: Context) -> Steps[Sequence[str]]:
    """Ask for an answer; then, in a second call, for its text (H&S Two Steps)."""
    asked = context.with_question(question)
    answer = yield from _ask("answer", _ANSWER, asked)
    with_answer = fill("{asked}\n\nAnswer: {answer}", asked=asked, answer=answer)
    task = f"{_TASK} {_GIVEN_ANSWER}"
    reply = yield from _ask("two_steps", task, with_answer, Extraction)
    return read_reply(reply.text, Extraction).text_extracts


def by_span(question: Labelled, context: Context) -> Steps[Sequence[str]]:
    """
    Ask where each extract starts and ends (H&S Span); nothing is matched fuzzily.

    A stretch that cannot be found is dropped: "the pipeline simply rejected any
    non-matching texts".
    """
    asked = context.with_question(question)
    reply = yield from _ask("span", f"{_TASK} {_SPANS}", asked, Spans)
    texts = [passage.text for passage in context.passages]
    extracts = [
        between(texts[ends.passage - 1], ends.start, ends.end)
        for ends in read_reply(reply.text, Spans).spans
        if 1 <= ends.passage <= len(texts)
    ]
    return [extract for extract in extracts if extract]


def _ask(
    name: str,
    task: str,
    asked: Labelled,
    reply_format: type[BaseModel] | None = None,
) -> Steps[Labelled]:
    messages = (Message("system", constant(task)), Message("user", asked))
    prompt = Prompt(f"highlight.{name}", messages, reply_format=reply_format)
    (outcome,) = yield from complete([prompt])
    return replied(outcome)


def _bare(line: str) -> str:
    """Take the quotation marks off a line that has them at both ends."""
    text = line.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        return text[1:-1]
    return text


_MAX_OCCURRENCES = 1_000


def between(text: str, start: str, end: str) -> str | None:
    """Give the passage's own text from `start` to `end`, both included."""
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


HIGHLIGHTERS: Mapping[str, Highlighter] = MappingProxyType(
    {
        "baseline": baseline,
        "local": local,
        "span": by_span,
        "structured": structured,
        "two_steps": two_steps,
    }
)


def propose(
    highlighter: Highlighter, question: Labelled, context: Context, seconds: float
) -> Steps[Extracts]:
    """Run a highlighter, an async one for as many seconds."""
    given: Any = highlighter(question, context)
    if isawaitable(given) or isinstance(given, AsyncIterator):

        def wait(given: Any) -> Any:  # on a thread: the caller's may have a loop
            return asyncio.run(_wait(given, seconds))

        (outcome,) = try_within(seconds, wait, [given])
        given = replied(outcome)
    if isinstance(given, Generator):
        given = yield from _collect(given)
    elif isinstance(given, Iterator):
        given = list(islice(given, _MAX_OCCURRENCES))
    extracts: Any = given if isinstance(given, (list, tuple)) else [None]
    if not all(isinstance(each, str) for each in extracts):
        raise HostError(f"A highlighter gave a {type(given).__name__} of no strings.")
    return cast("Extracts", extracts)


async def _wait(given: Any, seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        if not isinstance(given, AsyncIterator):
            return await given
        texts: list[Any] = []
        try:
            async for each in given:
                texts.append(each)
                if len(texts) == _MAX_OCCURRENCES:
                    break
        finally:  # left to the loop, what fails then would be logged
            if isinstance(given, AsyncGenerator):
                await given.aclose()
        return texts


def _collect(steps: Generator[Any, Any, Any]) -> Steps[Any]:
    """Perform the effects of a generator; return its strings, or its result."""
    texts: list[str] = []
    try:
        item = next(steps)
        for _ in range(_MAX_OCCURRENCES):
            if isinstance(item, str):
                texts.append(item)
                item = next(steps)
                continue
            try:
                answer = yield item
            except Exception as error:  # noqa: BLE001 -- it is the generator's
                item = steps.throw(error)
            else:
                item = steps.send(answer)
    except StopIteration as stop:
        return stop.value if stop.value is not None else texts
    finally:
        steps.close()
    return texts


def highlighter_named(name: str) -> Highlighter:
    """Return a highlighter of the package, by its name."""
    if name not in HIGHLIGHTERS:
        raise UsageError(
            f"There is no highlighter {name!r}.",
            hint=f"The highlighters are {', '.join(HIGHLIGHTERS)}.",
        )
    return HIGHLIGHTERS[name]
