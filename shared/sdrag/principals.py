"""
The principal of a request: context-local, with the session and the request's id.

Nothing per user is kept on a shared object. `acting_as` sets both for the code inside
its block, in this thread or task and in what it starts.

A generator shares the context of the code that iterates it, so a block that is open in
one would act for that code too, between two items. `stream_as` makes a stream on behalf
of a principal and opens a block for each item, so streams of several principals can be
read in turns, in any thread.
"""

from __future__ import annotations

import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from inspect import iscoroutine
from typing import Any, ParamSpec, TypeVar, cast, overload
from uuid import uuid4

from sdrag.errors import UsageError
from sdrag.vocabulary import Principal

P = ParamSpec("P")
T = TypeVar("T")
OnBehalf = Callable[[], AbstractContextManager[None]]
_principal: ContextVar[Principal | None] = ContextVar("sdrag_principal", default=None)
_session: ContextVar[str | None] = ContextVar("sdrag_session", default=None)
_request: ContextVar[str | None] = ContextVar("sdrag_request", default=None)
_REQUEST_ID = re.compile("[A-Za-z0-9._:-]{1,64}")


@contextmanager
def acting_as(
    principal: Principal | None,
    session_id: str | None = None,
    request_id: str | None = None,
) -> Iterator[None]:
    """
    Answer everything inside the block on behalf of `principal`; None is nobody.

    Do not enter it in a generator that yields inside the block: use `stream_as`.

    Args:
        principal: Of the block.
        session_id: In which session of the principal, for the policy's `session`; all
            that is asked without one is one session.
        request_id: Which request of the application this is, for audit events: up to 64
            letters, digits and `._:-`. By default that of the block around, or a new
            one.

    Raises:
        UsageError: It is no principal, or an id is none.
    """
    checked, session = check_principal(principal), check_session(session_id)
    if request_id is not None and (
        not isinstance(request_id, str) or not _REQUEST_ID.fullmatch(request_id)
    ):
        raise UsageError(  # what is written to audits holds no text
            "The request id is none.",
            hint="Pass up to 64 letters, digits and `._:-`, or leave it out.",
        )
    asked = _request.set(request_id or current_request() or new_request())
    named = _session.set(session)
    token = _principal.set(checked)
    try:
        yield
    finally:
        _principal.reset(token)
        _session.reset(named)
        _request.reset(asked)


def current_principal() -> Principal | None:
    """Return the principal of this context, if there is one."""
    return _principal.get()


def current_session() -> str | None:
    """Return the id of the session of this context, if there is one."""
    return _session.get()


def current_request() -> str | None:
    """Return the id of the request of this context, if there is one."""
    return _request.get()


def new_request() -> str:
    """Return an id for a request that its application gave none."""
    return uuid4().hex


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

    The session and the request are those of the context of this call.

    Example:
        ```python
        return StreamingResponse(stream_as(principal, chain.astream, question))
        ```

    Args:
        principal: Of the call, and of each item.
        function: It returns an iterable or an async iterable; it may be a generator.
        *args: Passed to the function.
        **kwargs: Passed to the function.

    Raises:
        UsageError: The function returns neither.
    """
    request_id = current_request() or new_request()
    on_behalf = partial(acting_as, principal, current_session(), request_id)
    with on_behalf():
        stream = function(*args, **kwargs)
    if isinstance(stream, AsyncIterable):
        return _astream(on_behalf, stream)
    if isinstance(stream, Iterable):
        return _stream(on_behalf, stream)
    if iscoroutine(stream):
        stream.close()
    raise UsageError(
        f"The function must return a stream, got {type(stream).__name__}.",
        hint="Pass one that returns an iterable, such as `chain.stream`.",
    )


def _stream(on_behalf: OnBehalf, items: Iterable[T]) -> Generator[T, None, None]:
    iterator, end = iter(items), object()
    try:
        while True:
            with on_behalf():
                item = next(iterator, end)
            if item is end:
                return
            yield cast("T", item)
    finally:
        if close := getattr(iterator, "close", None):
            with on_behalf():
                close()


async def _astream(
    on_behalf: OnBehalf, items: AsyncIterable[T]
) -> AsyncGenerator[T, None]:
    iterator, end = aiter(items), object()
    try:
        while True:
            with on_behalf():
                item = await anext(iterator, end)
            if item is end:
                return
            yield cast("T", item)
    finally:
        if close := getattr(iterator, "aclose", None):
            with on_behalf():
                await close()


def check_principal(value: object) -> Principal | None:
    """
    Return a principal that the application named, or None.

    Raises:
        UsageError: It is something else.
    """
    if value is None or isinstance(value, Principal):
        return value
    raise UsageError(
        f"The principal is a {type(value).__name__}.",
        hint="Make it a sdrag.Principal where the user is authenticated.",
    )


def check_session(value: object) -> str | None:
    """
    Return the id of a session that the application named, or None.

    Raises:
        UsageError: It is something else.
    """
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError(
        f"The session id must be a text, got {type(value).__name__}.",
        hint="Pass the id that your application gave the session.",
    )
