"""
The hook after retrieval: redact nodes that the host has already retrieved.

The host has emitted its own retrieval events by then, with raw nodes in them: where
tracers must see nothing, wrap the retriever instead. The order among postprocessors
does not matter for safety: what leaves has neither the relationships nor the metadata
by which `PrevNextNodePostprocessor` or `MetadataReplacementPostProcessor` bring raw
text back. For those to be of use they stand before this one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr, computed_field

from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.wrapping import enforce, make_engine, principal_of
from sdrag.effects.modes import Mode, run_sync, sync, wait
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import ReloadableWrapper

__all__ = ["SelectiveDisclosurePostprocessor"]


class SelectiveDisclosurePostprocessor(ReloadableWrapper, BaseNodePostprocessor):
    """
    Keep of retrieved nodes what the policy lets be disclosed.

    Example:
        ```python
        engine = index.as_query_engine(
            node_postprocessors=[SelectiveDisclosurePostprocessor(policy="policy.yaml")]
        )
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with nodes; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default.
        options: A detector, judges, sinks of audit events and the like.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    engine_id: str

    _engine: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        engine = make_engine(policy, llm, embeddings, state, options, stage="disclose")
        fields: dict[str, Any] = {"engine_id": engine.identity}
        super().__init__(**fields)
        self._follow(engine, policy)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return super().policy_hash

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "SelectiveDisclosurePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return run_sync(self._redact(sync, nodes, query_bundle))

    # A span would hold the nodes as they came.
    setattr(_postprocess_nodes, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await self._redact(wait, nodes, query_bundle)

    async def _redact(
        self, mode: Mode, nodes: list[NodeWithScore], bundle: QueryBundle | None
    ) -> list[NodeWithScore]:
        engine = self.in_force()
        query = bundle.query_str if bundle else ""
        request = Request(query, principal_of(engine, bundle))
        disclosure = await enforce(mode, engine, _steps(nodes, request, engine))
        return nodes_of(disclosure.passages, engine.policy.metadata.evidence, nodes)


def _steps(
    nodes: list[NodeWithScore], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Read the nodes as a step, so that an error of it leaves without them."""
    return (yield from disclose(passages_of(nodes), request, engine))
