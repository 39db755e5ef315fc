"""
Answering effects over ports: the runner of both frameworks.

A framework says how one thing is done, sync and async, as `Ports`. The runner makes the
calls of an effect at the same time, each within its limit. An error of a provider or a
store is replaced by an error of this package that names the step and the type of the
cause, because messages of others quote what they were given.

A time limit ends the waiting, not the call: Python cannot stop a thread. Sync calls run
on one pool of the process; a call that gets no thread within its limit fails.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import sleep as asleep
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from time import sleep
from typing import Any, Generic, TypeVar

import numpy as np

from sdrag.effects.limits import Limits
from sdrag.effects.prompts import Labelled, Prompt
from sdrag.effects.retrying import is_timeout, retry_rules, server_of
from sdrag.effects.steps import (
    CUT_OFF,
    Authorize,
    Complete,
    Effect,
    Embed,
    Failure,
    Outcome,
    Reply,
    Score,
    Search,
    try_each,
)
from sdrag.effects.tokens import Completion, Meter, text_of
from sdrag.errors import (
    HostError,
    InternalError,
    LocalLimitError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    SdragError,
    UsageError,
)
from sdrag.vocabulary import Passage

I = TypeVar("I")  # noqa: E741 -- an item of any kind
T = TypeVar("T")
_MAX_THREADS = 256


@dataclass(frozen=True, slots=True)
class Port(Generic[I, T]):
    """
    How a framework does one thing.

    Args:
        call: Does it.
        acall: Does it without blocking the event loop; without one, `call` runs on a
            thread.
        local: It is work of this package on this machine, which needs no limit.
    """

    call: Callable[[I], T]
    acall: Callable[[I], Awaitable[T]] | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Ports:
    """
    What a host passed; a missing port is an error at the effect that needs it.

    Args:
        complete: A prompt to the reply's text, or to a `Completion` that says what it
            took.
        embed: An `Embed` to one vector per text, of any length.
        search: A `Search` of one query to its passages.
        score: A `Score` to one float per pair.
        authorize: An `Authorize` to one boolean per passage.
    """

    complete: Port[Prompt, Completion | str] | None = None
    embed: Port[Embed, Sequence[Sequence[float]]] | None = None
    search: Port[Search, Sequence[Passage]] | None = None
    score: Port[Score, Sequence[float]] | None = None
    authorize: Port[Authorize, Sequence[bool]] | None = None


@dataclass(frozen=True, slots=True)
class PortRunner:
    """
    A runner over ports, for one request.

    It embeds a question once. `meter` counts what it asks of the model.
    """

    ports: Ports
    limits: Limits = field(default_factory=Limits)
    meter: Meter = field(default_factory=Meter)
    _questions: dict[Embed, Sequence[Outcome[Any]]] = field(
        default_factory=dict, repr=False
    )

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        known = self._known(effect)
        return known or self._answer(effect, self._calls(effect).make())

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        if known := self._known(effect):
            return known
        calls = self._calls(effect)
        return self._answer(effect, await calls.amake(self.limits.concurrency))

    def _known(self, effect: Effect) -> Sequence[Outcome[Any]]:
        return self._questions.get(effect, ()) if isinstance(effect, Embed) else ()

    def _calls(self, effect: Effect) -> _Calls:
        """
        Return the calls that answer an effect.

        The host's own retriever and authorizer are called once, without a limit, on the
        caller's thread: connections may belong to it, and its limits are its own.
        """
        ports, limits = self.ports, self.limits
        match effect:
            case Complete(items):
                model = _given(ports.complete, "The language model", "llm")
                prompts = [prompt.limited() for prompt in items]
                self.meter.round_trips += bool(prompts)
                port = self._metered(model)
                return _Calls("The language model", port, prompts, limits)
            case Embed():
                port = _given(ports.embed, "The embedding model", "embeddings")
                bounds = None if port.local else limits
                return _Calls("The embedding model", port, (effect,), bounds)
            case Search(items, filters, limit):
                port = _given(ports.search, "The retriever", "base_retriever")
                searches = [Search((query,), filters, limit) for query in items]
                return _Calls("The retriever", port, searches, None)
            case Score():
                step = f"The judge of {effect.model}"
                port = _given(ports.score, step, effect.model)
                return _Calls(step, port, (effect,), limits)
            case Authorize():
                port = _given(ports.authorize, "The authorizer", "authorize")
                return _Calls("The authorizer", port, (effect,), None)
        raise InternalError(f"No runner answers {type(effect).__name__}.")

    def _metered(self, port: Port[Prompt, Any]) -> Port[Prompt, Any]:
        """Return a port that does the same, and is counted."""

        def call(prompt: Prompt) -> Any:
            with self.meter.call(prompt.texts) as count:
                return count(port.call(prompt))

        async def acall(prompt: Prompt) -> Any:
            assert port.acall is not None
            with self.meter.call(prompt.texts) as count:
                return count(await port.acall(prompt))

        return Port(call, port.acall and acall, local=port.local)

    def _answer(
        self, effect: Effect, outcomes: Sequence[Outcome[Any]]
    ) -> Sequence[Outcome[Any]]:
        """Make the effect's outcomes of those of its calls."""
        if isinstance(effect, Complete):
            replies = list(map(_reply, effect.items, outcomes))
            self.meter.failures.update(filter(None, map(_failed_server, replies)))
            return replies
        outcomes = [_blame_host(outcome) for outcome in outcomes]
        if isinstance(effect, Search):
            return outcomes
        (outcome,), count = outcomes, len(effect.items)
        if isinstance(outcome, Failure):
            return [outcome] * count
        if isinstance(effect, Embed):
            vectors = _vectors(outcome.value, count)
            if effect.query:
                self._questions[effect] = vectors
            return vectors
        if len(outcome.value) != count:  # both ports answer by a list
            text = (
                f"`{type(effect).__name__.lower()}` gave not one value for each item."
            )
            return [Failure(HostError(text))] * count
        return [Reply(value) for value in outcome.value]


