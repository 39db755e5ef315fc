"""What LlamaIndex wrappers share: their framework, their events, the principal."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.schema import QueryBundle
from llama_index_instrumentation import get_dispatcher

from llamaindex_sdrag.models import complete, context_window, embed, model_name
from llamaindex_sdrag.tracing import hide_from_tracers
from sdrag.effects.modes import Mode
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.framework import Framework
from sdrag.principals import check_principal, current_principal
from sdrag.vocabulary import Principal

__all__ = [
    "LLAMAINDEX",
    "DisclosureEvent",
    "enforce",
    "make_engine",
    "principal_of",
]

_dispatcher = get_dispatcher(__name__)
T = TypeVar("T")
LLAMAINDEX = Framework(complete, embed, model_name, context_window, hide_from_tracers)
make_engine = partial(Engine, framework=LLAMAINDEX)


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


async def enforce(
    mode: Mode, engine: Engine, steps: Steps[T], search: HostSearch | None = None
) -> T:
    """Drive the steps of a request out of sight, and announce what it did."""
    result, event = await mode(engine.run, engine.arun, steps, search=search)
    _dispatcher.event(DisclosureEvent(**engine.public(event).as_dict()))
    return result


def principal_of(engine: Engine, bundle: QueryBundle | None) -> Principal | None:
    """
    Find the principal of a call: LlamaIndex has no config that travels with it.

    A resolver that the application passed decides alone; otherwise it is that of
    `acting_as`.

    Raises:
        UsageError: What the resolver gave is none.
    """
    resolver = engine.options.principal_resolver
    return check_principal(resolver(bundle)) if resolver else current_principal()
