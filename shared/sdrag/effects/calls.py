"""
Making the calls of an effect: at the same time, each in time, and again if it fails.

An error of a provider or a store is replaced by an error of this package that names the
step and the type of the cause, because messages of others quote what they were given.

A time limit ends the waiting, not the call: Python cannot stop a thread. Sync calls run
on one pool of the process; a call that gets no thread within its limit fails.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import sleep as asleep
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from time import monotonic, sleep
from typing import Any, Generic, TypeVar

from sdrag.effects.limits import Limits
from sdrag.effects.retrying import is_timeout, retry_rules, server_of
from sdrag.effects.steps import Failure, Outcome, Reply, try_each
from sdrag.errors import (
    LocalLimitError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    SdragError,
)

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


@dataclass(frozen=True, slots=True, repr=False)
class Calls:
    """Calls to make; without limits each is made once, as the host would."""

    step: str
    port: Port[Any, Any]
    items: Sequence[Any]
    limits: Limits | None

    def make(self) -> list[Outcome[Any]]:
        """Make them at the same time, and wait for each no longer than its limit."""
        if self.limits is None:
            return [self._attempt(item) for item in self.items]
        left = list(enumerate(self.items))[::-1]
        outcomes: dict[int, Outcome[Any]] = {}
        running: dict[Future[Outcome[Any]], tuple[int, float]] = {}
        try:
            while left or running:
                while left and len(running) < self.limits.concurrency:
                    place, item = left.pop()
                    due = monotonic() + self.limits.seconds
                    running[_start(self._attempt, item)] = place, due
                soonest = min(due for _, due in running.values())
                wait(running, max(soonest - monotonic(), 0.0), FIRST_COMPLETED)
                for future, (place, due) in list(running.items()):
                    if future.done() or due <= monotonic():
                        del running[future]
                        future.cancel()
                        answered = future.done() and not future.cancelled()
                        outcomes[place] = future.result() if answered else self._late()
        finally:  # an interrupted program waits for no call
            for future in running:
                future.cancel()
        return [outcomes[place] for place in range(len(self.items))]

    async def amake(self, concurrency: int) -> list[Outcome[Any]]:
        """Make them without blocking the event loop."""
        gate = asyncio.Semaphore(concurrency)

        async def make(item: Any) -> Outcome[Any]:
            async with gate:
                return await self._aattempt_in_time(item)

        return await asyncio.gather(*map(make, self.items))

    def _attempt(self, item: Any) -> Outcome[Any]:
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

    Each may take so many seconds. From the first that takes longer on, all fail.
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