@dataclass(frozen=True, slots=True, repr=False)
class _Calls:
    """Calls to make; without limits each is made once, as the host would."""

    step: str
    port: Port[Any, Any]
    items: Sequence[Any]
    limits: Limits | None

    def make(self) -> list[Outcome[Any]]:
        """Make them at the same time, and wait for each no longer than its limit."""
        if self.limits is None:
            return [self._attempt(item) for item in self.items]
        contexts = [copy_context() for _ in self.items]
        waiting = ThreadPoolExecutor(self.limits.concurrency)
        try:
            return list(waiting.map(self._attempt_in_time, contexts, self.items))
        finally:  # an interrupted program waits for no call
            waiting.shutdown(wait=False, cancel_futures=True)

    async def amake(self, concurrency: int) -> list[Outcome[Any]]:
        """Make them without blocking the event loop."""
        gate = asyncio.Semaphore(concurrency)

        async def make(item: Any) -> Outcome[Any]:
            async with gate:
                return await self._aattempt_in_time(item)

        return await asyncio.gather(*map(make, self.items))

    def _attempt_in_time(self, context: Context, item: Any) -> Outcome[Any]:
        """Make one call, and wait no longer than its limit, even if it goes on."""
        assert self.limits is not None
        future = context.run(_start, self._attempt, item)
        try:
            return future.result(self.limits.seconds)
        except TimeoutError:
            future.cancel()
            return self._late()

    def _attempt(self, item: Any) -> Outcome[Any]:
        """Make one call, again if it fails."""
        from tenacity import Retrying  # noqa: PLC0415 -- `import sdrag` does without it

        try:
            if self.limits is None:
                return Reply(self.port.call(item))
            rules = retry_rules(self.limits.attempts, self.limits.seconds)
            return Reply(Retrying(sleep=sleep, **rules)(self.port.call, item))
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- its own
            return self._failed(error)

    async def _aattempt(self, item: Any) -> Outcome[Any]:
        from tenacity import AsyncRetrying  # noqa: PLC0415 -- as above

        acall = self.port.acall
        if acall is None:
            return await asyncio.wrap_future(_start(self._attempt, item))

        async def call() -> Any:  # whatever kind of callable the port has
            return await acall(item)

        try:
            if self.limits is None:
                return Reply(await call())
            rules = retry_rules(self.limits.attempts, self.limits.seconds)
            return Reply(await AsyncRetrying(sleep=asleep, **rules)(call))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return self._failed(error)  # the provider's own doing
        except Exception as error:  # noqa: BLE001 -- whatever a provider raises
            return self._failed(error)

    async def _aattempt_in_time(self, item: Any) -> Outcome[Any]:
        """Make one call, and wait no longer than its limit, even if it goes on."""
        if self.limits is None:
            return await self._aattempt(item)
        task = asyncio.ensure_future(self._aattempt(item))
        try:
            # `wait_for` would wait until a call that was cancelled has ended.
            done, _ = await asyncio.wait({task}, timeout=self.limits.seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            return self._late()
        if task.cancelled():  # the provider's own doing, for nobody cancelled this
            return Failure(ModelError(f"{self.step} was cancelled from within."))
        return task.result()

    def _late(self) -> Outcome[Any]:
        seconds = self.limits.seconds if self.limits else inf
        text = f"{self.step}: No answer within {seconds:g} s."
        return Failure(ModelTimeoutError(text))

    def _failed(self, error: BaseException) -> Failure:
        """Put an error of this package in place of another; it is not raised."""
        if isinstance(error, ModelError) and not isinstance(error, ModelReplyError):
            return Failure(type(error)(f"{self.step}: {error}", server=error.server))
        if isinstance(error, SdragError):
            return Failure(error.sealed())
        if is_timeout(error):
            text = f"{self.step} took longer than its own limit."
            return Failure(ModelTimeoutError(text))
        text = f"{self.step} failed with {type(error).__name__}."
        return Failure(ModelError(text, server=server_of(error)))


def _given(port: Port[Any, Any] | None, step: str, argument: str) -> Port[Any, Any]:
    if port is None:
        raise UsageError(f"{step} is missing.", hint=f"Pass `{argument}=`.")
    return port


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="sdrag-call")


