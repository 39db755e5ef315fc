"""
A tool that runs another out of the tracers' sight, and answers with what is left of it.

The events of the tool are emitted here, around the hidden call: they carry the
arguments that the model wrote and what was released. An error of the tool is replaced
by one that names its type, since agents show error texts to the model. An interrupt of
the tool is raised again with a redacted question, and the tool resumes with the answer.

What else the tool can write to is guarded too: see `tool_channels.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_sdrag.tool_channels import ToolChannels
from langchain_sdrag.tracing import hide_from_tracers
from sdrag.errors import HostError, InternalError, SdragError, require_extra
from sdrag.policy import Policy

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp

__all__ = ["RedactingTool"]

Attempted = tuple[Any, Exception | None]
"""What is released, or else why nothing is."""


class RedactingTool(BaseTool):
    """
    Stands in for a tool during one call.

    Args:
        inner: The tool.
        policy: Says whether the inner call is hidden.
        channels: What the tool can write to during the call; a `ToolChannels`.
        redact: Makes what may be disclosed of what the tool returned, or of the signal
            by which it stopped the graph.
        aredact: The same, without blocking the event loop.
    """

    inner: BaseTool = Field(exclude=True, repr=False)
    policy: Policy = Field(exclude=True, repr=False)
    channels: Any = Field(exclude=True, repr=False)
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
        channels: ToolChannels = self.channels
        try:
            guarded = channels.guarded_config(ensure_config(config))
            call = channels.guarded_call(given)
            try:
                with hide_from_tracers(self.policy, None):
                    found = self.inner.invoke(call, guarded, **kwargs)
            except GraphBubbleUp as signal:
                found = signal
            released = self.redact(found)
            channels.flush()
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return None, _replaced(error)
        return _sorted_out(released)

    async def _aattempted(
        self, given: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> Attempted:
        """Run the tool without blocking the event loop; as `_attempted`."""
        if self.aredact is None:
            return None, InternalError("A quiet tool has nothing to redact with.")
        channels: ToolChannels = self.channels
        try:
            guarded = channels.guarded_config(ensure_config(config))
            call = channels.guarded_call(given)
            try:
                with hide_from_tracers(self.policy, None):
                    found = await self.inner.ainvoke(call, guarded, **kwargs)
            except GraphBubbleUp as signal:
                found = signal
            released = await self.aredact(found)
            await channels.aflush()
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return None, _replaced(error)
        return _sorted_out(released)

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A quiet tool is invoked, never run.")


def _sorted_out(released: Any) -> Attempted:
    """Return a signal to the graph as what is to be raised."""
    if isinstance(released, GraphBubbleUp):
        return None, released
    return released, None


def _replaced(error: Exception) -> SdragError:
    """Keep an error of sdrag; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    return HostError(f"The tool failed with {type(error).__name__}.")


def _arguments(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected with it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
