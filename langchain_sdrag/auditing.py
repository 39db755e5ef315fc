"""
Tell LangChain what was decided: an event of the run, with ids and codes and no text.

Handlers see it as `on_custom_event`, `astream_events` as `on_custom_event` too. Where
there is no surrounding run there is nobody to tell, and the sinks have the event.
"""

from __future__ import annotations

from langchain_core.callbacks import (
    AsyncCallbackManager,
    BaseCallbackManager,
    CallbackManager,
    adispatch_custom_event,
    dispatch_custom_event,
)

from sdrag.privacy.audit import AuditEvent

__all__ = ["EVENT", "aannounce", "announce"]

EVENT = "sdrag"
"""The name of the events."""


def announce(event: AuditEvent, run: BaseCallbackManager | None) -> None:
    """Dispatch an event to the handlers of a run."""
    if isinstance(run, CallbackManager) and run.parent_run_id and run.handlers:
        dispatch_custom_event(EVENT, event.as_dict(), config={"callbacks": run})


async def aannounce(event: AuditEvent, run: BaseCallbackManager | None) -> None:
    """Dispatch an event to the handlers of a run, without blocking the loop."""
    if isinstance(run, AsyncCallbackManager) and run.parent_run_id and run.handlers:
        await adispatch_custom_event(EVENT, event.as_dict(), config={"callbacks": run})
