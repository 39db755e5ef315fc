"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

What is bound and what was located goes to the state, and the documents to the host's
store as they are. Chunks of one document are read together, in the order in which they
come; a document whose chunks come in several batches is completed later. A document
without an id is given one, since a binding is found again by it: add the documents that
are returned.

Policies change while the index stands: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import passages_of
from langchain_sdrag.effects import Model, completing, embedding, model_name
from langchain_sdrag.searching import HostRetriever, searching
from langchain_sdrag.tracing import cover
from langchain_sdrag.windows import context_window
from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.policy_updates import bind_constraint, forget_constraint, named
from sdrag.engine.batches import batched
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.progress import progress_bar
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import Audit, GuardRunner

__all__ = ["ConstraintBinder", "named_document"]

_AT_ONCE = 1000


class ConstraintBinder(BaseDocumentTransformer):
    """
    Bind constraints to documents before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.state.sqlite")
        store.add_documents(binder.transform_documents(chunks))
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        state: Where it is kept, or its path; the retriever is given the same.
        llm: Finds what the constraints mean, beside the local engine; then no model is
            asked when the chunks are retrieved.
        embeddings: The model that the retriever is given; MiniLM by default.
        show_progress: Shows a bar.
        audit: Takes the audit events.
        limits: The bounds of model calls.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        state: StateSource,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        show_progress: bool = False,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = Policy.read(policy)
        self._engine = Engine.build(
            self._policy,
            has_model=llm is not None,
            model_id=model_name(llm),
            state=state,
            releasing=False,
            window=context_window(llm),
        )
        self._shown = show_progress
        ports = Ports(complete=completing(llm), embed=embedding(embeddings))
        self._hook = GuardRunner.build(
            "bind",
            self._policy,
            ports,
            audit=audit,
            limits=limits,
            state=self._engine.disclosure.state,
        )

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Bind the constraints.

        Returns:
            The documents, unchanged but for an id where they had none.

        Raises:
            HostError: The embeddings or the state failed. What was bound before stays,
                and is not done again.
        """
        named = [named_document(document) for document in documents]
        self._bound(passages_of(named))
        return named

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Bind the constraints without blocking the event loop."""
        named = [named_document(document) for document in documents]
        await self._abound(passages_of(named))
        return named

    def bind_documents(self, documents: Iterable[Document]) -> Ingested:
        """
        Bind the constraints to an index that exists already, from whatever store.

        Args:
            documents: Under the ids by which the store knows them; those of one source
                together, in their order. They are read some at a time.

        Returns:
            How many there were, and for how many every constraint could be judged.

        Raises:
            HostError: As `transform_documents`.
        """
        done = Ingested()
        for some in batched(documents, _AT_ONCE):
            done += self._bound(passages_of(some))
        return done

    async def abind_documents(self, documents: Iterable[Document]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        done = Ingested()
        for some in batched(documents, _AT_ONCE):
            done += await self._abound(passages_of(some))
        return done

    def bind_constraint(self, constraint_id: str, retriever: HostRetriever) -> int:
        """
        Bind one new or reworded constraint; no document is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: Over the whole index, without a filter.

        Returns:
            To how many documents it was bound.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The store or the state failed; nothing was bound.
        """
        rule = named(self._policy, constraint_id)
        steps = bind_constraint(rule, self._engine.disclosure)
        search = searching(retriever, None, {})
        count, _ = self._hook.perform(steps, self._cover(), search)
        return count

    async def abind_constraint(
        self, constraint_id: str, retriever: HostRetriever
    ) -> int:
        """Bind one constraint without blocking the event loop."""
        rule = named(self._policy, constraint_id)
        steps = bind_constraint(rule, self._engine.disclosure)
        search = searching(retriever, None, {})
        count, _ = await self._hook.aperform(steps, self._cover(), search)
        return count

    def forget_constraint(self, constraint_id: str) -> None:
        """
        Free the room of a constraint that is to leave the binder's policy.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The state failed.
        """
        rule = named(self._policy, constraint_id)
        steps = forget_constraint(rule, self._engine.disclosure.state)
        self._hook.perform(steps, self._cover())

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        rule = named(self._policy, constraint_id)
        steps = forget_constraint(rule, self._engine.disclosure.state)
        await self._hook.aperform(steps, self._cover())

    def forget_document(self, chunks: Sequence[Document]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: As they stood in the index.

        Raises:
            HostError: The state failed.
        """
        steps = forget_document(passages_of(chunks), self._engine.disclosure)
        self._hook.perform(steps, self._cover())

    async def aforget_document(self, chunks: Sequence[Document]) -> None:
        """Forget a document without blocking the event loop."""
        steps = forget_document(passages_of(chunks), self._engine.disclosure)
        await self._hook.aperform(steps, self._cover())

    def _bound(self, passages: Sequence[Passage]) -> Ingested:
        with progress_bar("Binding", shown=self._shown) as progress:
            steps = bind(passages, self._engine, progress)
            done, _ = self._hook.perform(steps, self._cover())
        self._hook.warn_of_corpus(passages)
        return done

    async def _abound(self, passages: Sequence[Passage]) -> Ingested:
        with progress_bar("Binding", shown=self._shown) as progress:
            steps = bind(passages, self._engine, progress)
            done, _ = await self._hook.aperform(steps, self._cover())
        self._hook.warn_of_corpus(passages)
        return done

    def _cover(self) -> AbstractContextManager[None]:
        return cover(self._policy, None)

    def __repr__(self) -> str:
        return f"ConstraintBinder(policy_hash={self._hook.policy_hash!r})"


def named_document(document: Document) -> Document:
    """Give a document an id where it has none: what is kept of it is found by it."""
    return document if document.id else document.model_copy(update={"id": str(uuid4())})