if hasattr(os, "register_at_fork"):  # a process that was forked has none of them
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _start(function: Callable[..., T], *args: Any) -> Future[T]:
    """Run on a thread of the pool, in the context of the caller."""
    return _threads().submit(copy_context().run, function, *args)


def try_within(
    seconds: float, function: Callable[[I], T], items: Sequence[I]
) -> list[Outcome[T]]:
    """
    Call a function of the host for each item, one after the other.

    Args:
        seconds: How long each item may take.
        function: Takes an item.
        items: Of any kind.

    Returns:
        One outcome an item. From the first that takes longer on, all are failures.
    """
    outcomes: list[Outcome[T]] = []
    for item in items:
        future = _start(try_each, function, [item])
        try:
            outcomes += future.result(seconds)
        except TimeoutError:
            future.cancel()
            break
    late = Failure(LocalLimitError("A text was not read within the time limit."))
    return [*outcomes, *[late] * (len(items) - len(outcomes))]


def _failed_server(outcome: Outcome[Any]) -> str:
    """Return which server of the model failed, and how; empty where none did."""
    error = outcome.error if isinstance(outcome, Failure) else None
    if isinstance(error, ModelTimeoutError):
        return error.server or "timeout"
    return error.server if isinstance(error, ModelError) else ""


def _blame_host(outcome: Outcome[Any]) -> Outcome[Any]:
    """Blame the host, and not a model, where a call to the host has failed."""
    if isinstance(outcome, Failure) and isinstance(outcome.error, ModelError):
        return Failure(HostError(str(outcome.error)))
    return outcome


def _reply(prompt: Prompt, outcome: Outcome[Completion | str]) -> Outcome[Labelled]:
    """A reply inherits the labels of its prompt; what is no text is no reply."""
    if isinstance(outcome, Failure):
        return outcome
    needs_all = prompt.max_tokens is not None or prompt.reply_format is not None
    if needs_all and isinstance(outcome.value, Completion) and outcome.value.is_cut_off:
        message = "A reply was cut off at the limit of tokens."
        return Failure(ModelReplyError(message, server=CUT_OFF))
    text: object = text_of(outcome.value)
    if not isinstance(text, str):
        return Failure(ModelReplyError(f"A {type(text).__name__} is no reply."))
    return Reply(Labelled(text, prompt.labels))


def _vectors(rows: Sequence[Sequence[float]], count: int) -> Sequence[Outcome[Any]]:
    """Return rows as vectors of unit length, if there is one for each text."""
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count:
        text = f"{count} texts were not given one vector each."
        return [Failure(HostError(text))] * count
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        return [Failure(HostError("The embedding model gave no numbers."))] * count
    if not norms.all():
        return [Failure(HostError("The embedding model gave only zeros."))] * count
    return [Reply(row) for row in matrix / norms]
