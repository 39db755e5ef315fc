"""
Keep what happens inside a wrapper out of events, spans, callbacks and logs.

LlamaIndex hands nodes, prompts and replies to every handler that is attached to a
dispatcher of its instrumentation, and to the handlers of its older callback managers;
the events of an inner retriever carry raw nodes. There is no public switch. All of
them are called through nine methods of `Dispatcher` and `CallbackManager`, which are
put behind a gate once, when this module is imported. The gate is closed by a context
variable, so only inside a wrapper, and for the threads and tasks that it starts.

`tracing: {inner: shown}` in the policy leaves the gate open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any
from uuid import uuid4

from llama_index.core.callbacks import CallbackManager
from llama_index_instrumentation.dispatcher import Dispatcher

from sdrag.policy import Policy
from sdrag.privacy.log_privacy import suppress_logs

__all__ = ["hide_from_tracers"]

_closed: ContextVar[bool] = ContextVar("sdrag_llamaindex_gate", default=False)


@contextmanager
def hide_from_tracers(policy: Policy) -> Iterator[None]:
    """Surround the inner calls of one request; the policy says if they are hidden."""
    if policy.tracing.inner == "shown":
        yield
        return
    closed = _closed.set(True)
    try:
        with suppress_logs():
            yield
    finally:
        _closed.reset(closed)


def _gated(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def handle(*args: Any, **kwargs: Any) -> Any:
        return None if _closed.get() else method(*args, **kwargs)

    return handle


def _agated(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    async def handle(*args: Any, **kwargs: Any) -> Any:
        return None if _closed.get() else await method(*args, **kwargs)

    return handle


def _named(method: Callable[..., str]) -> Callable[..., str]:
    """Gate a method that answers with the id of the event."""

    @wraps(method)
    def handle(*args: Any, **kwargs: Any) -> str:
        if _closed.get():
            return str(kwargs.get("event_id") or uuid4())
        return method(*args, **kwargs)

    return handle


def _install() -> None:
    for name in ("event", "span_enter", "span_exit", "span_drop"):
        setattr(Dispatcher, name, _gated(getattr(Dispatcher, name)))
    Dispatcher.aevent = _agated(Dispatcher.aevent)  # type: ignore[method-assign]
    for name in ("on_event_end", "start_trace", "end_trace"):
        setattr(CallbackManager, name, _gated(getattr(CallbackManager, name)))
    CallbackManager.on_event_start = _named(  # type: ignore[method-assign]
        CallbackManager.on_event_start
    )


_install()
