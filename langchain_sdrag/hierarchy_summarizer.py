"""
Ingest: summaries of the corpus, layer over layer, next to its chunks.

Every document that is returned names its layer in its metadata, 0 for the chunks, so a
store's own filter holds a retrieval to layers. A summary names what it was made from
under `sdrag_sources`, one id a line. The model reads unredacted chunks and no question;
what its summaries repeat is redacted when they are retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import documents_of, passages_of, with_id
from langchain_sdrag.models import Model
from langchain_sdrag.wrapping import LANGCHAIN, IngestWrapper
from sdrag.disclosure.hierarchy import (
    LAYER_KEY,
    Hierarchy,
    HierarchySettings,
    add_summaries,
)
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource, open_state

__all__ = ["HierarchySummarizer"]


class HierarchySummarizer(IngestWrapper[Hierarchy]):
    """
    Add summaries to documents before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        summarizer = HierarchySummarizer(
            policy="policy.yaml", state="sdrag.sqlite", llm=llm
        )
        chunks = binder.transform_documents(chunks)
        store.add_documents(summarizer.transform_documents(chunks))
        retriever = store.as_retriever(
            search_kwargs={"filter": {"sdrag_layer": {"$in": [1, 2]}}}
        )
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

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: Model,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
        settings: HierarchySettings | None = None,
        show_progress: bool = False,
    ) -> None:
        self._state = state = open_state(state)
        self._settings = settings or HierarchySettings()
        self._shows_progress = show_progress
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="summarize",
            framework=LANGCHAIN,
        )
        super().__init__(engine)

    def _steps(self, documents: Sequence[Document]) -> Steps[Hierarchy]:
        return (
            yield from add_summaries(
                passages_of(documents),
                self._engine.policy,
                self._state,
                self._settings,
                show_progress=self._shows_progress,
            )
        )

    def _documents(
        self, documents: Sequence[Document], found: Hierarchy
    ) -> list[Document]:
        """Return the given documents, each with its layer, and then the summaries."""
        marked = [
            chunk.model_copy(update={"metadata": {LAYER_KEY: 0, **chunk.metadata}})
            for chunk in documents
        ]
        return [*marked, *documents_of(found.passages)]

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
        return super().transform_documents([*map(with_id, documents)])

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Summarize documents without blocking the event loop."""
        return await super().atransform_documents([*map(with_id, documents)])
