"""
Ingest: summaries of the corpus, layer over layer, next to its chunks.

Every node that is returned names its layer in its metadata, 0 for the chunks, so a
store's own filter holds a retrieval to layers. A summary is a node whose children are
what it was made from, and whose source is their document. The model reads unredacted
nodes and no question; what its summaries repeat is redacted when they are retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.disclosure.hierarchy import (
    LAYER_KEY,
    SOURCES_KEY,
    Hierarchy,
    HierarchySettings,
    Summary,
    add_summaries,
)
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import State, StateSource, open_state

__all__ = ["HierarchySummarizer"]


class HierarchySummarizer(IngestWrapper[Hierarchy]):
    """
    Add summaries to nodes before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        summarizer = HierarchySummarizer(
            policy="policy.yaml", state="sdrag.sqlite", llm=llm
        )
        IngestionPipeline(transformations=[splitter, binder, summarizer, embed_model])
        summaries = MetadataFilter(
            key="sdrag_layer", value=[1, 2], operator=FilterOperator.IN
        )
        retriever = index.as_retriever(filters=MetadataFilters(filters=[summaries]))
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        llm: Writes the summaries; it is given unredacted text.
        embeddings: Finds what belongs together, and binds; MiniLM by default.
        settings: The depth of the tree, and how it is clustered.
        show_progress: Shows a bar.
        options: Sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: A setting makes no tree.
    """

    _state: State = PrivateAttr()
    _settings: HierarchySettings = PrivateAttr()
    _shows_progress: bool = PrivateAttr()

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: LLM,
        *,
        embeddings: BaseEmbedding | None = None,
        options: Options | None = None,
        settings: HierarchySettings | None = None,
        show_progress: bool = False,
    ) -> None:
        state, settings = open_state(state), settings or HierarchySettings()
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="summarize",
            framework=LLAMAINDEX,
        )
        # The ingestion cache goes by the fields.
        super().__init__(engine, f"{engine.identity}/{state.name}/{settings}")
        self._state, self._settings = state, settings
        self._shows_progress = show_progress

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Hierarchy]:
        return (
            yield from add_summaries(
                tuple(map(passage_of, nodes)),
                self._engine.policy,
                self._state,
                self._settings,
                show_progress=self._shows_progress,
            )
        )

    def _nodes(self, nodes: Sequence[BaseNode], found: Hierarchy) -> Sequence[BaseNode]:
        """Return the given nodes, each with its layer, and then the summaries."""
        marked = [_marked(node) for node in nodes]
        known = {node.node_id: node for node in marked}
        for summary in found.summaries:
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
