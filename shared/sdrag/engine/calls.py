"""
Calls of models and hosts: at the same time, within limits, with errors of sdrag.

A time limit on a sync call ends the waiting, not the call: Python cannot stop a
thread. Calls run on daemon threads, so a hanging one never holds the process at exit,
and the hanging ones are counted: when too many hang, new calls fail at once rather
than pile up. An error of a provider or store is replaced by one of ours that names its
type only, because messages of others quote what they were given.

A call that was refused for now waits within its own time, on its own thread or on the
loop, so no other call waits with it. It still counts as one of the calls that run at
the same time: another call instead of it would only be refused too.
"""

from __future__ import annotations

import asyncio
from asyncio import sleep as asleep
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, Generic, NamedTuple, TypeVar, cast

from sdrag.engine.retrying import Retrying, refusal, server_of
from sdrag.engine.steps import Failure, Outcome, Reply
from sdrag.engine.waited_for import (
    WaitedFor,
    hanging,
    start_thread,
    too_many_hang,
)
from sdrag.errors import (
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    SdragError,
    UsageError,
)

__all__ = [
    "Limits",
    "Port",
    "abounded",
    "attempt",
    "on_thread",
    "side_by_side",
]

I = TypeVar("I")  # noqa: E741 -- an item of any kind
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """
    The bounds of model calls, and of local work.

    Local work is what detectors, scorers, scans and highlighters of this machine do
    with texts at a question. A text that is over a limit is not read, and what was not
    read is not released. Nothing limits the local work of a binder: it reads a whole
    corpus, and what it does not read now has to be read at a question.

    Args:
        seconds: How long one call may take, with its waits where the provider has
            refused it for now.
        concurrency: How many run at the same time.
        attempts: How often a call that failed is made, in all; refusals for now do not
            count.
        hanging: How many calls, over all runners, may be left hanging.
        local_characters: How many characters local work may read for one request, the
            shortest texts first; None for any number.
    """

    seconds: float = 60.0
    concurrency: int = 32
    attempts: int = 2
    hanging: int = 64
    local_characters: int | None = 200_000

    def __post_init__(self) -> None:
        bounds = [self.seconds, self.concurrency, self.attempts, self.hanging]
        if self.local_characters is not None:
            bounds.append(self.local_characters)
        if not all(0 < bound < inf for bound in bounds):
            raise UsageError(
                "Every limit of `Limits` must be above zero and finite.",
                hint="Pass None to leave local work without a limit.",
            )


@dataclass(frozen=True, slots=True)
class Port(Generic[I, T]):
    """
    How a framework does one thing.

    Args:
        call: Does it.
        acall: Does it without blocking the event loop; when the framework has no such
            way, `call` runs on a thread.
        local: It is work of our own on this machine: it ends by itself, and a time
            limit would only leave it running with nobody waiting.
    """

    call: Callable[[I], T]
    acall: Callable[[I], Awaitable[T]] | None = None
    local: bool = False


_CALL = "A call"
"""How errors begin until `of_step` says what was called."""


def _failed(error: BaseException) -> Failure:
    """
    Put an error of ours in place of a provider's or a host's.

    It is made and not raised, so nothing of the other hangs on it.
    """
    if isinstance(error, SdragError):
        return Failure(error.sealed())
    if isinstance(error, TimeoutError):
        return Failure(ModelTimeoutError(f"{_CALL} took longer than its own limit."))
    kind = type(error).__name__
    return Failure(ModelError(f"{_CALL} failed with {kind}.", server=server_of(error)))


def of_step(outcome: Outcome[T], step: str) -> Outcome[T]:
    """
    Say in the error of a failed call what was called.

    Args:
        outcome: Of the call.
        step: What was called, such as `The retriever`.
    """
    if not isinstance(outcome, Failure):
        return outcome
    error = outcome.error
    if not isinstance(error, ModelError) or isinstance(error, ModelReplyError):
        return outcome
    said = str(error)
    named = said.startswith(f"{_CALL} ")
    named_step = step + said[len(_CALL) :] if named else f"{step}: {said}"
    return Failure(type(error)(named_step, server=error.server))


_Made = tuple[Outcome[T], float | None]
"""What came of a call, and for how long the provider is to be left alone if it refused
for now."""

_Ended = Outcome[T] | BaseException
"""What came of a call on a thread, or what interrupted it."""


def attempt(call: Callable[[I], T], item: I, retrying: Retrying) -> Outcome[T]:
    """Make one call, again if it fails."""
    while True:
        outcome, refused = _made(call, item)
        pause = retrying.pause(outcome, refused)
        if pause is None:
            return outcome
        if pause:
            sleep(pause)


def _made(call: Callable[[I], T], item: I) -> _Made[T]:
    try:
        return Reply(call(item)), None
    except Exception as error:  # noqa: BLE001 -- whatever a provider raises
        return _failed(error), refusal(error)


