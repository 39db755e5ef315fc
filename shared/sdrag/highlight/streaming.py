"""
Streaming the answer, and nothing but the answer.

The highlights are verified before the summarizer is asked, so every token is made of
verified text. The reply is JSON, and only the string under `answer` may leave. A reply
in another shape or order is held back whole, and read when it has ended. So is an
answer that is judged before it is released, and one of several questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from sdrag.effects.callers import Caller
from sdrag.effects.prompts import Prompt
from sdrag.effects.replies import MAX_REPLY, read_json, read_reply
from sdrag.effects.steps import EffectRunner, Steps, arun, run
from sdrag.errors import ModelError, SdragError
from sdrag.highlight.answering import (
    answer,
    decline,
    finish,
    parts_of,
    plan,
    release,
)
from sdrag.highlight.exchange import (
    Answer,
    AnswerPlan,
    Ending,
    Inquiry,
    Settings,
)
from sdrag.highlight.summarizer import Summary
from sdrag.vocabulary import Confidential, Highlight

# In a JSON string every quotation mark is escaped, so no string holds this.
_ANSWER = re.compile(r'"answer"\s*:\s*"')
_CHARACTERS = re.compile(
    r'(?:[^"\\]|\\[^u]|\\u(?i:d[89ab]).{8}|\\u(?!(?i:d[89ab])).{4})*+', re.DOTALL
)
"""Characters of a JSON string; of one that is written in two halves, both."""
T = TypeVar("T")
Piece = tuple[Highlight, ...] | str | Ending
"""What the answer rests on, before its first word; pieces of the answer; its end."""


@dataclass(frozen=True, slots=True, repr=False)
class StreamHost(Confidential):
    """
    What a framework brings to a stream.

    Args:
        do: How its methods are called.
        runner: Answers effects.
        hide: Surrounds what is done between two pieces that leave; hides it from
            tracers.
        chunks: Asks the model for a reply in chunks: an iterator, or an async iterator
            where the caller waits.
        conclude: Drives the last steps, and announces what was decided.
    """

    do: Caller
    runner: EffectRunner
    hide: Callable[[], AbstractContextManager[object]]
    chunks: Callable[[Prompt], Any]
    conclude: Callable[[Steps[Answer]], Awaitable[Answer]]

    async def drive(self, steps: Steps[T]) -> T:
        """Drive steps out of the tracers' sight."""
        with self.hide():
            return await self.do(run, arun, steps, self.runner)

    async def next_chunk(self, chunks: Any) -> str | None:
        """Return the next chunk of a reply; None at its end."""
        following: Any = anext
        with self.hide():
            return await self.do(next, following, chunks, None)


async def stream(
    asked: Inquiry, settings: Settings, host: StreamHost
) -> AsyncGenerator[Piece, None]:
    """
    Yield the highlights, the answer in pieces, and how it ended.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
        ModelError: The model broke off after a part of the answer had left.
    """
    is_held = settings.judges or len(parts_of(asked, settings)) > 1
    planned = None if is_held else await host.drive(plan(asked, settings))
    if planned is None or planned.prompt is None:
        steps = finish(asked, planned, settings) if planned else answer(asked, settings)
        for piece in _whole(await host.conclude(steps)):
            yield piece
        return
    reply = _ReplyReader()
    is_broken = has_left = False
    chunks = host.chunks(planned.prompt)
    while not (reply.is_shut or is_broken):
        chunk = None
        try:
            chunk = await host.next_chunk(chunks)
        except Exception:  # noqa: BLE001 -- of any provider
            is_broken = True
        if text := reply.take(chunk):
            for piece in (text,) if has_left else (planned.highlights, text):
                yield piece
            has_left = True
    last = await host.conclude(_conclude(asked, planned, reply, settings))
    if is_broken and has_left:
        raise ModelError("The model broke off in the middle of its answer.")
    for piece in (last.ending,) if has_left else _whole(last):
        yield piece


def _whole(answered: Answer) -> tuple[Piece, ...]:
    return answered.highlights, answered.text, answered.ending


def _conclude(
    asked: Inquiry,
    planned: AnswerPlan,
    reply: _ReplyReader,
    settings: Settings,
) -> Steps[Answer]:
    """Return the answer that has left, or the one that still may."""
    if reply.has_words:
        return Answer("", planned.highlights, dropped=planned.dropped)
    if reply.is_read:
        return decline(settings, planned, "empty-answer")
    try:
        summary = read_reply(reply.text, Summary)
    except SdragError:
        return decline(settings, planned, "summarizer-failed")
    return (yield from release(asked, planned, summary, settings))


class _ReplyReader(Confidential):
    """
    The string under `answer` in a JSON reply that comes in chunks.

    It is read where it comes first.
    """

    __slots__ = ("_at", "_blank", "has_words", "is_read", "is_shut", "text")

    def __init__(self) -> None:
        self.text = self._blank = ""
        self.is_read = self.has_words = False
        self.is_shut = False
        """Nothing more will leave; the model need not go on."""
        self._at: int | None = None

    def take(self, chunk: str | None) -> str:
        """Take a chunk, or the end; return what came of the answer, decoded."""
        self.text += chunk or ""
        self.is_shut = chunk is None or len(self.text) > MAX_REPLY
        if self._at is None and (match := _ANSWER.search(self.text)):
            self._at = match.end()
            self.is_read = read_json(self.text[: match.start()] + "}") == [{}]
        if self._at is None or self.is_shut or not self.is_read:
            return ""
        string = _CHARACTERS.match(self.text, self._at)
        end = string.end() if string else self._at
        self.is_shut = self.text.startswith('"', end)
        raw, self._at = self.text[self._at : end], end
        try:
            piece = self._blank + str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            self.is_shut = True
            return ""
        # Outer whitespace is held back: the whole answer has none of it.
        text = piece.rstrip() if self.has_words else piece.strip()
        self._blank = piece[len(piece.rstrip()) :]
        self.has_words = self.has_words or bool(text)
        return text
