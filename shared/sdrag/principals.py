"""
On whose behalf: a context-local principal.

Nothing per user is kept on a shared object. `acting_as` sets the principal for the
code inside its block, in this thread or task and in what it starts.

A generator shares the context of the code that iterates it. A block that is open in a
generator would act for that code too, between two items, and Python tells nobody when
a generator pauses. So `acting_as` refuses to be entered there. `stream_as` makes a
stream on behalf of a principal and opens a block for each item, so streams of several
principals can be read in turns, in any thread.
"""

from __future__ import annotations

import sys
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
)
from contextvars import ContextVar, Token
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR, CO_ITERABLE_COROUTINE, iscoroutine
from types import FrameType, TracebackType
from typing import (
    Any,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    overload,
    runtime_checkable,
)

from sdrag.errors import UsageError
from sdrag.vocabulary import Principal

__all__ = ["acting_as", "current_principal", "stream_as"]

P = ParamSpec("P")
T = TypeVar("T")
_ENTERS = {"__enter__", "__aenter__"}
_KEEPS = {"enter_context", "enter_async_context"}
"""Methods of an `ExitStack`, which may be kept by another function than entered it."""


@dataclass(slots=True, eq=False, repr=False)
class _Block:
    """
    One block that was entered.

    Args:
        principal: On whose behalf its code runs.
        ended: It was left in another context than it was entered in.
    """

    principal: Principal | None
    ended: bool = False


_Blocks = tuple[_Block, ...]
_blocks: ContextVar[_Blocks] = ContextVar("sdrag_principal", default=())


class acting_as:  # noqa: N801 -- it is read as a part of `with`
    """
    Answer everything inside the block on behalf of `principal`; None is nobody.

    Raises:
        UsageError: It is entered in a generator, or a second time.
    """

    __slots__ = ("_entered", "_principal")

    def __init__(self, principal: Principal | None) -> None:
        self._principal = principal
        self._entered: tuple[_Block, Token[_Blocks]] | None = None

    def __enter__(self) -> None:
        if self._entered is not None:
            raise UsageError("This `acting_as` is open.", hint="Make another one.")
        _refuse_in_a_generator(sys._getframe().f_back)  # noqa: SLF001 -- no other way
        block = _Block(self._principal)
        self._entered = block, _blocks.set((*_blocks.get(), block))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._entered is None:
            return
        (block, token), self._entered = self._entered, None
        here = _blocks.get()
        try:
            _blocks.reset(token)
        except ValueError:  # left in another context, by a garbage collector say
            block.ended = True
            return
        # Blocks that are kept in exit stacks may be left in any order.
        _blocks.set(tuple(one for one in here if one is not block))


def current_principal() -> Principal | None:
    """Return the principal of this context, if there is one."""
    for block in reversed(_blocks.get()):
        if not block.ended:
            return block.principal
    return None


@overload
def stream_as(
    principal: Principal | None,
    function: Callable[P, AsyncIterable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> _AsyncStream[T]: ...


@overload
def stream_as(
    principal: Principal | None,
    function: Callable[P, Iterable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> _Stream[T]: ...


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
            return _AsyncStream(principal, aiter(made))
        if isinstance(made, Iterable):
            return _Stream(principal, iter(made))
    if iscoroutine(made):
        made.close()
    raise UsageError(
        f"The function must return a stream, got {type(made).__name__}.",
        hint="Pass one that returns an iterable, such as `chain.stream`.",
    )


class _Stream(Iterator[T]):
    """A stream whose items are made on behalf of a principal."""

    __slots__ = ("_items", "_principal")

    def __init__(self, principal: Principal | None, items: Iterator[T]) -> None:
        self._principal = principal
        self._items = items

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        with acting_as(self._principal):
            return next(self._items)

    def close(self) -> None:
        """End the stream."""
        with acting_as(self._principal):
            if isinstance(self._items, _Closable):
                self._items.close()


class _AsyncStream(AsyncIterator[T]):
    """An async stream whose items are made on behalf of a principal."""

    __slots__ = ("_items", "_principal")

    def __init__(self, principal: Principal | None, items: AsyncIterator[T]) -> None:
        self._principal = principal
        self._items = items

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        with acting_as(self._principal):
            return await anext(self._items)

    async def aclose(self) -> None:
        """End the stream."""
        with acting_as(self._principal):
            if isinstance(self._items, _AsyncClosable):
                await self._items.aclose()


@runtime_checkable
class _Closable(Protocol):
    def close(self) -> object: ...


@runtime_checkable
class _AsyncClosable(Protocol):
    def aclose(self) -> Awaitable[object]: ...


def _refuse_in_a_generator(frame: FrameType | None) -> None:
    """
    Refuse a block whose code is a generator's, on the way up from where it is entered.

    A context manager that was made of a generator is entered by `with`: what counts is
    the code around that. An exit stack may be kept open by any caller.
    """
    kept = False
    while frame is not None:
        name, caller = frame.f_code.co_name, frame.f_back
        if _is_generator(frame):
            if caller is None or caller.f_code.co_name not in _ENTERS:
                raise UsageError(
                    "`acting_as` is entered in a generator, and would also act for the"
                    " code that iterates it.",
                    hint="Call `stream_as(principal, function, ...)`, or enter it in a"
                    " function that the generator calls.",
                )
        elif name in _KEEPS:
            kept = True
        elif name not in _ENTERS and not kept:
            return
        frame = caller


def _is_generator(frame: FrameType) -> bool:
    flags = frame.f_code.co_flags
    if flags & CO_ITERABLE_COROUTINE:
        return False
    return bool(flags & (CO_GENERATOR | CO_ASYNC_GENERATOR))
