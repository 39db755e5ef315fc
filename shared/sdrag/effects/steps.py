"""
Steps: logic that performs nothing.

Theory of operation. The rules of this package must hold for sync, async, batch and
stream, in two frameworks. So each rule is written once, as a generator: it yields an
*effect*, which names what it needs from the world, and is sent the answer. The rule
itself calls no model, opens no socket, and is neither sync nor async; httpx does the
same for authentication flows. `run` and `arun` drive the generator, and they are the
only sync/async twins in the core. Local work is a plain call in the rule: `arun`
advances the rule on a thread, so the event loop never waits for it.

An effect is plural: `Complete(prompts)`, not one prompt. One effect is one round trip,
so what may run at the same time is yielded together, and the runner owns concurrency.
It is answered by one `Reply` or `Failure` per item, in order, so a bad prompt costs
one passage. Only a fault of the whole effect is thrown into the generator, where it
meets the rule's own `except`: failing closed is written once, in the rule.

The prompt check is made in both drivers: a prompt that breaks a rule of
`sdrag.effects.prompts` is refused before a runner sees it, and a reply inherits the
labels of its prompt, whoever wrote the runner.

Rules compose by `yield from`, and so does the pipeline. A test of a rule needs no
model and no event loop: it sends replies and looks at the effects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from sdrag.effects.prompts import Labelled, Prompt, admit
from sdrag.errors import (
    InternalError,
    ModelReplyError,
    ModelTimeoutError,
    PromptSanitizationError,
    SdragError,
)
from sdrag.vocabulary import Confidential, Passage, Principal

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

CUT_OFF = "cut-off"
"""What an audit says in place of a server where a reply was cut off."""
_EMBED_BATCH = 512
"""A corpus in one call would outlast any time limit of a call."""
T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 -- an item of any kind


@dataclass(frozen=True, slots=True)
class Complete(Confidential):
    """Ask the model; answered by the reply's text, labelled as its prompt was."""

    items: tuple[Prompt, ...]

    def __repr__(self) -> str:
        return f"Complete({[prompt.name for prompt in self.items]})"


@dataclass(frozen=True, slots=True, repr=False)
class Embed(Confidential):
    """
    Embed texts, or questions (some models embed those differently).

    Answered by float32 vectors of unit length.
    """

    items: tuple[str, ...]
    query: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Search(Confidential):
    """
    Ask the host's retriever; answered by lists of passages.

    Args:
        filters: Metadata conditions to add to the host's own, never to replace them.
        limit: How many passages to ask for, if the host's retriever takes a number.
    """

    items: tuple[str, ...]
    filters: Any = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Score(Confidential):
    """Score pairs of texts with a cross-encoder; answered by floats."""

    items: tuple[tuple[str, str], ...]
    model: str = "relevance"


@dataclass(frozen=True, slots=True, repr=False)
class Authorize(Confidential):
    """Ask the host's authorizer about passages; answered by booleans."""

    items: tuple[Passage, ...]
    principal: Principal


Effect = Complete | Embed | Search | Score | Authorize
Steps = Generator[Effect, Any, T]
"""Logic that yields effects and returns a T."""


@dataclass(frozen=True, slots=True, repr=False)
class Reply(Confidential, Generic[T]):
    """The answer to one item of an effect."""

    value: T


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one item has no answer."""

    error: SdragError


Outcome = Reply[T] | Failure


@dataclass(frozen=True, slots=True, repr=False)
class _End(Confidential, Generic[T]):
    """The end of a rule, which none can yield."""

    value: T


class EffectRunner(Protocol):
    """
    The one place that knows a framework.

    Both methods return one outcome per item of the effect, in order, or raise an
    `SdragError` for a fault of the whole effect.
    """

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        ...

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        ...


def run(steps: Steps[T], runner: EffectRunner) -> T:
    """Drive `steps` to its result."""
    try:
        effect = next(steps)
        while True:
            try:
                _admit_all(effect)
                answer = _match(effect, runner.perform(effect))
            except PromptSanitizationError:
                raise
            except Exception as error:  # noqa: BLE001 -- the rule fails closed
                effect = steps.throw(_sealed(error))
            else:
                effect = steps.send(answer)
    except StopIteration as stop:
        return cast("T", stop.value)
    finally:
        steps.close()


async def arun(steps: Steps[T], runner: EffectRunner) -> T:
    """
    Drive `steps` to its result without blocking the event loop.

    The rule itself runs on worker threads, one after the other, in the context of the
    caller. A thread cannot be stopped: where it is advancing a rule that is cancelled,
    it closes the rule when it comes to the next effect.
    """
    from anyio import to_thread  # noqa: PLC0415 -- sync callers do without it

    context, is_over = copy_context(), Event()

    def advance(move: Callable[[Any], Effect], answer: object) -> Effect | _End[T]:
        try:
            return move(answer)
        except StopIteration as stop:
            return _End(stop.value)
        finally:
            if is_over.is_set():
                _close(steps)

    def on_thread(
        move: Callable[[Any], Effect], answer: object
    ) -> Awaitable[Effect | _End[T]]:
        return to_thread.run_sync(context.run, advance, move, answer)

    try:
        effect = await on_thread(steps.send, None)
        while not isinstance(effect, _End):
            try:
                _admit_all(effect)
                answer = _match(effect, await runner.aperform(effect))
            except PromptSanitizationError:
                raise
            except Exception as error:  # noqa: BLE001 -- the rule fails closed
                effect = await on_thread(steps.throw, _sealed(error))
            else:
                effect = await on_thread(steps.send, answer)
        return effect.value
    finally:
        is_over.set()
        _close(steps)


def _close(steps: Steps[Any]) -> None:
    with suppress(ValueError):  # a thread is advancing it
        steps.close()


def _admit_all(effect: Effect) -> None:
    """Check prompts: an unsafe one ends the steps; no rule can swallow the error."""
    if isinstance(effect, Complete):
        for prompt in effect.items:
            admit(prompt)


def _sealed(fault: Exception) -> SdragError:
    """Keep errors of the tree; of any other keep the type's name, not its message."""
    if isinstance(fault, SdragError):
        return fault.sealed()
    return InternalError(f"An effect failed with {type(fault).__name__}.")


