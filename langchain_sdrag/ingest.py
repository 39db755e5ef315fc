"""
Ingest: what is done with documents before they are stored.

What is decided, the core decides; here documents are read, and written again. A
document that a task leaves alone is returned as it came, but for an id where it had
none. Add what is returned to the store, since everything is found again by that id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ensure_config
from langchain_core.runnables.config import get_callback_manager_for_config

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.models import Model
from langchain_sdrag.wrapping import LANGCHAIN, enforce
from sdrag import ingest, masking, transformer
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.vocabulary import Passage

R = TypeVar("R")


class IngestTransformer(transformer.Transformer[Document], BaseDocumentTransformer):
    """What the core does with passages, over documents."""

    _framework = LANGCHAIN

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self._engine.policy_hash

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Transform documents; those of one source come together, in their order.

        Returns:
            What leaves, under the ids that they had or are given.

        Raises:
            UsageError: Two documents have the same id.
            SdragError: Nothing was transformed; the error holds no text.
        """
        return run_sync(self._transform(call_sync, documents))

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Transform documents without blocking the event loop."""
        return await self._transform(call_async, documents)

    def _read(self, documents: Iterable[Document]) -> tuple[Passage, ...]:
        return passages_of(documents)

    def _write(
        self, documents: Sequence[Document], done: transformer.Transformed
    ) -> list[Document]:
        leaving = documents_of(done.passages)
        if self._rebuilds:
            return leaving
        pairs = zip(done.given, documents, strict=True)
        originals = {passage.id: (passage, document) for passage, document in pairs}
        for index, passage in enumerate(done.passages):
            before, document = originals.get(passage.id, (None, leaving[index]))
            if passage == before and document.id == passage.id:
                leaving[index] = document
        return leaving

    async def _enforce(self, do: Caller, steps: Steps[R]) -> R:
        run = get_callback_manager_for_config(ensure_config())
        return await enforce(do, self._engine, steps, run)


class ConstraintBinder(
    ingest.ConstraintBinder[Document, Model, Embeddings], IngestTransformer
):
    """
    Bind constraints to documents before they are stored; they leave as they came.

    The chunks of one document are read together; a document whose chunks come in
    several batches is completed later.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        store.add_documents(binder.transform_documents(chunks))
        ```
    """


class LinkageMasker(
    masking.LinkageMasker[Document, Model, Embeddings], IngestTransformer
):
    """
    Mask documents before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        store.add_documents(splitter.split_documents(masker.transform_documents(docs)))
        ```
    """


class InjectionScanner(ingest.InjectionScanner[Document], IngestTransformer):
    """
    Drop, strip or flag documents that inject prompts, before they are stored.

    This is the first of two scans: it "catches known attack patterns but misses novel
    ones", so the retriever scans once more.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        store.add_documents(scanner.transform_documents(chunks))
        ```
    """


class RedactingTransformer(
    ingest.RedactingTransformer[Document, Model, Embeddings], IngestTransformer
):
    """
    Redact documents for an index of one audience, so that its vectors tell no more.

    Documents keep their ids, unless those hold what is withheld. Metadata is what may
    leave, with the keys that guards look at. Wrap the retriever over this index all the
    same: constraints come and go.

    Example:
        ```python
        view = RedactingTransformer(policy="policy.yaml")
        visitors_store.add_documents(view.transform_documents(chunks))
        ```
    """


class HierarchySummarizer(
    ingest.HierarchySummarizer[Document, Model, Embeddings], IngestTransformer
):
    """
    Add summaries to documents before they are stored, layer over layer.

    Every document that is returned names its layer in its metadata, 0 for the chunks,
    so a store's own filter holds a retrieval to layers. A summary names what it was
    made from under `sdrag_sources`, one id a line. The model reads unredacted chunks
    and no question; what its summaries repeat is redacted when they are retrieved.

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
    """
