"""
Keep what happens inside a wrapper out of callbacks, tracers and logs.

LangChain calls handlers that nobody passed: those of the surrounding run, of
`collect_runs`, of `set_debug`, of LangSmith when the environment switches it on, of
OpenTelemetry's instrumentation. An inner retriever's events carry raw passages, an
inner model's carry the prompts. All of these handlers are found through the config
that inner calls inherit and through context variables, so both are set for the block:

- context variables that hold a handler or a callback manager hold `None`;
- the inherited config names two handlers that hear nothing. LangChain adds its own
  console handlers only where none of their class is;
- LangSmith and OpenTelemetry are switched off by their own means;
- the runtime of LangGraph keeps its context and loses its stream writer.

The application's other context variables stay, and so does the task.
`docs/leak-matrix.md` says what this does not reach. `tracing: {inner: shown}` in the
policy hides nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from typing import Any

from langchain_core.callbacks import (
    BaseCallbackHandler,
    BaseCallbackManager,
    StdOutCallbackHandler,
)
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers import ConsoleCallbackHandler
from langsmith import tracing_context

from sdrag.policy import Policy
from sdrag.privacy.log_privacy import suppress_logs

try:
    from opentelemetry.instrumentation.utils import suppress_instrumentation
except ImportError:  # nothing is instrumented
    suppress_instrumentation = nullcontext  # type: ignore[assignment]


class _Deaf:
    """A handler that is called for nothing."""

    ignore_llm = ignore_retry = ignore_chain = ignore_agent = True
    ignore_retriever = ignore_chat_model = ignore_custom_event = True

    def on_text(self, *args: Any, **kwargs: Any) -> None:
        """Ignore a text; no flag says so."""


class _NoConsole(_Deaf, ConsoleCallbackHandler):
    """Stands where `set_debug` would add a handler."""


class _NoStdOut(_Deaf, StdOutCallbackHandler):
    """Stands where `set_verbose` would add a handler."""


SILENT: tuple[BaseCallbackHandler, ...] = (_NoConsole(), _NoStdOut())
"""The handlers of inner calls that are hidden."""


@contextmanager
def hide_from_tracers(
    policy: Policy, child: BaseCallbackManager | None
) -> Iterator[None]:
    """Surround the inner calls of one request; `child` hears those that are shown."""
    if policy.tracing.inner == "shown":
        with inherit_config({"callbacks": child}):
            yield
        return
    with ExitStack() as stack:
        for variable, value in copy_context().items():
            if isinstance(value, BaseCallbackHandler | BaseCallbackManager):
                stack.enter_context(_hold(variable, None))
        configurable = without_graph(
            ensure_config().get("configurable", {}), stream_writer=lambda _: None
        )
        hidden = RunnableConfig(callbacks=[*SILENT], configurable=configurable)
        stack.enter_context(inherit_config(hidden))
        stack.enter_context(tracing_context(enabled=False))
        stack.enter_context(suppress_instrumentation())
        stack.enter_context(suppress_logs())
        yield


@contextmanager
def inherit_config(config: RunnableConfig) -> Iterator[None]:
    """Make a config the one that inner calls inherit, on top of what they would."""
    with _hold(var_child_runnable_config, {**ensure_config(), **config}):
        yield


def without_graph(configurable: dict[str, Any], **replaced: Any) -> dict[str, Any]:
    """Keep what the caller configured; of LangGraph, a runtime with parts replaced."""
    graph, kept = sys.modules.get("langgraph.runtime"), {}
    for key, value in configurable.items():
        if graph is not None and isinstance(value, graph.Runtime):
            kept[key] = value.override(**replaced)
        elif not key.startswith("__"):
            kept[key] = value
    return kept


@contextmanager
def _hold(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