def _match(effect: Effect, outcomes: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
    """Return the outcomes as the rule may rely on them: one for each item."""
    if len(outcomes) != len(effect.items):
        fault = InternalError(
            f"{len(outcomes)} answers came for {len(effect.items)} items."
        )
        return [Failure(fault)] * len(effect.items)
    if isinstance(effect, Complete):
        return [
            _inherit(prompt, outcome)
            for prompt, outcome in zip(effect.items, outcomes, strict=True)
        ]
    return outcomes


def _inherit(prompt: Prompt, outcome: Outcome[Labelled]) -> Outcome[Labelled]:
    """Give a reply the labels of its prompt, whatever the runner says of it."""
    if isinstance(outcome, Failure):
        return outcome
    reply = outcome.value
    return Reply(Labelled(reply.text, reply.labels | prompt.labels))


def complete(prompts: Iterable[Prompt]) -> Steps[list[Outcome[Labelled]]]:
    """Ask the model each prompt, all at the same time."""
    return (yield from _perform(Complete(tuple(prompts))))


def embed(texts: Iterable[str], *, query: bool = False) -> Steps[list[Outcome[Vector]]]:
    """Embed texts as float32 vectors of unit length, in batches that end in time."""
    listed, outcomes = tuple(texts), []
    for start in range(0, len(listed), _EMBED_BATCH):
        batch = listed[start : start + _EMBED_BATCH]
        outcomes += yield from _perform(Embed(batch, query))
    return outcomes


def search(
    query: str,
    *,
    filters: Any = None,
    limit: int | None = None,
) -> Steps[tuple[Passage, ...]]:
    """
    Ask the host's retriever.

    Raises:
        SdragError: The retriever failed.
    """
    (outcome,) = yield from _perform(Search((query,), filters, limit))
    return tuple(replied(outcome))


def score(
    pairs: Iterable[tuple[str, str]], *, model: str = "relevance"
) -> Steps[list[Outcome[float]]]:
    """Score pairs of texts with the model of that name."""
    return (yield from _perform(Score(tuple(pairs), model)))


def authorize(
    passages: Iterable[Passage], principal: Principal
) -> Steps[list[Outcome[bool]]]:
    """Ask the host whether the principal may see each passage."""
    return (yield from _perform(Authorize(tuple(passages), principal)))


def try_each(function: Callable[[I], T], items: Iterable[I]) -> list[Outcome[T]]:
    """Call a function of this package for each item; a fault costs that item only."""

    def attempt(item: I) -> Outcome[T]:
        try:
            return Reply(function(item))
        except SdragError as error:
            return Failure(error.sealed())
        except Exception as error:  # noqa: BLE001 -- its message may quote the item
            return Failure(InternalError(f"Local work failed: {type(error).__name__}."))

    return [attempt(item) for item in items]


def why_failed(error: SdragError) -> str:
    """Return the code of a model's failure, as decisions give it."""
    if isinstance(error, ModelTimeoutError):
        return "model-timeout"
    is_cut_off = isinstance(error, ModelReplyError) and error.server == CUT_OFF
    return "cut-off" if is_cut_off else "model-failed"


def replied(outcome: Outcome[T]) -> T:
    """
    Return the answer.

    Raises:
        SdragError: There is none.
    """
    if isinstance(outcome, Failure):
        raise outcome.error
    return outcome.value


def _perform(effect: Effect) -> Steps[list[Any]]:
    """Yield an effect, unless it asks for nothing."""
    if not effect.items:
        return []
    return list((yield effect))
