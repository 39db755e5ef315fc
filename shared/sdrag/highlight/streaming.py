"""
Streaming the answer, and nothing but the answer.

The highlights are verified before the summarizer is asked, so every token is made of
verified text. Two things remain to be checked on the way. The reply is JSON, and only
the string under `answer` may leave. And the guessed questions, which come first, are
checked by the policy's rule on divergence before the first word of the answer leaves. A
reply in another shape or order is held back whole, and checked when it has ended.

`_pieces` performs nothing: it yields what may leave, and requests for what it needs.
`stream` and `astream` drive it and are the only twins. A framework brings a
`StreamHost`, which asks the model for its reply in chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sdrag.effects.prompts import Prompt
from sdrag.effects.replies import MAX_REPLY, read_reply
from sdrag.effects.steps import EffectRunner, Steps, arun, run
from sdrag.errors import ModelError, SdragError
from sdrag.highlight.answering import (
    check_guesses,
    declined,
    plans,
    released,
    unanswered_text,
    without_model,
)
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Ending,
    Plan,
    Settings,
    Unanswered,
)
from sdrag.highlight.summarizer import Summary
from sdrag.vocabulary import Confidential, Highlight

__all__ = ["StreamHost", "astream", "stream"]

# In a JSON string every quotation mark is escaped, so no string holds this.
_ANSWER = re.compile(r'"answer"\s*:\s*"')
_ESCAPED_LENGTH = 6
_PAIR_LENGTH = 12
Chunks_co = TypeVar("Chunks_co", covariant=True)
Concluded_co = TypeVar("Concluded_co", covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class StreamHost(Confidential, Generic[Chunks_co, Concluded_co]):
    """
    What a framework brings to a stream.

    Args:
        runner: Answers effects.
        hide: Surrounds what is done between two pieces that leave; hides it from
            tracers.
        chunks: Asks the model for a reply in chunks: an iterator of texts, or for
            `astream` an async one.
        conclude: Drives the last steps of a part, and hands its event to the audit;
            for `astream` it is awaited.
    """

    runner: EffectRunner
    hide: Callable[[], AbstractContextManager[object]]
    chunks: Callable[[Prompt], Chunks_co]
    conclude: Callable[[Steps[Answer]], Concluded_co]


SyncHost = StreamHost[Iterator[str], Answer]
AsyncHost = StreamHost[AsyncIterator[str], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, repr=False)
class _Drive(Confidential):
    """A request to drive steps; answered by their result."""

    steps: Steps[Any]


@dataclass(frozen=True, slots=True, repr=False)
class _Conclude(Confidential):
    """A request to drive the last steps of a part; answered by its answer."""

    steps: Steps[Answer]


@dataclass(frozen=True, slots=True, repr=False)
class _NextChunk(Confidential):
    """
    A request for the next chunk of a reply; for the first one, the prompt is given.

    Answered by the text, by None at the end, or by the error that broke it off.
    """

    prompt: Prompt | None


Piece = str | Plan | Ending
Request = _Drive | _Conclude | _NextChunk
Streaming = Generator[Request | Piece, Any, None]


def stream(asked: Asked, settings: Settings, host: SyncHost) -> Iterator[Piece]:
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
    answer: Any = None
    chunks: Iterator[str] = iter(())
    with closing(_pieces(asked, settings)) as pieces:
        while (request := _resumed(pieces, answer)) is not None:
            answer = None
            match request:
                case _Conclude(steps):
                    answer = host.conclude(steps)
                case _Drive(steps):
                    try:
                        with host.hide():
                            answer = run(steps, host.runner)
                    except SdragError as error:
                        answer = error
                case _NextChunk(prompt):
                    try:
                        with host.hide():
                            chunks = iter(host.chunks(prompt)) if prompt else chunks
                            answer = next(chunks, None)
                    except Exception as error:  # noqa: BLE001 -- of any provider
                        answer = error
                case _:
                    yield request


async def astream(
    asked: Asked, settings: Settings, host: AsyncHost
) -> AsyncIterator[Piece]:
    """Yield plans and pieces without blocking the event loop; as `stream`."""
    answer: Any = None
    chunks: AsyncIterator[str] | None = None
    with closing(_pieces(asked, settings)) as pieces:
        while (request := _resumed(pieces, answer)) is not None:
            answer = None
            match request:
                case _Conclude(steps):
                    answer = await host.conclude(steps)
                case _Drive(steps):
                    try:
                        with host.hide():
                            answer = await arun(steps, host.runner)
                    except SdragError as error:
                        answer = error
                case _NextChunk(prompt):
                    try:
                        with host.hide():
                            chunks = aiter(host.chunks(prompt)) if prompt else chunks
                            answer = await anext(chunks, None) if chunks else None
                    except Exception as error:  # noqa: BLE001 -- of any provider
                        answer = error
                case _:
                    yield request


def _resumed(pieces: Streaming, answer: Any) -> Request | Piece | None:
    """
    Send an answer; return what is yielded next, or None at the end.

    Raises:
        SdragError: The answer is one: steps failed. It holds no frame of theirs.
    """
    if isinstance(answer, SdragError):
        raise answer.sealed()
    try:
        return pieces.send(answer)
    except StopIteration:
        return None


def _pieces(asked: Asked, settings: Settings) -> Streaming:
    """Yield what may leave of all parts of a question, and what is needed for it."""
    planned: tuple[Plan, ...] = yield _Drive(plans(asked, settings))
    state = _StreamState(settings, len(planned))
    for part in planned:
        if part.prompt is None:
            last = yield _Conclude(_returning(without_model(part)))
            yield from state.end(part, last)
        else:
            yield from _replied(part, part.prompt, settings, state)
    yield from state.rest()


def _replied(
    part: Plan, prompt: Prompt, settings: Settings, state: _StreamState
) -> Streaming:
    """Yield what may leave of the reply to one prompt."""
    reply = _ReplyReader(settings, part)
    chunk: str | Exception | None = None
    opening: Prompt | None = prompt
    while not reply.is_shut:
        chunk, opening = (yield _NextChunk(opening)), None
        if not isinstance(chunk, str):
            break
        text = yield _Drive(reply.feed(chunk))
        yield from state.piece(part, text)
    last = yield _Conclude(reply.close())
    yield from state.end(part, last)
    if isinstance(chunk, Exception) and state.is_answering(part):
        raise ModelError("The model broke off in the middle of its answer.")


class _StreamState(Confidential):
    """
    What has left of a stream, so that it says what `answer` would.

    A part's plan leaves with the first piece of its answer, after the guesses were
    checked. That a part declines is said once another part answers, in their order; if
    all decline, the text for declining is said once. No highlight leaves twice.

    Args:
        settings: How questions are answered.
        questions: The number of parts.
    """

    __slots__ = (
        "_answering",
        "_highlights",
        "_questions",
        "_reasons",
        "_rules",
        "_unanswered",
        "_unsaid",
    )

    def __init__(self, settings: Settings, questions: int) -> None:
        self._rules = settings.rules
        self._questions = questions
        self._answering: Plan | None = None
        self._highlights: set[Highlight] = set()
        self._reasons: list[str] = []
        self._unanswered: list[Unanswered] = []
        self._unsaid: list[tuple[Plan, int]] = []

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
        if not last.declined:
            yield from self.piece(part, last.text)
            return
        number = len(self._reasons)
        self._unanswered.append(Unanswered(number, last.reason))
        self._unsaid.append((_without_highlights(part, last), number))
        if self._answering is not None:
            yield from self._say_unanswered()

    def rest(self) -> Iterator[Piece]:
        """Decline, if nothing was said; then tell how it ended."""
        if self._answering is None:
            for part, _ in self._unsaid[:1]:
                yield part
                yield self._rules.decline_text
        yield Ending.of(self._unanswered, self._reasons)

    def _say_unanswered(self) -> Iterator[Piece]:
        for part, number in self._unsaid:
            yield part
            yield unanswered_text(self._rules, number, self._questions)
        self._unsaid.clear()


class _ReplyReader(Confidential):
    """
    Reads one streamed reply.

    Args:
        settings: How questions are answered.
        part: The plan, with a prompt.
    """

    __slots__ = (
        "_allowed",
        "_blank",
        "_is_held_back",
        "_is_shut",
        "_part",
        "_position",
        "_settings",
        "_text",
    )

    def __init__(self, settings: Settings, part: Plan) -> None:
        self._settings = settings
        self._part = part
        self._text = ""
        self._position = 0
        self._allowed: Answer | None = None
        self._is_shut = False
        self._is_held_back = False
        self._blank = ""

    @property
    def is_shut(self) -> bool:
        """Nothing more will leave; the model need not go on."""
        return self._is_shut

    def feed(self, chunk: str) -> Steps[str]:
        """Take a chunk of the reply; return what may leave now."""
        if self._is_shut:
            return ""
        self._text += chunk
        if len(self._text) > MAX_REPLY:
            self._is_shut = True
            return ""
        if self._allowed is None and not self._is_held_back:
            found = _ANSWER.search(self._text)
            if found is None:
                return ""
            guesses = _guesses(self._text[: found.start()])
            if guesses is None:
                self._is_held_back = True
                return ""
            allowed = yield from check_guesses(self._settings, self._part, guesses)
            self._position, self._allowed = found.end(), allowed
            self._is_shut = allowed.declined
        return "" if self._is_shut or self._is_held_back else self._take()

    def close(self) -> Steps[Answer]:
        """
        End the reply.

        Returns:
            The answer that declines, or the one whose text is what may still leave:
            nothing, where the pieces have left already.
        """
        if self._allowed is not None:
            if self._allowed.declined:
                return self._allowed
            if not self._allowed.text:
                return declined(self._settings, self._part, "empty-answer")
            return self._allowed.without_text()
        try:
            summary = read_reply(self._text, Summary)
        except SdragError:
            return declined(self._settings, self._part, "summarizer-failed")
        return (yield from released(self._settings, self._part, summary))

    def _take(self) -> str:
        """Decode what has come of the answer's string since the last time."""
        end, closed = _complete(self._text, self._position)
        raw, self._position = self._text[self._position : end], end
        self._is_shut = closed
        try:
            piece = str(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            self._is_shut = True
            return ""
        return self._trimmed(piece)

    def _trimmed(self, piece: str) -> str:
        """Hold back outer whitespace, which the whole answer has none of."""
        if self._allowed is None:
            return ""
        piece = self._blank + piece
        if not self._allowed.text:
            piece = piece.lstrip()
        text = piece.rstrip()
        self._blank = piece[len(text) :]
        self._allowed = self._allowed.with_text(text)
        return text


def _without_highlights(part: Plan, last: Answer) -> Plan:
    return replace(part, highlights=(), reason=last.reason)


def _returning(answer: Answer) -> Steps[Answer]:
    """Return an answer, as steps."""
    yield from ()
    return answer


def _guesses(head: str) -> tuple[str, ...] | None:
    """Read what comes before the answer; None if it is not the guesses alone."""
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
