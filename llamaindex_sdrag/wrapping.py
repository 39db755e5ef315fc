"""
What LlamaIndex wrappers share.

LlamaIndex dumps the fields of its components, with the keys of the models in them, to
name what its caches hold. So a wrapper keeps its engine out of its fields, and its
fields name the policy and the models: a changed policy never finds an old result. A
wrapper refuses to be pickled, since its policy is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.schema import BaseNode, QueryBundle, TransformComponent
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.models import complete, context_window, embed, model_name
from llamaindex_sdrag.tracing import hide_from_tracers
from sdrag.effects.modes import Mode
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.framework import Framework
from sdrag.principals import check_principal, current_principal
from sdrag.vocabulary import Principal
from sdrag.wrapper import Unpickled

__all__ = [
    "LLAMAINDEX",
    "DisclosureEvent",
    "IngestWrapper",
    "enforce",
    "make_engine",
    "principal_of",
]

_dispatcher = get_dispatcher(__name__)
T = TypeVar("T")
R = TypeVar("R")
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
    _dispatcher.event(DisclosureEvent(**event.as_dict()))
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


class IngestWrapper(Unpickled, TransformComponent, Generic[R]):
    """
    A transformer of nodes that is built with an engine.

    Args:
        engine: What it is built with.
        engine_id: Names all but the policy that decides what it returns.
    """

    policy_hash: str
    engine_id: str

    _engine: Engine = PrivateAttr()

    def __init__(self, engine: Engine, engine_id: str, **fields: Any) -> None:
        fields |= {"policy_hash": engine.policy_hash, "engine_id": engine_id}
        super().__init__(**fields)
        self._engine = engine

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return cls.__name__

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Transform nodes; those of one document come together, in their order.

        Raises:
            SdragError: Nothing was transformed; the error holds no text.
        """
        found, _ = self._engine.run(self._steps(nodes))
        return self._nodes(nodes, found)

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Transform nodes without blocking the event loop."""
        found, _ = await self._engine.arun(self._steps(nodes))
        return self._nodes(nodes, found)

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[R]:
        """Return what is done; the nodes are read when the steps are driven."""
        raise NotImplementedError

    def _nodes(self, nodes: Sequence[BaseNode], found: R) -> Sequence[BaseNode]:
        """Return what leaves."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.class_name()}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__
