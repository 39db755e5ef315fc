"""
Ingest: summaries of the corpus, layer over layer, beside its chunks.

Every node that is returned names its layer in its metadata, 0 for the chunks, so a
store's own filter holds a retrieval to layers. A summary is a node whose children are
what it was made from, and whose source is their document. The model reads unredacted
nodes and no question; what its summaries repeat is redacted when they are retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.wrapping import Setup
from sdrag.disclosure.hierarchy import (
    LAYER_KEY,
    SOURCES_KEY,
    Hierarchy,
    HierarchySettings,
    Summary,
    add_summaries,
)
from sdrag.engine.calls import Limits
from sdrag.engine.steps import Steps
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Unpickled

__all__ = ["HierarchySummarizer"]


class HierarchySummarizer(Unpickled, TransformComponent):
    """
    Add summaries to nodes before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.state.sqlite")
        summarizer = HierarchySummarizer(
            policy="policy.yaml", state="sdrag.state.sqlite", llm=llm
        )
        IngestionPipeline(transformations=[splitter, binder, summarizer, embed_model])
        summaries = MetadataFilter(
            key="sdrag_layer", value=[1, 2], operator=FilterOperator.IN
        )
        retriever = index.as_retriever(filters=MetadataFilters(filters=[summaries]))
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        llm: Writes the summaries; it is given unredacted text.
        embeddings: Finds what belongs together, and binds; MiniLM by default.
        depth: Layers, the chunks included.
        dimensions: Of the projection that is clustered.
        threshold: From which probability a chunk belongs to a cluster.
        characters: The most text that one prompt holds; a larger cluster is parted.
        show_progress: Shows a bar.
        audit: Takes the audit events; one tells which summaries could not be made.
        limits: The bounds of model calls.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: A setting makes no tree.
    """

    policy_hash: str
    engine_id: str
    depth: int
    dimensions: int
    threshold: float
    characters: int

    _setup: Setup = PrivateAttr()
    _settings: HierarchySettings = PrivateAttr()
    _shown: bool = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        state: StateSource,
        llm: LLM,
        embeddings: BaseEmbedding | None = None,
        depth: int = 3,
        dimensions: int = 10,
        threshold: float = 0.1,
        characters: int = 12_000,
        show_progress: bool = False,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        settings = HierarchySettings(depth, dimensions, threshold, characters)
        setup = Setup.build(
            "summarize",
            policy,
            llm=llm,
            embeddings=embeddings,
            state=state,
            audit=audit,
            limits=limits,
            releasing=False,
        )
        # The ingestion cache goes by the fields.
        fields: dict[str, Any] = {
            "policy_hash": setup.policy_hash,
            "engine_id": f"{setup.engine_id}/{setup.engine.disclosure.state.name}",
            "depth": depth,
            "dimensions": dimensions,
            "threshold": threshold,
            "characters": characters,
        }
        super().__init__(**fields)
        self._setup, self._settings, self._shown = setup, settings, show_progress

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "HierarchySummarizer"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Summarize nodes; those of one document come together.

        Returns:
            New nodes: the given ones, each with its layer, and then the summaries.

        Raises:
            HostError: The embeddings or the state failed.
            ModelError: Not one summary could be made.
            MissingExtraError: The extra `hierarchy` is not installed.
        """
        hook, policy = self._setup.hook, self._setup.policy
        grown, _ = hook.perform(self._steps(nodes), cover(policy))
        return _flattened(nodes, grown)

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Summarize nodes without blocking the event loop."""
        hook, policy = self._setup.hook, self._setup.policy
        grown, _ = await hook.aperform(self._steps(nodes), cover(policy))
        return _flattened(nodes, grown)

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Hierarchy]:
        return add_summaries(
            tuple(map(passage_of, nodes)),
            self._setup.policy,
            self._setup.engine.disclosure.state,
            self._settings,
            show_progress=self._shown,
        )

    def __repr__(self) -> str:
        return f"HierarchySummarizer(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _flattened(nodes: Sequence[BaseNode], grown: Hierarchy) -> list[BaseNode]:
    marked = [_marked(node) for node in nodes]
    known = {node.node_id: node for node in marked}
    for summary in grown.summaries:
        node = _node(summary, [known[source.id] for source in summary.sources])
        known[node.node_id] = node
        marked.append(node)
    return marked


def _marked(node: BaseNode) -> BaseNode:
    """Copy a node, with its layer: one that vectors and prompts are made without."""
    return node.model_copy(
        update={
            "metadata": {LAYER_KEY: 0, **node.metadata},
            "relationships": dict(node.relationships),
            "excluded_embed_metadata_keys": _without(node.excluded_embed_metadata_keys),
            "excluded_llm_metadata_keys": _without(node.excluded_llm_metadata_keys),
        }
    )


def _without(*excluded: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([LAYER_KEY, *(key for keys in excluded for key in keys)]))


def _node(summary: Summary, sources: Sequence[BaseNode]) -> TextNode:
    passage = summary.passage
    metadata = dict(passage.metadata)
    del metadata[SOURCES_KEY]  # said by the relationships
    node = TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=metadata,
        excluded_embed_metadata_keys=_without(
            *(source.excluded_embed_metadata_keys for source in sources)
        ),
        excluded_llm_metadata_keys=_without(
            *(source.excluded_llm_metadata_keys for source in sources)
        ),
    )
    # Ids only: a neighbour's metadata and hash are for its own node.
    node.relationships[NodeRelationship.CHILD] = [
        RelatedNodeInfo(node_id=source.node_id, node_type=ObjectType.TEXT)
        for source in sources
    ]
    if passage.document_id is not None:
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(
            node_id=passage.document_id, node_type=ObjectType.DOCUMENT
        )
    return node
