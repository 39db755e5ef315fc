"""
Ingest: a chunk takes over what its document and its sections say of themselves.

The guards decide by metadata: who may see a passage, until when it is valid, how far it
is believed. A splitter copies the document's metadata, and knows nothing of sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from llama_index.core.schema import BaseNode
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.effects.steps import Steps
from sdrag.engine import keyed_hash
from sdrag.guardrails.inheritance import (
    Chunk,
    DocumentSection,
    ParentDocuments,
    inherit,
)
from sdrag.guardrails.screened import Screened
from sdrag.options import Audit
from sdrag.policy import PolicySource
from sdrag.vocabulary import Passage
from sdrag.wrapper import build_engine

__all__ = ["MetadataInheritor"]


class MetadataInheritor(IngestWrapper[Screened]):
    """
    Hand metadata down from documents and their sections to nodes.

    What a node inherits is printed into no prompt and no embedding, unless it was in
    its metadata before.

    Example:
        ```python
        inheritor = MetadataInheritor(policy="policy.yaml", documents=documents)
        pipeline = IngestionPipeline(transformations=[splitter, inheritor])
        pipeline.run(documents=documents)
        ```

    Args:
        policy: Its sections `access`, `staleness` and `contradictions` name the keys.
        documents: What the nodes were cut from, whole and with their metadata. A node
            names its document by its relationships.
        sections: By the id of the document: stretches of its text that have metadata
            of their own. A node is as closed as the most closed that it touches.
        audit: Called with every audit event.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: At a call: a tag is of a type that cannot be compared.
    """

    _parents: ParentDocuments = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        documents: Iterable[BaseNode],
        sections: Mapping[str, Sequence[DocumentSection]] | None = None,
        audit: Audit = None,
    ) -> None:
        engine = build_engine(LLAMAINDEX, "inherit", policy=policy, audit=audit)
        known = {document.node_id: passage_of(document) for document in documents}
        parents = ParentDocuments(known, dict(sections or {}))
        # The ingestion cache goes by the fields: other documents are another result.
        super().__init__(engine, keyed_hash("documents", parents.digest))
        self._parents = parents

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Screened]:
        chunks = [
            Chunk(passage_of(node), getattr(node, "start_char_idx", None))
            for node in nodes
        ]
        return (yield from inherit(chunks, self._parents, self._engine.policy))

    def _nodes(self, nodes: Sequence[BaseNode], found: Screened) -> Sequence[BaseNode]:
        """Return new nodes; the host's are not changed."""
        return [
            _copied(node, passage)
            for node, passage in zip(nodes, found.passages, strict=True)
        ]


def _copied(node: BaseNode, passage: Passage) -> BaseNode:
    new = [key for key in passage.metadata if key not in node.metadata]
    update = {
        "metadata": dict(passage.metadata),
        "excluded_llm_metadata_keys": [*node.excluded_llm_metadata_keys, *new],
        "excluded_embed_metadata_keys": [*node.excluded_embed_metadata_keys, *new],
    }
    return node.model_copy(update=update)
