"""
Ingest: summaries of the corpus, layer over layer, beside its chunks.

Every document that is returned names its layer in its metadata, 0 for the chunks, so a
store's own filter holds a retrieval to layers. A summary names what it was made from
under `sdrag_sources`, one id a line. The model reads unredacted chunks and no question;
what its summaries repeat is redacted when they are retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.constraint_binder import named_document
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model, completing, embedding
from langchain_sdrag.tracing import cover
from sdrag.disclosure.hierarchy import (
    LAYER_KEY,
    Hierarchy,
    HierarchySettings,
    add_summaries,
)
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource, open_state
from sdrag.wrapper_setup import Audit, GuardRunner, Unpickled

__all__ = ["HierarchySummarizer"]


class HierarchySummarizer(Unpickled, BaseDocumentTransformer):
    """
    Add summaries to documents before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.state.sqlite")
        summarizer = HierarchySummarizer(
            policy="policy.yaml", state="sdrag.state.sqlite", llm=llm
        )
        chunks = binder.transform_documents(chunks)
        store.add_documents(summarizer.transform_documents(chunks))
        retriever = store.as_retriever(
            search_kwargs={"filter": {"sdrag_layer": {"$in": [1, 2]}}}
        )
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

    def __init__(
        self,
        *,
        policy: PolicySource,
        state: StateSource,
        llm: Model,
        embeddings: Embeddings | None = None,
        depth: int = 3,
        dimensions: int = 10,
        threshold: float = 0.1,
        characters: int = 12_000,
        show_progress: bool = False,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = Policy.read(policy)
        self._state = open_state(state)
        self._settings = HierarchySettings(depth, dimensions, threshold, characters)
        self._shown = show_progress
        ports = Ports(complete=completing(llm), embed=embedding(embeddings))
        self._hook = GuardRunner.build(
            "summarize",
            self._policy,
            ports,
            audit=audit,
            limits=limits,
            state=self._state,
        )

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Summarize documents; those of one source come together.

        Returns:
            New documents: the given ones, each with its layer and an id, and then the
            summaries.

        Raises:
            HostError: The embeddings or the state failed.
            ModelError: Not one summary could be made.
            MissingExtraError: The extra `hierarchy` is not installed.
        """
        chunks = [named_document(document) for document in documents]
        grown, _ = self._hook.perform(self._steps(chunks), cover(self._policy, None))
        return _flattened(chunks, grown)

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Summarize documents without blocking the event loop."""
        chunks = [named_document(document) for document in documents]
        grown, _ = await self._hook.aperform(
            self._steps(chunks), cover(self._policy, None)
        )
        return _flattened(chunks, grown)

    def _steps(self, chunks: Sequence[Document]) -> Steps[Hierarchy]:
        return add_summaries(
            passages_of(chunks),
            self._policy,
            self._state,
            self._settings,
            show_progress=self._shown,
        )

    def __repr__(self) -> str:
        return f"HierarchySummarizer(policy_hash={self._hook.policy_hash!r})"


def _flattened(chunks: Sequence[Document], grown: Hierarchy) -> list[Document]:
    marked = [
        chunk.model_copy(update={"metadata": {LAYER_KEY: 0, **chunk.metadata}})
        for chunk in chunks
    ]
    return [*marked, *documents_of(grown.passages)]
