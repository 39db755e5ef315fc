"""
A tool that runs another out of the tracers' sight, and answers with what is left of it.

The events of the tool are emitted here, around the hidden call: they carry the
arguments that the model wrote and what was released. An error of the tool is replaced
by one that names its type, since agents show error texts to the model.

LangGraph gives a tool its state, its store, its stream and the wiring of its graph. The
guarded tool gets a copy of the state, the runtime's context, and no store. Writing to
the stream is refused, since what is written there could not be redacted; so is
interrupting the graph.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, NoReturn

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_sdrag.tracing import SILENT, hide_from_tracers, without_graph
from sdrag.effects.modes import Mode, run_sync, sync, wait
from sdrag.errors import InternalError, UsageError, require_extra
from sdrag.policy import Policy
from sdrag.wrapper import tool_error

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.store.base import BaseStore

__all__ = ["RedactingTool"]

_HINT = (
    "A guarded tool answers, and does nothing else to its graph: no store, stream or"
    " interrupt. Do that in a node, or leave a tool that retrieves nothing out of"
    " `tools=[...]` of `SelectiveDisclosureMiddleware`."
)


class RedactingTool(BaseTool):
    """
    Stands in for a tool during one call.

    Args:
        inner: The tool.
        policy: Says whether the inner call is hidden.
        redact: Makes what may be disclosed of what the tool returned.
    """

    inner: BaseTool = Field(exclude=True, repr=False)
    policy: Policy = Field(exclude=True, repr=False)
    redact: Callable[[Mode, Any], Awaitable[Any]] = Field(exclude=True, repr=False)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool, and redact what it returns."""
        arguments = _plain(input)
        run = get_callback_manager_for_config(ensure_config(config)).on_tool_start(
            {"name": self.name}, str(arguments), inputs=arguments
        )
        released = run_sync(self._attempt(sync, input, config, kwargs))
        if isinstance(released, Exception):
            run.on_tool_error(released)
            raise released
        run.on_tool_end(released)
        return released

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool without blocking the event loop."""
        arguments = _plain(input)
        manager = get_async_callback_manager_for_config(ensure_config(config))
        run = await manager.on_tool_start(
            {"name": self.name}, str(arguments), inputs=arguments
        )
        released = await self._attempt(wait, input, config, kwargs)
        if isinstance(released, Exception):
            await run.on_tool_error(released)
            raise released
        await run.on_tool_end(released)
        return released

    async def _attempt(
        self, mode: Mode, call: Any, config: RunnableConfig | None, kwargs: Any
    ) -> Any:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            detached = self._detach(config)
            invoke, ainvoke = self.inner.invoke, self.inner.ainvoke
            with hide_from_tracers(self.policy, None):
                given = _detach(call, detached)
                answer = await mode(invoke, ainvoke, given, detached, **kwargs)
            return await self.redact(mode, answer)
        except GraphBubbleUp:
            return UsageError("A guarded tool interrupted its graph.", hint=_HINT)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return tool_error(error, _HINT)

    def _detach(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return a config by which a tool reaches nothing of its graph."""
        full = ensure_config(config)
        configurable = without_graph(
            full.get("configurable", {}), stream_writer=_refuse, store=None
        )
        detached: RunnableConfig = {**full, "configurable": configurable}
        if self.policy.tracing.inner != "shown":
            detached["callbacks"] = [*SILENT]
        return detached

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A redacting tool is invoked, never run.")


@dataclass
class _DetachedRuntime(ToolRuntime[Any, Any]):
    """The runtime of a tool, which writes to no stream."""

    def emit_output_delta(self, delta: Any) -> NoReturn:
        """Refuse a partial output."""
        _refuse(delta)


def _refuse(_: object) -> NoReturn:
    raise UsageError("A guarded tool wrote to the stream of its graph.", hint=_HINT)


def _detach(call: Any, config: RunnableConfig) -> Any:
    """Return the call of a tool with copies of what the graph injected."""
    if not isinstance(call, dict) or not isinstance(call.get("args"), dict):
        return call
    arguments = {
        name: _detach_argument(value, config) for name, value in call["args"].items()
    }
    return {**call, "args": arguments}


def _detach_argument(value: Any, config: RunnableConfig) -> Any:
    if isinstance(value, BaseStore):
        return None
    if not isinstance(value, ToolRuntime):
        return _copy(value)
    parts = {item.name: getattr(value, item.name) for item in fields(ToolRuntime)}
    parts |= {"state": _copy(value.state), "config": config, "store": None}
    return _DetachedRuntime(**parts | {"stream_writer": _refuse})


def _copy(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 -- whatever a copy raises
        raise UsageError(
            "The state of the graph holds what cannot be copied for a guarded tool.",
            hint=_HINT,
        ) from None


def _plain(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected with it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
