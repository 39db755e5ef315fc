"""
Streaming the answer, and nothing but the answer.

The highlights are verified before the summarizer is asked, so every token is made of
verified text. Two things are left to judge on the way. The reply is JSON, and only the
string under `answer` may leave. And the guessed questions, which come first, are judged
by the policy's rule on divergence before the first word of the answer does. A reply in
another shape or order is held back whole, and judged when it has ended.

`Release` performs nothing: each chunk is fed to it as steps that give what may leave.
`stream` and `astream` drive it and are the only twins; a framework brings the chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sdrag.engine.prompts import Label, Labelled, Prompt
from sdrag.engine.steps import EffectRunner, Steps, arun, run
from sdrag.errors import ModelError, SdragError
from sdrag.highlight.answering import (
    declined,
    plans,
    released,
    verdict,
    without_model,
)
from sdrag.highlight.exchange import Answer, Asked, Plan, Settings
from sdrag.highlight.json_replies import MAX_REPLY, read_reply
from sdrag.highlight.stream_state import StreamState
from sdrag.highlight.summarizer import Summary
from sdrag.vocabulary import Confidential

__all__ = ["Astreamed", "Release", "Streamed", "astream", "stream"]

# In a JSON string every quotation mark is escaped, so this stands in none.
_ANSWER = re.compile(r'"answer"\s*:\s*"')
_ESCAPED_LENGTH = 6
_PAIR_LENGTH = 12


class Release(Confidential):
    """
    One streamed answer.

    Args:
        settings: How questions are answered.
        held: The plan, with a prompt.
    """

    __slots__ = (
        "_allowed",
        "_blank",
        "_held",
        "_place",
        "_settings",
        "_shut",
        "_text",
        "_whole",
    )

    def __init__(self, settings: Settings, held: Plan) -> None:
        self._settings = settings
        self._held = held
        self._text = ""
        self._place = 0
        self._allowed: Answer | None = None
        self._shut = False
        self._whole = False
        self._blank = ""

    def __repr__(self) -> str:
        return f"Release({len(self._text)} characters)"

    @property
    def is_shut(self) -> bool:
        """Nothing more will leave; the model need not go on."""
        return self._shut

    def feed(self, chunk: str) -> Steps[str]:
        """Take a part of the reply; gives what may leave now."""
        if self._shut:
            return ""
        self._text += chunk
        if len(self._text) > MAX_REPLY:
            self._shut = True
            return ""
        if self._allowed is None and not self._whole:
            found = _ANSWER.search(self._text)
            if found is None:
                return ""
            guesses = _guesses(self._text[: found.start()])
            if guesses is None:
                self._whole = True
                return ""
            judged = yield from verdict(self._settings, self._held, guesses)
            self._place, self._allowed = found.end(), judged
            self._shut = judged.declined
        return "" if self._shut or self._whole else self._take()

    def close(self) -> Steps[Answer]:
        """
        End the reply.

        Gives the answer that declines, or the one whose text is what may still leave:
        nothing, after a stream that was released on the way.
        """
        if self._allowed is not None:
            if self._allowed.declined:
                return self._allowed
            if not self._allowed.text:
                return declined(self._settings, self._held, "empty-answer")
            return self._allowed.without_text()
        try:
            summary = read_reply(Labelled(self._text, Label.NONE), Summary)
        except SdragError:
            return declined(self._settings, self._held, "summarizer-failed")
        return (yield from released(self._settings, self._held, summary))

    def _take(self) -> str:
        """Decode what has come of the answer's string since the last time."""
        end, closed = _complete(self._text, self._place)
        raw, self._place = self._text[self._place : end], end
        self._shut = closed
        try:
            piece = str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            self._shut = True
            return ""
        return self._trimmed(piece)

    def _trimmed(self, piece: str) -> str:
        """Hold back outer whitespace, which the whole answer has none of."""
        if self._allowed is None:
            return ""
        piece = self._blank + piece
        if not self._allowed.text:
            piece = piece.lstrip()
        said = piece.rstrip()
        self._blank = piece[len(said) :]
        self._allowed = self._allowed.with_text(said)
        return said


@dataclass(frozen=True, slots=True, repr=False)
class Streamed(Confidential):
    """
    What a framework brings to a stream.

    Args:
        runner: Answers effects.
        cover: Surrounds what is done inside, between two pieces that leave.
        chunks: Asks the model for a reply in parts.
        conclude: Drives the last steps of a part and tells the audit.
    """

    runner: EffectRunner
    cover: Callable[[], AbstractContextManager[object]]
    chunks: Callable[[Prompt], Iterator[str]]
    conclude: Callable[[Steps[Answer]], Answer]


