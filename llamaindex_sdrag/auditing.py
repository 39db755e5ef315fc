"""Tell LlamaIndex what was decided: an event with ids and codes and no text."""

from __future__ import annotations

from typing import Any

from llama_index.core.instrumentation.events import BaseEvent
from llama_index_instrumentation import get_dispatcher

from sdrag.privacy.audit import AuditEvent

__all__ = ["DisclosureEvent", "announce"]

_dispatcher = get_dispatcher(__name__)


class DisclosureEvent(BaseEvent):
    """
    What one request decided.

    Args:
        stage: The hook that ran, such as `retrieve`.
        policy_hash: Of the policy in force, under a key.
        decisions: The fields of a `Decision` for each passage.
        seconds: Wall time of the hook.
        model_calls: How many prompts were sent; one that was sent again counts again.
        tokens_in: What the model read, as its provider reports it, else estimated.
        tokens_out: What it wrote, likewise.
        round_trips: How often it was waited for: prompts sent together are one.
        model_failures: How the model failed: a status or an error's type, and the name
            of the host.
    """

    stage: str
    policy_hash: str
    decisions: tuple[dict[str, Any], ...]
    seconds: float
    model_calls: int
    tokens_in: int
    tokens_out: int
    round_trips: int
    model_failures: tuple[str, ...]

    @classmethod
    def class_name(cls) -> str:
        """Return the name that handlers know the event by."""
        return "DisclosureEvent"


def announce(event: AuditEvent) -> None:
    """Dispatch an event to the handlers of the host."""
    _dispatcher.event(DisclosureEvent(**event.as_dict()))
