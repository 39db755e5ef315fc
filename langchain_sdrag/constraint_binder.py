"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

The state keeps what was bound and located; the documents go to the host's store as they
are. Chunks of one document are read together, in the order in which they come; a
document whose chunks come in several batches is completed later. A document without an
id is given one, since a binding is found again by it: add the documents that are
returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable

from langchain_sdrag.convert import passages_of, with_id
from langchain_sdrag.models import Model
from langchain_sdrag.searching import search_with
from langchain_sdrag.wrapping import LANGCHAIN
from sdrag.corpus_binder import CorpusBinder
from sdrag.engine import Engine, HostSearch
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Passage
from sdrag.wrapper import Unpickled

__all__ = ["ConstraintBinder"]


class ConstraintBinder(Unpickled, CorpusBinder[Document], BaseDocumentTransformer):
    """
    Bind constraints to documents before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        store.add_documents(binder.transform_documents(chunks))
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Where it is kept, or its path; the retriever is given the same. In a
            worker of Ray it may not be left in memory.
        llm: Finds what the constraints mean, together with the local engine; then no
            model is asked when the chunks are retrieved.
        embeddings: The model that the retriever is given; MiniLM by default.
        options: Those of the retriever: its detector, above all.
        show_progress: Shows a bar.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
        show_progress: bool = False,
    ) -> None:
        self._shows_progress = show_progress
        self._engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="bind",
            framework=LANGCHAIN,
        )

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Bind the constraints.

        Returns:
            The documents, unchanged but for an id where they had none.

        Raises:
            HostError: As `bind_documents`.
        """
        chunks = [with_id(document) for document in documents]
        self._bind(chunks)
        return chunks

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Bind the constraints without blocking the event loop."""
        chunks = [with_id(document) for document in documents]
        await self._abind(chunks)
        return chunks

    def _passages(self, documents: Iterable[Document]) -> Sequence[Passage]:
        return passages_of(documents)

    def _searching(self, retriever: Runnable[str, Any], question: str) -> HostSearch:
        return search_with(retriever, {}, hidden=True)

    def __repr__(self) -> str:
        return f"ConstraintBinder(policy_hash={self._engine.policy_hash!r})"
