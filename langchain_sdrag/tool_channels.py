"""
What a guarded tool can write to next to its answer, and what becomes of it.

LangGraph hands a tool the state, the store, the stream and the wiring of its graph.
During a guarded call the tool gets in their place

- a copy of the state, so that a change in place does not reach the graph;
- a store that redacts what is written (see `guarded_store.py`);
- stream writers that keep what is written until the tool ends, when all of it is
  redacted at once and then sent;
- a config that reaches neither the channels of the graph nor its caches and
  checkpoints. A tool can still interrupt the graph and be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

from langchain_core.runnables import RunnableConfig

from langchain_sdrag.guarded_store import GuardedStore
from langchain_sdrag.tracing import SILENT
from sdrag.errors import UsageError, require_extra
from sdrag.value_redactor import ValueRedactor
from sdrag.vocabulary import Confidential

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.prebuilt import ToolRuntime
    from langgraph.runtime import Runtime
    from langgraph.store.base import BaseStore

__all__ = ["ToolChannels"]

_STREAM, _CHECKPOINTER = "__pregel_stream", "__pregel_checkpointer"
_SEND, _READ, _CALL = "__pregel_send", "__pregel_read", "__pregel_call"
_RUNTIME, _CACHE = "__pregel_runtime", "__pregel_cache"
_RESUME = "__resume__"

Writer = Callable[[Any], None]


@dataclass
class _Runtime(ToolRuntime[Any, Any]):
    """A tool's runtime whose partial output is kept back like the stream."""

    output_writer: Writer = field(default=lambda _: None, repr=False)

    def emit_output_delta(self, delta: Any) -> None:
        """Keep back a partial output."""
        self.output_writer(delta)


@dataclass(slots=True, repr=False)
class ToolChannels(Confidential):
    """
    The channels of one call of a tool.

    Args:
        values: Redacts what is written.
        state: The graph's state, of which parts may be injected.
        shown: The policy shows inner calls: what is streamed passes as it is.
    """

    values: ValueRedactor
    state: Any
    shown: bool
    _written: list[tuple[Writer, Any]] = field(default_factory=list)

    def guarded_call(self, call: Any) -> Any:
        """Return the call of a tool with guarded injected arguments."""
        if not isinstance(call, dict) or not isinstance(call.get("args"), dict):
            return call
        arguments = {
            name: self._argument(value) for name, value in call["args"].items()
        }
        return {**call, "args": arguments}

    def guarded_config(self, config: RunnableConfig) -> RunnableConfig:
        """Return a config by which a tool reaches nothing raw of the graph."""
        wired = {**config.get("configurable", {})}
        wired.pop(_CACHE, None)
        if isinstance(runtime := wired.get(_RUNTIME), Runtime):
            wired[_RUNTIME] = runtime.override(
                store=self._store(runtime.store),
                stream_writer=self._writer(runtime.stream_writer),
            )
        if _SEND in wired:
            wired[_SEND] = _only_answers(wired[_SEND])
        if _READ in wired:
            wired[_READ] = _copying(wired[_READ])
        if _CALL in wired:
            wired[_CALL] = _refuse_task
        if self.shown:
            return {**config, "configurable": wired}
        wired.pop(_STREAM, None)
        if _CHECKPOINTER in wired:
            wired[_CHECKPOINTER] = None
        return {**config, "callbacks": [*SILENT], "configurable": wired}

    def flush(self) -> None:
        """Send what the tool wrote to the stream, redacted."""
        writers, payloads = self._taken()
        if payloads:
            _send(writers, self.values.redact(payloads))

    async def aflush(self) -> None:
        """Send it without blocking the event loop."""
        writers, payloads = self._taken()
        if payloads:
            _send(writers, await self.values.aredact(payloads))

    def _argument(self, value: Any) -> Any:
        if isinstance(value, ToolRuntime):
            return self._tool_runtime(value)
        if isinstance(value, BaseStore):
            return self._store(value)
        return _copy(value) if self._is_of_state(value) else value

    def _is_of_state(self, value: Any) -> bool:
        """Say whether the graph injected the state, or a field of it."""
        parts = (
            self.state
            if isinstance(self.state, dict)
            else getattr(self.state, "__dict__", {})
        )
        return value is self.state or any(value is part for part in parts.values())

    def _tool_runtime(self, runtime: ToolRuntime[Any, Any]) -> _Runtime:
        known = {one.name: getattr(runtime, one.name) for one in fields(ToolRuntime)}
        return _Runtime(
            **{
                **known,
                "state": _copy(runtime.state),
                "config": self.guarded_config(runtime.config),
                "store": self._store(runtime.store),
                "stream_writer": self._writer(runtime.stream_writer),
            },
            output_writer=self._writer(runtime.emit_output_delta),
        )

    def _store(self, store: BaseStore | None) -> BaseStore | None:
        if store is None or isinstance(store, GuardedStore):
            return store
        return GuardedStore(store, self.values)

    def _writer(self, writer: Writer) -> Writer:
        """Return a writer that keeps a copy of what is written until the tool ends."""
        if self.shown:
            return writer

        def keep(payload: Any) -> None:
            self._written.append((writer, _snapshot(payload)))

        return keep

    def _taken(self) -> tuple[list[Writer], list[Any]]:
        taken, self._written = self._written, []
        return [writer for writer, _ in taken], [payload for _, payload in taken]


def _send(writers: Sequence[Writer], payloads: Sequence[Any]) -> None:
    for writer, payload in zip(writers, payloads, strict=True):
        writer(payload)


def _copy(value: Any) -> Any:
    """
    Return a copy that shares nothing with the graph.

    Raises:
        UsageError: It cannot be copied.
    """
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 -- the error of the value's class may quote it
        kind = type(value).__name__
    raise UsageError(
        f"A guarded tool works on a copy, and a {kind} cannot be copied.",
        hint="Keep what cannot be copied out of the agent's state, or name the tools"
        " that retrieve as `tools`.",
    )


def _snapshot(payload: Any) -> Any:
    """Return a payload as it is now; what cannot be copied is withheld later on."""
    with suppress(Exception):
        return deepcopy(payload)
    return payload


def _only_answers(send: Callable[[Any], None]) -> Callable[[Any], None]:
    """Let a tool note the human's answer to its interrupt, and write nothing else."""

    def sending(writes: Sequence[tuple[str, Any]]) -> None:
        send([write for write in writes if write[0] == _RESUME])

    return sending


def _copying(read: Callable[..., Any]) -> Callable[..., Any]:
    """Give a tool copies of the graph's channels."""

    def reading(select: Any, fresh: bool = False) -> Any:  # noqa: FBT001, FBT002 -- LangGraph's own signature
        return _copy(read(select, fresh))

    return reading


def _refuse_task(*_: Any, **__: Any) -> None:
    """Refuse to run a task of the graph: its result would be stored as it is."""
    raise UsageError(
        "A guarded tool cannot run a task of the graph, whose result is checkpointed.",
        hint="Call the function behind the task instead.",
    )
