"""
A tool that runs another out of the tracers' sight, and answers with what is left of it.

The events of the tool are emitted here, around the hidden call: they carry the
arguments that the model wrote and what was released. An error of the tool is replaced
by one that names its type, since agents show error texts to the model.
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

from langchain_sdrag.tracing import cover
from sdrag.errors import HostError, InternalError
from sdrag.extras import needs
from sdrag.policy import Policy

with needs("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp

__all__ = ["QuietTool"]


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
        if self.redact is None:
            raise InternalError("A quiet tool has nothing to redact with.")
        given = ensure_config(config)
        run = get_callback_manager_for_config(given).on_tool_start(
            {"name": self.name}, str(_arguments(input)), inputs=_arguments(input)
        )
        fault: Exception | None = None
        try:
            with cover(self.policy, None):
                found = self.inner.invoke(input, config, **kwargs)
            released = self.redact(found)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            fault = _replaced(error)
        if fault is not None:
            run.on_tool_error(fault)
            raise fault
        run.on_tool_end(released)
        return released

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool without blocking the event loop."""
        if self.aredact is None:
            raise InternalError("A quiet tool has nothing to redact with.")
        given = ensure_config(config)
        run = await get_async_callback_manager_for_config(given).on_tool_start(
            {"name": self.name}, str(_arguments(input)), inputs=_arguments(input)
        )
        fault: Exception | None = None
        try:
            with cover(self.policy, None):
                found = await self.inner.ainvoke(input, config, **kwargs)
            released = await self.aredact(found)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            fault = _replaced(error)
        if fault is not None:
            await run.on_tool_error(fault)
            raise fault
        await run.on_tool_end(released)
        return released

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A quiet tool is invoked, never run.")


def _replaced(error: Exception) -> HostError:
    return HostError(f"The tool failed with {type(error).__name__}.")


def _arguments(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected beside it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
