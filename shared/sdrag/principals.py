"""
On whose behalf: a context-local principal.

Nothing per user is kept on a shared object. `acting_as` sets the principal for the
code inside its block, in this thread or task and in what it starts.

A generator shares the context of the code that iterates it, so a block that is open in
one would act for that code too, between two items. `stream_as` makes a stream on behalf
of a principal and opens a block for each item, so streams of several principals can be
read in turns, in any thread.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import iscoroutine
from typing import Any, ParamSpec, TypeVar, overload

from sdrag.errors import UsageError
from sdrag.vocabulary import Principal

__all__ = ["acting_as", "current_principal", "stream_as"]

P = ParamSpec("P")
T = TypeVar("T")
_principal: ContextVar[Principal | None] = ContextVar("sdrag_principal", default=None)


@contextmanager
def acting_as(principal: Principal | None) -> Iterator[None]:
    """
    Answer everything inside the block on behalf of `principal`; None is nobody.

    Do not enter it in a generator that yields inside the block: use `stream_as`.
    """
    token = _principal.set(principal)
    try:
        yield
    finally:
        _principal.reset(token)


def current_principal() -> Principal | None:
    """Return the principal of this context, if there is one."""
    return _principal.get()


@overload
def stream_as(
    principal: Principal | None,
    function: Callable[P, AsyncIterable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> AsyncGenerator[T, None]: ...


@overload
def stream_as(
    principal: Principal | None,
    function: Callable[P, Iterable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> Generator[T, None, None]: ...


def stream_as(
    principal: Principal | None,
    function: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """
    Call a function that streams, and iterate what it returns, on behalf of a principal.

    Example:
        ```python
        return StreamingResponse(stream_as(principal, chain.astream, question))
        ```

    Args:
        principal: On whose behalf the function is called and each item is made.
        function: It returns an iterable or an async iterable; it may be a generator.
        *args: Passed to the function.
        **kwargs: Passed to the function.

    Raises:
        UsageError: The function returns neither.
    """
    with acting_as(principal):
        made = function(*args, **kwargs)
    if isinstance(made, AsyncIterable):
        return _astream(principal, made)
    if isinstance(made, Iterable):
        return _stream(principal, made)
    if iscoroutine(made):
        made.close()
    raise UsageError(
        f"The function must return a stream, got {type(made).__name__}.",
        hint="Pass one that returns an iterable, such as `chain.stream`.",
    )


def _stream(
    principal: Principal | None, items: Iterable[T]
) -> Generator[T, None, None]:
    iterator = iter(items)
    try:
        while True:
            with acting_as(principal):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item
    finally:
        with acting_as(principal):
            getattr(iterator, "close", _nothing)()


async def _astream(
    principal: Principal | None, items: AsyncIterable[T]
) -> AsyncGenerator[T, None]:
    iterator = aiter(items)
    try:
        while True:
            with acting_as(principal):
                try:
                    item = await anext(iterator)
                except StopAsyncIteration:
                    return
            yield item
    finally:
        with acting_as(principal):
            await getattr(iterator, "aclose", _anothing)()


def _nothing() -> None:
    """Stand in for the `close` that an iterator lacks."""


async def _anothing() -> None:
    """Stand in for the `aclose` that an iterator lacks."""
