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
from langchain_sdrag.wrapping import enforce, make_engine
from sdrag.disclosure.hierarchy import HierarchySettings
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.ingest import CorpusBinder, CorpusMasker, CorpusScanner, Transformer
from sdrag.linkage.fitting import Fitted
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.tasks import Bind, Mask, Scan, Summarize, Task, Transformed, View
from sdrag.vocabulary import Passage, Principal

R = TypeVar("R")


class IngestTransformer(Transformer[Document], BaseDocumentTransformer):
    """A task of the core over documents."""

    def __init__(
        self,
        task: Task,
        policy: PolicySource,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        self._task = task
        self._engine = make_engine(
            policy, llm, embeddings, state, options, stage=task.stage
        )
        task.check(self._engine)

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
        self, documents: Sequence[Document], done: Transformed
    ) -> list[Document]:
        leaving = documents_of(done.passages)
        if self._task.rebuilds:
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


class ConstraintBinder(IngestTransformer, CorpusBinder[Document]):
    """
    Bind constraints to documents before they are stored; they leave as they came.

    The chunks of one document are read together; a document whose chunks come in
    several batches is completed later.

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

    _task: Bind

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
        super().__init__(Bind(show_progress), policy, llm, embeddings, state, options)


class LinkageMasker(IngestTransformer, CorpusMasker[Document]):
    """
    Mask documents before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        store.add_documents(splitter.split_documents(masker.transform_documents(docs)))
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Extracts the entities, reading each document twice (section 4.2.2 of the
            thesis), and rewrites, where `linkage.replace` says so. With a detector in
            `options`, it rewrites alone.
        embeddings: Compares forms by meaning; MiniLM by default.
        state: That of the retriever, or its path: what stands in place of values is
            known again there, and is neither searched nor cut.
        options: A detector, sinks of audit events, and limits.
        fitted: A plan that `fit` made of the whole corpus. It is applied as it is: what
            `linkage` says in the policy is what it was fitted with.
        whole_corpus: What is given in one call is the whole corpus: fit on it. A worker
            of Ray is given batches, and refuses.
        key: For ids and pseudonyms that stay the same from run to run; by default one
            of the state, if that is in a file.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both; or what is to
            be put in place of values needs a key or a model that is missing.
    """

    _task: Mask

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        key: bytes | None = None,
    ) -> None:
        task = Mask(fitted, whole_corpus, key)
        super().__init__(task, policy, llm, embeddings, state, options)


class InjectionScanner(IngestTransformer, CorpusScanner[Document]):
    """
    Drop, strip or flag documents that inject prompts, before they are stored.

    This is the first of two scans: it "catches known attack patterns but misses novel
    ones", so the retriever scans once more.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        store.add_documents(scanner.transform_documents(chunks))
        ```

    Args:
        policy: Its section `injection` says what becomes of a passage.
        options: A judge under `injection`, sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(self, policy: PolicySource, options: Options | None = None) -> None:
        super().__init__(Scan(), policy, options=options)


class RedactingTransformer(IngestTransformer):
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

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved. A worker of Ray is given
            batches, so it needs the state of a binding that is complete.
        options: A detector, sinks of audit events, and limits.
        audience: A principal that represents it; without one, every constraint holds.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        audience: Principal | None = None,
    ) -> None:
        super().__init__(View(audience), policy, llm, embeddings, state, options)


class HierarchySummarizer(IngestTransformer):
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

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        llm: Writes the summaries; it is given unredacted text.
        embeddings: Finds what belongs together, and binds; MiniLM by default.
        options: Sinks of audit events, and limits.
        settings: The depth of the tree, and how it is clustered.
        show_progress: Shows a bar.

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
        task = Summarize(settings or HierarchySettings(), show_progress)
        super().__init__(task, policy, llm, embeddings, state, options)