@dataclass(frozen=True, slots=True, repr=False)
class Astreamed(Confidential):
    """What a framework brings to an async stream; as `Streamed`."""

    runner: EffectRunner
    cover: Callable[[], AbstractContextManager[object]]
    chunks: Callable[[Prompt], AsyncIterator[str]]
    conclude: Callable[[Steps[Answer]], Awaitable[Answer]]


def stream(asked: Asked, settings: Settings, host: Streamed) -> Iterator[str | Plan]:
    """
    Yield the plan of each part of the question that is answered, then its pieces.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
        ModelError: The model broke off after a part of the answer had left.
    """
    fault: SdragError | None = None
    try:
        with host.cover():
            planned = run(plans(asked, settings), host.runner)
    except SdragError as error:
        fault = error
    if fault is not None:
        raise fault.sealed()
    told = StreamState()
    for held in planned:
        if held.prompt is None:
            yield from told.end(held, host.conclude(_done(without_model(held))))
        else:
            yield from _tell(held, held.prompt, Release(settings, held), told, host)
    yield from told.rest()


async def astream(
    asked: Asked, settings: Settings, host: Astreamed
) -> AsyncIterator[str | Plan]:
    """Yield plans and pieces without blocking the event loop; as `stream`."""
    fault: SdragError | None = None
    try:
        with host.cover():
            planned = await arun(plans(asked, settings), host.runner)
    except SdragError as error:
        fault = error
    if fault is not None:
        raise fault.sealed()
    told = StreamState()
    for held in planned:
        if held.prompt is None:
            for one in told.end(held, await host.conclude(_done(without_model(held)))):
                yield one
        else:
            release = Release(settings, held)
            async for one in _atell(held, held.prompt, release, told, host):
                yield one
    for one in told.rest():
        yield one


def _tell(
    held: Plan, prompt: Prompt, release: Release, told: StreamState, host: Streamed
) -> Iterator[str | Plan]:
    broken = False
    chunks = iter(host.chunks(prompt))
    while not release.is_shut:
        try:
            with host.cover():
                chunk = next(chunks, None)
        except Exception:  # noqa: BLE001 -- whatever a provider raises
            broken, chunk = True, None
        if chunk is None:
            break
        with host.cover():
            piece = run(release.feed(chunk), host.runner)
        yield from told.piece(held, piece)
    yield from told.end(held, host.conclude(release.close()))
    if broken and told.is_telling(held):
        raise ModelError("The model broke off in the middle of its answer.")


async def _atell(
    held: Plan, prompt: Prompt, release: Release, told: StreamState, host: Astreamed
) -> AsyncIterator[str | Plan]:
    broken = False
    chunks = aiter(host.chunks(prompt))
    while not release.is_shut:
        try:
            with host.cover():
                chunk = await anext(chunks, None)
        except Exception:  # noqa: BLE001 -- whatever a provider raises
            broken, chunk = True, None
        if chunk is None:
            break
        with host.cover():
            piece = await arun(release.feed(chunk), host.runner)
        for one in told.piece(held, piece):
            yield one
    for one in told.end(held, await host.conclude(release.close())):
        yield one
    if broken and told.is_telling(held):
        raise ModelError("The model broke off in the middle of its answer.")


def _done(answer: Answer) -> Steps[Answer]:
    """Have nothing left to do."""
    yield from ()
    return answer


def _guesses(head: str) -> tuple[str, ...] | None:
    """Read what comes before the answer; nothing if it is not the guesses alone."""
    start = head.find("{")
    try:
        value: Any = json.loads(head[start:].rstrip().removesuffix(",") + "}")
    except ValueError:
        return None
    listed = value.get("guessed_questions") if isinstance(value, dict) else None
    if not isinstance(listed, list) or len(value) != 1:
        return None
    return tuple(guess for guess in listed if isinstance(guess, str))


def _complete(text: str, start: int) -> tuple[int, bool]:
    """Say up to where a JSON string is complete, and whether it ends there."""
    place = start
    while place < len(text):
        if text[place] == '"':
            return place, True
        step = 1
        if text[place] == "\\":
            step = 2 if text[place + 1 : place + 2] != "u" else _ESCAPED_LENGTH
            if text[place + 1 : place + 4].lower() in {"ud8", "ud9", "uda", "udb"}:
                step = _PAIR_LENGTH
        if place + step > len(text):
            break
        place += step
    return place, False
