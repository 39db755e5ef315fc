"""
Selective disclosure: the retriever of a query engine, wrapped, or a hook after it.

Everything from the question to the redacted nodes happens inside the retriever: access,
the host's own retriever, staleness, relevance, the injection scan, redaction. Events,
spans and callbacks see the question and what is released; of the raw nodes they see
nothing, which no postprocessor can promise: the host has emitted its own retrieval
events by then. The order among postprocessors does not matter for safety: what leaves
has neither the relationships nor the metadata by which `PrevNextNodePostprocessor` or
`MetadataReplacementPostProcessor` bring raw text back. For those to be of use they
stand before this one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr, computed_field

from llamaindex_sdrag.convert import nodes_of, read_scored_node
from llamaindex_sdrag.searching import FilteredRetriever, HostRetriever, search_with
from llamaindex_sdrag.wrapping import (
    LLAMAINDEX,
    check_question,
    enforce,
    principal_of,
)
from sdrag.configuration import Stage
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.engine import Engine
from sdrag.errors import UsageError, check_listed
from sdrag.framework import Framework
from sdrag.options import Options
from sdrag.pipeline import Request, disclose, retrieve
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import DisclosureRetriever, ReloadableWrapper


class SelectiveDisclosureRetriever(
    DisclosureRetriever[HostRetriever, LLM, BaseEmbedding], BaseRetriever
):
    """
    Retrieve what the policy lets be disclosed.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=index.as_retriever(), policy="policy.yaml", llm=llm
        )
        ```
    """

    _framework = LLAMAINDEX
    _stage = "retrieve"

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        base, k = fields["base_retriever"], fields["k"]
        if k is not None and k < 1:
            raise UsageError(f"`k` must be at least 1, got {k}.")
        if not isinstance(base, (BaseRetriever, FilteredRetriever)):
            raise UsageError(
                "`base_retriever` must be a LlamaIndex retriever, got"
                f" {type(base).__name__}.",
                hint="Pass a retriever, such as `index.as_retriever()`.",
            )
        BaseRetriever.__init__(self)
        self._base_retriever, self._k = base, k

    def retrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """Retrieve what may be disclosed."""
        check_question(str_or_query_bundle)
        return super().retrieve(str_or_query_bundle)

    async def aretrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """Retrieve without blocking the event loop."""
        check_question(str_or_query_bundle)
        return await super().aretrieve(str_or_query_bundle)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return run_sync(self._disclose(call_sync, query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._disclose(call_async, query_bundle)

    async def _disclose(self, do: Caller, bundle: QueryBundle) -> list[NodeWithScore]:
        engine, seen = self.in_force(), list[NodeWithScore]()
        request = Request(bundle.query_str, principal_of(engine, bundle), self._k)
        if engine.policy.disclosure.influence == "none":
            # Its vector and other texts to embed were made of the unredacted question.
            bundle = QueryBundle(bundle.query_str)
        search = search_with(self._base_retriever, bundle, seen)
        steps, principal = retrieve(request, engine), request.principal
        try:
            disclosure = await enforce(do, engine, steps, principal, search)
        except BaseException:
            seen.clear()  # an error holds the frames it passed
            raise
        return nodes_of(disclosure.passages, engine.policy.metadata.evidence, seen)


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
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default.
        options: A detector, judges, sinks of audit events and the like.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    engine_id: str

    _engine: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    _framework: ClassVar[Framework] = LLAMAINDEX
    _stage: ClassVar[Stage] = "disclose"

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        self._set_up(policy, llm, embeddings, state, options)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        fields["engine_id"] = engine.identity
        BaseNodePostprocessor.__init__(self, **fields)

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
        return run_sync(self._redact(call_sync, nodes, query_bundle))

    # A span would hold the nodes as they came.
    setattr(_postprocess_nodes, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await self._redact(call_async, nodes, query_bundle)

    async def _redact(
        self, do: Caller, nodes: list[NodeWithScore], bundle: QueryBundle | None
    ) -> list[NodeWithScore]:
        check_listed(nodes, "nodes")
        check_question(bundle or "")
        engine = self.in_force()
        query = bundle.query_str if bundle else ""
        request = Request(query, principal_of(engine, bundle))
        steps = disclose(map(read_scored_node, nodes), request, engine)
        disclosure = await enforce(do, engine, steps, request.principal)
        return nodes_of(disclosure.passages, engine.policy.metadata.evidence, nodes)
