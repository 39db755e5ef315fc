"""
What LlamaIndex wrappers share.

LlamaIndex dumps the fields of its components, with the keys of the models in them, to
name what its caches hold. So a wrapper keeps its engine out of its fields, and its
fields name the policy and the models: a changed policy never finds an old result. A
wrapper refuses to be pickled, since its policy is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from llama_index.core.schema import BaseNode, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.effects import completing, embedding, model_name
from llamaindex_sdrag.tracing import hide_from_tracers
from llamaindex_sdrag.windows import context_window
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.framework import Framework
from sdrag.wrapper import Unpickled

__all__ = ["LLAMAINDEX", "IngestWrapper"]

R = TypeVar("R")
LLAMAINDEX = Framework(
    completing, embedding, model_name, context_window, hide_from_tracers
)


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
