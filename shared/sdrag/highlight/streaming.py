"""
Streaming the answer, and nothing but the answer.

The highlights are verified before the summarizer is asked, so every token is made of
verified text. Two things remain to be checked on the way. The reply is JSON, and only
the string under `answer` may leave. And the guessed questions, which come first, are
checked by the policy's rule on divergence before the first word of the answer leaves. A
reply in another shape or order is held back whole, and checked when it has ended. So
are the answers to several questions: whether one is answered decides how the others
are joined.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from sdrag.effects.modes import Mode
from sdrag.effects.prompts import Prompt
from sdrag.effects.replies import MAX_REPLY, read_json, read_reply
from sdrag.effects.steps import EffectRunner, Steps, arun, run
from sdrag.errors import ModelError, SdragError
from sdrag.highlight.answering import check_guesses, decline, finish, plans, release
from sdrag.highlight.exchange import Answer, Asked, Ending, Plan, Settings
from sdrag.highlight.summarizer import Summary
from sdrag.vocabulary import Confidential, Highlight

# In a JSON string every quotation mark is escaped, so no string holds this.
_ANSWER = re.compile(r'"answer"\s*:\s*"')
_ESCAPED_LENGTH = 6
_PAIR_LENGTH = 12
T = TypeVar("T")
Piece = tuple[Highlight, ...] | str | Ending
"""What the answer rests on, before its first word; pieces of the answer; its end."""


@dataclass(frozen=True, slots=True, repr=False)
class StreamHost(Confidential):
    """
    What a framework brings to a stream.

    Args:
        mode: How its methods are called.
        runner: Answers effects.
        hide: Surrounds what is done between two pieces that leave; hides it from
            tracers.
        chunks: Asks the model for a reply in chunks: an iterator, or an async iterator
            where the mode waits.
        conclude: Drives the last steps, and announces what was decided.
    """

    mode: Mode
    runner: EffectRunner
    hide: Callable[[], AbstractContextManager[object]]
    chunks: Callable[[Prompt], Any]
    conclude: Callable[[Steps[Answer]], Awaitable[Answer]]

    async def drive(self, steps: Steps[T]) -> T:
        """Drive steps out of the tracers' sight."""
        with self.hide():
            return await self.mode(run, arun, steps, self.runner)

    async def next_chunk(self, chunks: Any) -> str | None:
        """Return the next chunk of a reply; None at its end."""
        following: Any = anext
        with self.hide():
            return await self.mode(next, following, chunks, None)


async def stream(
    asked: Asked, settings: Settings, host: StreamHost
) -> AsyncGenerator[Piece, None]:
    """
    Yield the highlights, the answer in pieces, and how it ended.

    Args:
        asked: The question and the passages.
        settings: How questions are answered.
        host: What the framework brings.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
        ModelError: The model broke off after a part of the answer had left.
    """
    parts = await host.drive(plans(asked, settings))
    part = parts[0]
    if len(parts) > 1 or part.prompt is None:
        for piece in _whole(await host.conclude(finish(parts, settings))):
            yield piece
        return
    reply, checked = _ReplyReader(), None
    is_broken = has_left = False
    chunks = host.chunks(part.prompt)
    while not (reply.is_shut or is_broken):
        chunk = None
        try:
            chunk = await host.next_chunk(chunks)
        except Exception:  # noqa: BLE001 -- of any provider
            is_broken = True
        reply.feed(chunk)
        if checked is None and reply.guesses is not None:
            checked = await host.drive(check_guesses(settings, part, reply.guesses))
            reply.allow(not checked.unanswered)
        if text := reply.take():
            for piece in (text,) if has_left else (part.highlights, text):
                yield piece
            has_left = True
    last = await host.conclude(_concluded(settings, part, reply, checked))
    if is_broken and has_left:
        raise ModelError("The model broke off in the middle of its answer.")
    for piece in (last.ending,) if has_left else _whole(last):
        yield piece


def _whole(answered: Answer) -> tuple[Piece, ...]:
    return answered.highlights, answered.text, answered.ending


def _concluded(
    settings: Settings, part: Plan, reply: _ReplyReader, checked: Answer | None
) -> Steps[Answer]:
    """Return the answer that has left, or the one that still may."""
    if checked is None:
        try:
            summary = read_reply(reply.text, Summary)
        except SdragError:
            return decline(settings, part, "summarizer-failed")
        return (yield from release(settings, part, summary))
    if checked.unanswered or reply.has_words:
        return checked
    return decline(settings, part, "empty-answer")


class _ReplyReader(Confidential):
    """
    The string under `answer` in a JSON reply that comes in chunks.

    `guesses` are the guessed questions as soon as the answer begins, and stay None
    where they do not come before it or not alone. Nothing is taken before `allow`.
    """

    __slots__ = (
        *("_at", "_blank", "_is_allowed"),
        *("guesses", "has_words", "is_shut", "text"),
    )

    def __init__(self) -> None:
        self.text = ""
        self.guesses: tuple[str, ...] | None = None
        self.has_words = False
        self.is_shut = False
        """Nothing more will leave; the model need not go on."""
        self._at: int | None = None
        self._blank = ""
        self._is_allowed = False

    def allow(self, is_allowed: bool) -> None:  # noqa: FBT001
        """Let the answer leave, or nothing more."""
        self._is_allowed, self.is_shut = is_allowed, not is_allowed or self.is_shut

    def feed(self, chunk: str | None) -> None:
        """Take a chunk of the reply, or its end."""
        self.text += chunk or ""
        self.is_shut = chunk is None or len(self.text) > MAX_REPLY
        if self._at is None and (match := _ANSWER.search(self.text)):
            self._at, self.guesses = match.end(), _guesses(self.text[: match.start()])

    def take(self) -> str:
        """Return what has come of the answer since the last time, decoded."""
        if self._at is None or self.is_shut or not self._is_allowed:
            return ""
        end, self.is_shut = _complete(self.text, self._at)
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


def _guesses(head: str) -> tuple[str, ...] | None:
    """Read what comes before the answer; None if it is not the guesses alone."""
    values = read_json(head.rstrip().removesuffix(",") + "}")
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, dict) or value.keys() != {"guessed_questions"}:
        return None
    listed = value["guessed_questions"]
    if not isinstance(listed, list):
        return None
    return tuple(guess for guess in listed if isinstance(guess, str))


def _complete(text: str, start: int) -> tuple[int, bool]:
    """Say up to where a JSON string is complete, and whether it ends there."""
    at = start
    while at < len(text):
        if text[at] == '"':
            return at, True
        step = 1
        if text[at] == "\\":
            step = 2 if text[at + 1 : at + 2] != "u" else _ESCAPED_LENGTH
            if text[at + 1 : at + 4].lower() in {"ud8", "ud9", "uda", "udb"}:
                step = _PAIR_LENGTH
        if at + step > len(text):
            break
        at += step
    return at, False
