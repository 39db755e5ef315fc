"""
Code that calls a framework, written once for sync and async.

A framework has most methods twice. Code over them is a coroutine that is given a
caller, and awaits `do(method, async_method, ...)`. `call_sync` calls the method at once
and nothing waits, so `run_sync` drives the coroutine without an event loop.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
)
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from sdrag.effects.calls import Port
from sdrag.effects.tokens import count_request
from sdrag.errors import InternalError

P = ParamSpec("P")
T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 -- an item of any kind


class Caller(Protocol):
    """Calls one of two methods: `call_sync` or `call_async`."""

    def __call__(
        self,
        call: Callable[P, T],
        acall: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Coroutine[Any, Any, T]:
        """Call one of two methods that do the same."""


async def call_sync(
    call: Callable[P, T],
    acall: Callable[P, Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call the sync method."""
    del acall
    count_request()
    return call(*args, **kwargs)


async def call_async(
    call: Callable[P, T],
    acall: Callable[P, Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Await the async method."""
    del call
    count_request()
    return await acall(*args, **kwargs)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise InternalError("A sync call waited.")


def iterate_sync(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items of an async generator that never waits."""
    try:
        while True:
            try:
                item = run_sync(items.asend(None))
            except StopAsyncIteration:
                return
            yield item
    finally:
        run_sync(items.aclose())


def make_port(function: Callable[[Caller, I], Coroutine[Any, Any, T]]) -> Port[I, T]:
    """Make a port of a function of either caller."""
    return Port(
        lambda item: run_sync(function(call_sync, item)),
        lambda item: function(call_async, item),
    )
