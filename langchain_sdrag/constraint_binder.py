"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

The bindings go to a sidecar, and the documents to the host's store as they are. A
document without an id is given one, since a binding is found again by it: add the
documents that are returned.

Policies change while the index stands: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import passages_of
from langchain_sdrag.effects import embedding
from langchain_sdrag.searching import HostRetriever, searching
from langchain_sdrag.tracing import cover
from sdrag.calls import Limits
from sdrag.disclosure.binding_store import BindingStore
from sdrag.disclosure.living import bind_constraint, forget_constraint, named
from sdrag.hosting import Audit, Hook
from sdrag.performing import Ports
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy, PolicySource
from sdrag.steps import Steps

__all__ = ["ConstraintBinder", "named_document"]


class ConstraintBinder(BaseDocumentTransformer):
    """
    Bind constraints to documents before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", bindings="bindings.sqlite")
        store.add_documents(binder.transform_documents(chunks))
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        bindings: The sidecar or its path; the retriever is given the same.
        embeddings: The model that the retriever is given; MiniLM by default.
        audit: Takes the audit events.
        limits: The bounds of embedding calls.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        bindings: BindingStore | str | Path,
        embeddings: Embeddings | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = Policy.read(policy)
        self._engine = Engine.build(self._policy, bindings=bindings, releasing=False)
        ports = Ports(embed=embedding(embeddings))
        self._hook = Hook.build("bind", self._policy, ports, audit=audit, limits=limits)

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Bind the constraints.

        Returns:
            The documents, unchanged but for an id where they had none.

        Raises:
            HostError: The embeddings or the sidecar failed; nothing was bound.
        """
        named = [named_document(document) for document in documents]
        passages = passages_of(named)
        self._hook.perform(bind(passages, self._engine), self._cover())
        self._hook.warn_of_keys(passages)
        return named

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Bind the constraints without blocking the event loop."""
        named = [named_document(document) for document in documents]
        passages = passages_of(named)
        await self._hook.aperform(bind(passages, self._engine), self._cover())
        self._hook.warn_of_keys(passages)
        return named

    def bind_constraint(self, constraint_id: str, retriever: HostRetriever) -> int:
        """
        Bind one new or reworded constraint; no document is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: Over the whole index, without a filter.

        Returns:
            To how many documents it was bound.

        Raises:
            UsageError: The policy or the sidecar has no such constraint.
            HostError: The store or the sidecar failed; nothing was bound.
        """
        search = searching(retriever, None, {})
        count, _ = self._hook.perform(self._added(constraint_id), self._cover(), search)
        return count

    async def abind_constraint(
        self, constraint_id: str, retriever: HostRetriever
    ) -> int:
        """Bind one constraint without blocking the event loop."""
        search = searching(retriever, None, {})
        count, _ = await self._hook.aperform(
            self._added(constraint_id), self._cover(), search
        )
        return count

    def forget_constraint(self, constraint_id: str) -> None:
        """
        Free the room of a constraint that is to leave the binder's policy.

        Raises:
            UsageError: The policy or the sidecar has no such constraint.
            HostError: The sidecar failed.
        """
        rule = named(self._policy, constraint_id)
        steps = forget_constraint(rule, self._engine.disclosure.bindings)
        self._hook.perform(steps, self._cover())

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        rule = named(self._policy, constraint_id)
        steps = forget_constraint(rule, self._engine.disclosure.bindings)
        await self._hook.aperform(steps, self._cover())

    def _added(self, constraint_id: str) -> Steps[int]:
        rule, setup = named(self._policy, constraint_id), self._engine.disclosure
        return bind_constraint(rule, setup.bindings, self._policy.disclosure)

    def _cover(self) -> AbstractContextManager[None]:
        return cover(self._policy, None)

    def __repr__(self) -> str:
        return f"ConstraintBinder(policy_hash={self._policy.hash!r})"


def named_document(document: Document) -> Document:
    """Give a document an id where it has none: what is kept of it is found by it."""
    return document if document.id else document.model_copy(update={"id": str(uuid4())})
