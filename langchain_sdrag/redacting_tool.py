"""
A tool that runs another out of the tracers' sight, and answers with what is left of it.

The events of the tool are emitted here, around the hidden call: they carry the
arguments that the model wrote and what was released. An error of the tool is replaced
by one that names its type, since agents show error texts to the model.

LangGraph gives a tool its state, its store, its stream and the wiring of its graph. The
guarded tool gets a copy of the state and the runtime's context. Writing to the store or
the stream is refused, since what is written there could not be redacted; so is
interrupting the graph.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
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
from sdrag.errors import HostError, InternalError, SdragError, UsageError, require_extra
from sdrag.policy import Policy

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.store.base import BaseStore, Op, Result

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
        aredact: The same, without blocking the event loop.
    """

    inner: BaseTool = Field(exclude=True, repr=False)
    policy: Policy = Field(exclude=True, repr=False)
    redact: Callable[[Any], Any] = Field(exclude=True, repr=False)
    aredact: Callable[[Any], Awaitable[Any]] = Field(exclude=True, repr=False)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool, and redact what it returns."""
        arguments = _plain(input)
        run = get_callback_manager_for_config(ensure_config(config)).on_tool_start(
            {"name": self.name}, str(arguments), inputs=arguments
        )
        released = self._attempt(input, config, kwargs)
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
        released = await self._aattempt(input, config, kwargs)
        if isinstance(released, Exception):
            await run.on_tool_error(released)
            raise released
        await run.on_tool_end(released)
        return released

    def _attempt(
        self, call: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Any:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            detached = self._detach(config)
            with hide_from_tracers(self.policy, None):
                answer = self.inner.invoke(_detach(call, detached), detached, **kwargs)
            return self.redact(answer)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return _replace(error)

    async def _aattempt(
        self, call: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Any:
        """Run the tool without blocking the event loop; as `_attempt`."""
        try:
            detached = self._detach(config)
            with hide_from_tracers(self.policy, None):
                answer = await self.inner.ainvoke(
                    _detach(call, detached), detached, **kwargs
                )
            return await self.aredact(answer)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return _replace(error)

    def _detach(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return a config by which a tool reaches nothing of its graph."""
        full = ensure_config(config)
        configurable = without_graph(
            full.get("configurable", {}), stream_writer=_refuse, store=_NoStore()
        )
        detached: RunnableConfig = {**full, "configurable": configurable}
        if self.policy.tracing.inner != "shown":
            detached["callbacks"] = [*SILENT]
        return detached

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A redacting tool is invoked, never run.")


class _NoStore(BaseStore):
    """Stands where a graph has a store."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Refuse, since what is written could not be redacted."""
        _refuse(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Refuse, as `batch`."""
        _refuse(ops)


@dataclass
class _DetachedRuntime(ToolRuntime[Any, Any]):
    """The runtime of a tool, which writes to no stream."""

    def emit_output_delta(self, delta: Any) -> NoReturn:
        """Refuse a partial output."""
        _refuse(delta)


def _refuse(_: object) -> NoReturn:
    raise UsageError(
        "A guarded tool wrote to the store or the stream of its graph.", hint=_HINT
    )


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
        return _NoStore()
    if not isinstance(value, ToolRuntime):
        return _copy(value)
    kept = {item.name: getattr(value, item.name) for item in fields(ToolRuntime)}
    return _DetachedRuntime(
        **{
            **kept,
            "state": _copy(value.state),
            "config": config,
            "stream_writer": _refuse,
            "store": _NoStore(),
        }
    )


def _copy(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 -- whatever a copy raises
        raise UsageError(
            "The state of the graph holds what cannot be copied for a guarded tool.",
            hint=_HINT,
        ) from None


def _replace(error: Exception) -> SdragError:
    """Keep an error of sdrag; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    if isinstance(error, GraphBubbleUp):
        return UsageError("A guarded tool interrupted its graph.", hint=_HINT)
    return HostError(f"The tool failed with {type(error).__name__}.", hint=_HINT)


def _plain(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected with it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
