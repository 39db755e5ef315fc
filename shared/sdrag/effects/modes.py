"""
Code that calls a framework, written once for sync and async.

A framework has most methods twice. Code over them is a coroutine that awaits
`mode(method, async_method, ...)`. In the mode `sync` the method is called at once and
nothing waits, so `run_sync` drives the coroutine without an event loop.
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
from sdrag.errors import InternalError

__all__ = ["Mode", "iterate_sync", "make_port", "run_sync", "sync", "wait"]

P = ParamSpec("P")
T = TypeVar("T")
I = TypeVar("I")  # noqa: E741 -- an item of any kind


class Mode(Protocol):
    """How a method is called: `sync` or `wait`."""

    def __call__(
        self,
        call: Callable[P, T],
        acall: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Coroutine[Any, Any, T]:
        """Call one of two methods that do the same."""


async def sync(
    call: Callable[P, T],
    acall: Callable[P, Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call the sync method."""
    del acall
    return call(*args, **kwargs)


async def wait(
    call: Callable[P, T],
    acall: Callable[P, Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Await the async method."""
    del call
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


def make_port(function: Callable[[Mode, I], Coroutine[Any, Any, T]]) -> Port[I, T]:
    """Make a port of a function of both modes."""
    return Port(
        lambda item: run_sync(function(sync, item)), lambda item: function(wait, item)
    )
