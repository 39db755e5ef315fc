"""
Streaming the answer, and nothing but the answer.

The highlights are verified before the summarizer is asked, so every token is made of
verified text. Two things remain to be checked on the way. The reply is JSON, and only
the string under `answer` may leave. And the guessed questions, which come first, are
checked by the policy's rule on divergence before the first word of the answer leaves. A
reply in another shape or order is held back whole, and checked when it has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sdrag.effects.modes import Mode
from sdrag.effects.prompts import Prompt
from sdrag.effects.replies import MAX_REPLY, read_json, read_reply
from sdrag.effects.steps import EffectRunner, Steps, arun, run
from sdrag.errors import ModelError, SdragError
from sdrag.highlight.answering import (
    check_guesses,
    decline,
    plans,
    release,
    unanswered_text,
    without_model,
)
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Ending,
    Plan,
    Settings,
)
from sdrag.highlight.summarizer import Summary
from sdrag.vocabulary import Confidential, Highlight

__all__ = ["Piece", "StreamHost", "stream"]

# In a JSON string every quotation mark is escaped, so no string holds this.
_ANSWER = re.compile(r'"answer"\s*:\s*"')
_ESCAPED_LENGTH = 6
_PAIR_LENGTH = 12
T = TypeVar("T")
Piece = str | Plan | Ending
"""What a stream yields."""


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
        conclude: Drives the last steps of a part, and announces what was decided.
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
    Yield the plan of each part of the question, then its pieces; and how it ended.

    Args:
        asked: The question and the passages.
        settings: How questions are answered.
        host: What the framework brings.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
        ModelError: The model broke off after a part of the answer had left.
    """
    plans_left = 0
    async with aclosing(_stream(asked, settings, host)) as pieces:
        async for piece in pieces:
            yield piece
            plans_left += isinstance(piece, Plan)
            if isinstance(piece, Plan) and plans_left > 1:
                yield "\n\n"


async def _stream(
    asked: Asked, settings: Settings, host: StreamHost
) -> AsyncGenerator[Piece, None]:
    """Yield what may leave of all parts of a question."""
    parts = await host.drive(plans(asked, settings))
    state = _StreamState(settings, len(parts))
    for part in parts:
        if part.prompt is None:
            for piece in state.end(part, await host.conclude(_returning(part))):
                yield piece
        else:
            async for piece in _reply(part, part.prompt, settings, host, state):
                yield piece
    for piece in state.rest():
        yield piece


async def _reply(
    part: Plan,
    prompt: Prompt,
    settings: Settings,
    host: StreamHost,
    state: _StreamState,
) -> AsyncGenerator[Piece, None]:
    """Yield what may leave of the reply to one prompt."""
    reply, allowed, is_broken = _ReplyReader(), None, False
    chunks = host.chunks(prompt)
    while not reply.is_shut:
        try:
            chunk = await host.next_chunk(chunks)
        except Exception:  # noqa: BLE001 -- of any provider
            is_broken = True
            break
        if chunk is None:
            break
        reply.feed(chunk)
        if allowed is None and reply.guesses is not None:
            allowed = await host.drive(check_guesses(settings, part, reply.guesses))
        if allowed is not None:
            if allowed.unanswered:
                break
            for piece in state.piece(part, reply.take()):
                yield piece
    last = await host.conclude(_concluded(settings, part, reply, allowed))
    for piece in state.end(part, last):
        yield piece
    if is_broken and state.is_answering(part):
        raise ModelError("The model broke off in the middle of its answer.")


def _returning(part: Plan) -> Steps[Answer]:
    """Return the answer of a part that asks no model, as steps."""
    yield from ()
    return without_model(part)


def _concluded(
    settings: Settings, part: Plan, reply: _ReplyReader, allowed: Answer | None
) -> Steps[Answer]:
    """
    Return the answer that declines, or the one whose text is what may still leave.

    That is nothing where the pieces have left already.
    """
    if allowed is None:
        try:
            summary = read_reply(reply.text, Summary)
        except SdragError:
            return decline(settings, part, "summarizer-failed")
        return (yield from release(settings, part, summary))
    if allowed.unanswered or reply.has_words:
        return allowed
    return decline(settings, part, "empty-answer")


class _StreamState(Confidential):
    """
    What has left of a stream, so that it says what `answer` would.

    A part's plan leaves with the first piece of its answer, after the guesses were
    checked. That a part declines is said once another part answers, in their order; if
    all decline, the text for declining is said once. No highlight leaves twice.
    """

    __slots__ = (
        "_answering",
        "_highlights",
        "_questions",
        "_reasons",
        "_rules",
        "_unanswered",
        "_waiting",
    )

    def __init__(self, settings: Settings, questions: int) -> None:
        self._rules = settings.rules
        self._questions = questions
        self._answering: Plan | None = None
        self._highlights: set[Highlight] = set()
        self._reasons: list[str] = []
        self._unanswered: list[int] = []
        self._waiting: list[tuple[Plan, int]] = []

    def is_answering(self, part: Plan) -> bool:
        """Say whether something of a part has left."""
        return part is self._answering

    def piece(self, part: Plan, text: str) -> Iterator[Piece]:
        """Yield a piece of a part's answer."""
        if not text:
            return
        if part is not self._answering:
            self._answering = part
            yield from self._say_unanswered()
            fresh = tuple(h for h in part.highlights if h not in self._highlights)
            self._highlights.update(fresh)
            yield replace(part, highlights=fresh)
        yield text

    def end(self, part: Plan, last: Answer) -> Iterator[Piece]:
        """Yield what is left to say of a part."""
        self._reasons.append(last.reason)
        if not last.unanswered:
            yield from self.piece(part, last.text)
            return
        number = len(self._reasons)
        self._unanswered.append(number)
        self._waiting.append((replace(part, highlights=(), reason=last.reason), number))
        if self._answering is not None:
            yield from self._say_unanswered()

    def rest(self) -> Iterator[Piece]:
        """Decline, if nothing was said; then tell how it ended."""
        if self._answering is None:
            for part, _ in self._waiting[:1]:
                yield part
                yield self._rules.decline_text
        reason = next(filter(None, self._reasons), "")
        yield Ending(bool(self._unanswered), reason, tuple(self._unanswered))

    def _say_unanswered(self) -> Iterator[Piece]:
        for part, number in self._waiting:
            yield part
            yield unanswered_text(self._rules, number, self._questions)
        self._waiting.clear()


class _ReplyReader(Confidential):
    """
    The string under `answer` in a JSON reply that comes in chunks.

    `guesses` are the guessed questions as soon as the answer begins, and stay None
    where they do not come before it or not alone. Until they are there nothing may be
    taken.
    """

    __slots__ = ("_at", "_blank", "guesses", "has_words", "is_shut", "text")

    def __init__(self) -> None:
        self.text = ""
        self.guesses: tuple[str, ...] | None = None
        self.has_words = False
        self.is_shut = False
        """Nothing more will leave; the model need not go on."""
        self._at: int | None = None
        self._blank = ""

    def feed(self, chunk: str) -> None:
        """Take a chunk of the reply."""
        self.text += chunk
        self.is_shut = len(self.text) > MAX_REPLY
        if self._at is None and (match := _ANSWER.search(self.text)):
            self._at, self.guesses = match.end(), _guesses(self.text[: match.start()])

    def take(self) -> str:
        """Return what has come of the answer since the last time, decoded."""
        if self._at is None or self.is_shut:
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
