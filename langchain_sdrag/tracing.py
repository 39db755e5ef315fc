"""
Keep what happens inside a wrapper out of callbacks, tracers and logs.

LangChain calls handlers that nobody passed: those of the surrounding run, of
`collect_runs`, of `set_debug`, of LangSmith when the environment switches it on, of
instrumentation that patches the callback manager, and of the inner objects themselves.
An inner retriever's events carry raw passages, an inner model's carry the prompts.
There is no public switch, but all of them are called through two functions of
`langchain_core.callbacks.manager`. Both are put behind a gate once, when this module is
imported; the gate is closed by a context variable, so only inside a wrapper, and for
the threads and tasks that it starts. Runs of functions decorated with LangSmith's
`traceable` are switched off the public way.

`tracing: {inner: shown}` in the policy leaves the gate open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from langchain_core.callbacks import BaseCallbackManager, manager
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.context import tracing_v2_callback_var
from langsmith import tracing_context

from sdrag.policy import Policy
from sdrag.privacy.log_privacy import suppress_logs

__all__ = ["hide_from_tracers"]

_closed: ContextVar[bool] = ContextVar("sdrag_langchain_gate", default=False)


@contextmanager
def hide_from_tracers(
    policy: Policy, child: BaseCallbackManager | None
) -> Iterator[None]:
    """
    Surround the inner calls of one request.

    Args:
        policy: Says whether the inner calls are hidden.
        child: The callbacks of the surrounding run, for inner calls that are shown.
    """
    if policy.tracing.inner == "shown":
        with configured({"callbacks": child}):
            yield
        return
    closed = _closed.set(True)
    tracer = tracing_v2_callback_var.set(None)
    try:
        with (
            configured({"callbacks": []}),
            tracing_context(enabled=False),
            suppress_logs(),
        ):
            yield
    finally:
        tracing_v2_callback_var.reset(tracer)
        _closed.reset(closed)


@contextmanager
def configured(config: RunnableConfig) -> Iterator[None]:
    """Make a config the one that inner calls inherit, on top of what they would."""
    token = var_child_runnable_config.set({**ensure_config(), **config})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _gated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def handle(*args: Any, **kwargs: Any) -> Any:
        return None if _closed.get() else function(*args, **kwargs)

    return handle


def _agated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def handle(*args: Any, **kwargs: Any) -> Any:
        return None if _closed.get() else await function(*args, **kwargs)

    return handle


manager.handle_event = _gated(manager.handle_event)
manager.ahandle_event = _agated(manager.ahandle_event)
