"""
A tool that runs another out of the tracers' sight, and answers with what is left of it.

The events of the tool are emitted here, around the hidden call: they carry the
arguments that the model wrote and what was released. An error of the tool is replaced
by one that names its type, since agents show error texts to the model.

A tool of a graph can also write to the graph's stream, and a graph that it runs streams
into the outer one and keeps checkpoints where that does. The tool is given neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, NoReturn

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_sdrag.tracing import cover
from sdrag.errors import HostError, InternalError, SdragError, cut_off
from sdrag.extras import needs
from sdrag.policy import Policy

with needs("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.runtime import Runtime

__all__ = ["QuietTool"]

_STREAM, _CHECKPOINTER = "__pregel_stream", "__pregel_checkpointer"
_RUNTIME = "__pregel_runtime"

Attempted = tuple[Any, BaseException | None]
"""What is released, or else why nothing is."""


class QuietTool(BaseTool):
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
    redact: Callable[[Any], Any] | None = Field(default=None, exclude=True, repr=False)
    aredact: Callable[[Any], Awaitable[Any]] | None = Field(
        default=None, exclude=True, repr=False
    )

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool, and redact what it returns."""
        run = get_callback_manager_for_config(ensure_config(config)).on_tool_start(
            {"name": self.name}, str(_arguments(input)), inputs=_arguments(input)
        )
        released, fault = self._attempted(input, config, kwargs)
        if fault is not None:
            if isinstance(fault, SdragError):
                run.on_tool_error(fault)
            raise fault
        run.on_tool_end(released)
        return released

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool without blocking the event loop."""
        manager = get_async_callback_manager_for_config(ensure_config(config))
        run = await manager.on_tool_start(
            {"name": self.name}, str(_arguments(input)), inputs=_arguments(input)
        )
        released, fault = await self._aattempted(input, config, kwargs)
        if fault is not None:
            if isinstance(fault, SdragError):
                await run.on_tool_error(fault)
            raise fault
        await run.on_tool_end(released)
        return released

    def _attempted(
        self, given: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Attempted:
        """Run the tool in a frame that is gone before an error of it is raised."""
        if self.redact is None:
            return None, InternalError("A quiet tool has nothing to redact with.")
        if self.policy.tracing.inner == "hidden":
            given, config = _unwired(given), _mute(ensure_config(config))
        try:
            with cover(self.policy, None):
                found = self.inner.invoke(given, config, **kwargs)
            return self.redact(found), None
        except BaseException as error:  # noqa: BLE001 -- whatever a tool raises
            return None, _replaced(error)

    async def _aattempted(
        self, given: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Attempted:
        """Run the tool without blocking the event loop; as `_attempted`."""
        if self.aredact is None:
            return None, InternalError("A quiet tool has nothing to redact with.")
        if self.policy.tracing.inner == "hidden":
            given, config = _unwired(given), _mute(ensure_config(config))
        try:
            with cover(self.policy, None):
                found = await self.inner.ainvoke(given, config, **kwargs)
            return await self.aredact(found), None
        except BaseException as error:  # noqa: BLE001 -- whatever a tool raises
            return None, _replaced(error)

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A quiet tool is invoked, never run.")


def _replaced(error: BaseException) -> BaseException:
    """Keep our own errors and what only interrupts; neither brings its frames."""
    kept = isinstance(error, (SdragError, GraphBubbleUp))
    if kept or not isinstance(error, Exception):
        return cut_off(error)
    return HostError(f"The tool failed with {type(error).__name__}.")


def _mute(config: RunnableConfig) -> RunnableConfig:
    """Return a config without the ways in which a tool tells the graph of raw text."""
    wired = config.get("configurable", {})
    cut: dict[str, Any] = {key: wired[key] for key in wired if key != _STREAM}
    if _CHECKPOINTER in cut:
        cut[_CHECKPOINTER] = None
    if isinstance(runtime := cut.get(_RUNTIME), Runtime):
        cut[_RUNTIME] = runtime.override(stream_writer=_unheard)
    return {**config, "callbacks": [], "configurable": cut}


def _unwired(call: Any) -> Any:
    """Return a tool call whose injected runtime is mute as well."""
    if not isinstance(call, dict) or not isinstance(call.get("args"), dict):
        return call
    arguments = {
        key: replace(value, stream_writer=_unheard, config=_mute(value.config))
        if isinstance(value, ToolRuntime)
        else value
        for key, value in call["args"].items()
    }
    return {**call, "args": arguments}


def _unheard(_: Any) -> None:
    """Take what a tool writes to the graph's stream."""


def _arguments(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected beside it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