async def _amade(call: Callable[[I], Awaitable[T]], item: I) -> _Made[T]:
    try:
        return Reply(await call(item)), None
    except Exception as error:  # noqa: BLE001 -- whatever a provider raises
        return _failed(error), refusal(error)


_TOO_MANY = "Too many calls are hanging; this one was not made."


class _Call(NamedTuple):
    """One call on a daemon thread."""

    deadline: float
    thread: WaitedFor


def side_by_side(
    call: Callable[[I], T], items: Sequence[I], limits: Limits
) -> list[Outcome[T]]:
    """
    Make the calls on daemon threads, so many at once, each within its time.

    Raises:
        BaseException: One was interrupted; nobody waits for the others any more.
    """
    late = Failure(ModelTimeoutError(f"No answer within {limits.seconds:g} s."))
    outcomes: list[Outcome[T]] = [late] * len(items)
    waiting = deque(range(len(items)))
    running: dict[int, _Call] = {}
    done: SimpleQueue[tuple[int, _Ended[T]]] = SimpleQueue()
    while waiting or running:
        while waiting and len(running) < limits.concurrency:
            index = waiting.popleft()
            if too_many_hang(limits.hanging):
                outcomes[index] = Failure(ModelTimeoutError(_TOO_MANY))
                continue
            running[index] = _start(call, items[index], index, limits, done)
        for index, outcome in _finished(done, running):
            if not running.pop(index, None):
                continue
            if isinstance(outcome, BaseException):
                for call_of_other in running.values():
                    call_of_other.thread.abandon()
                raise outcome
            outcomes[index] = outcome
        for index in [i for i, c in running.items() if c.deadline <= monotonic()]:
            running.pop(index).thread.abandon()
    return outcomes


def _start(
    call: Callable[[I], T],
    item: I,
    index: int,
    limits: Limits,
    done: SimpleQueue[tuple[int, _Ended[T]]],
) -> _Call:
    deadline = monotonic() + limits.seconds
    retrying = Retrying(limits.attempts, deadline)

    def deliver(outcome: Outcome[T] | None, error: BaseException | None) -> None:
        if outcome is not None:
            done.put((index, outcome))
        elif isinstance(error, (Exception, asyncio.CancelledError)):
            done.put((index, _failed(error)))
        elif error is not None:
            done.put((index, error))

    thread = start_thread(lambda item: attempt(call, item, retrying), item, deliver)
    return _Call(deadline, thread)


def _finished(
    done: SimpleQueue[tuple[int, _Ended[T]]], running: dict[int, _Call]
) -> Iterator[tuple[int, _Ended[T]]]:
    """Wait for one call to end or for the first deadline."""
    if not running:
        return
    nearest = min(call.deadline for call in running.values())
    try:
        yield done.get(timeout=max(0.0, nearest - monotonic()))
    except Empty:
        return


async def abounded(
    port: Port[I, T], item: I, limits: Limits | None, gate: asyncio.Semaphore
) -> Outcome[T]:
    """Make one call without blocking the loop, within its time."""
    async with gate:
        if limits is None:
            return await _aattempt(port, item, Retrying(1))
        if too_many_hang(limits.hanging):
            return Failure(ModelTimeoutError(_TOO_MANY))
        retrying = Retrying(limits.attempts, monotonic() + limits.seconds)
        task = asyncio.ensure_future(_aattempt(port, item, retrying))
        try:
            # asyncio.wait, not wait_for: that one waits for the cancelled call to end.
            await asyncio.wait({task}, timeout=limits.seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.cancelled():  # by the provider's own doing, for nobody cancelled us
            return Failure(ModelError("A call was cancelled from within."))
        if task.done():
            return task.result()
        _abandon(task)
        return Failure(ModelTimeoutError(f"No answer within {limits.seconds:g} s."))


def _abandon(task: asyncio.Task[Any]) -> None:
    """Cancel a late call, and count it for as long as it does not obey."""
    hanging.add(1)
    task.add_done_callback(lambda _: hanging.add(-1))
    task.cancel()


async def _aattempt(port: Port[I, T], item: I, retrying: Retrying) -> Outcome[T]:
    while True:
        if port.acall is None:
            outcome, refused = await on_thread(
                lambda item: _made(port.call, item), item
            )
        else:
            outcome, refused = await _amade(port.acall, item)
        pause = retrying.pause(outcome, refused)
        if pause is None:
            return outcome
        if pause:
            await asleep(pause)


async def on_thread(function: Callable[[I], T], item: I) -> T:
    """Run on a daemon thread; one that nobody waits for any more counts as hanging."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)

    def deliver(result: T | None, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop was closed while the call was hanging
            loop.call_soon_threadsafe(settle, result, error)

    thread = start_thread(function, item, deliver)
    try:
        return cast("T", await answer)
    except asyncio.CancelledError:
        thread.abandon()
        raise
