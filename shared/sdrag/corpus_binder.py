"""
Binding a corpus, and following its policy, over the documents of any framework.

Policies change while the index exists: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.ingest import bind_constraint, forget_constraint, named
from sdrag.effects.progress import batched, progress_bar
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.pipeline import bind
from sdrag.vocabulary import Passage

__all__ = ["CorpusBinder"]

D = TypeVar("D")
_AT_ONCE = 1000


class CorpusBinder(Generic[D]):
    """What a `ConstraintBinder` can do, whatever a framework calls a document."""

    _engine: Engine
    _shows_progress: bool

    # Not abstract: LlamaIndex puts what abstract methods are given into its spans.
    def _passages(self, documents: Iterable[D]) -> Sequence[Passage]:
        """Return documents as passages."""
        raise NotImplementedError

    def _searching(self, retriever: Any, question: str) -> HostSearch:
        """Return how the host's retriever is asked."""
        raise NotImplementedError

    def bind_documents(self, documents: Iterable[D]) -> Ingested:
        """
        Bind the constraints to an index that exists already, from whatever store.

        Args:
            documents: Under the ids by which the store knows them; those of one source
                together, in their order. They are read some at a time.

        Returns:
            How many there were, and for how many every constraint could be judged.

        Raises:
            HostError: The embeddings or the state failed. What was bound before stays,
                and is not done again.
        """
        done = Ingested()
        for batch in batched(documents, _AT_ONCE):
            done += self._bind(batch)
        return done

    async def abind_documents(self, documents: Iterable[D]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        done = Ingested()
        for batch in batched(documents, _AT_ONCE):
            done += await self._abind(batch)
        return done

    def bind_constraint(self, constraint_id: str, retriever: Any) -> int:
        """
        Bind one new or reworded constraint; no document is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: The framework's retriever over the whole index, without a filter.

        Returns:
            To how many documents it was bound.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The store or the state failed; nothing was bound.
        """
        constraint = named(self._engine.policy, constraint_id)
        steps = bind_constraint(constraint, self._engine.disclosure)
        search = self._searching(retriever, constraint.text)
        return self._engine.run(steps, search=search)[0]

    async def abind_constraint(self, constraint_id: str, retriever: Any) -> int:
        """Bind one constraint without blocking the event loop."""
        constraint = named(self._engine.policy, constraint_id)
        steps = bind_constraint(constraint, self._engine.disclosure)
        search = self._searching(retriever, constraint.text)
        return (await self._engine.arun(steps, search=search))[0]

    def forget_constraint(self, constraint_id: str) -> None:
        """
        Delete what is stored of a constraint that is to leave the binder's policy.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The state failed.
        """
        self._engine.run(self._forgetting(constraint_id))

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        await self._engine.arun(self._forgetting(constraint_id))

    def forget_document(self, chunks: Sequence[D]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: All of its chunks, as they were in the index.

        Raises:
            HostError: The state failed.
        """
        disclosure = self._engine.disclosure
        self._engine.run(forget_document(self._passages(chunks), disclosure))

    async def aforget_document(self, chunks: Sequence[D]) -> None:
        """Forget a document without blocking the event loop."""
        disclosure = self._engine.disclosure
        await self._engine.arun(forget_document(self._passages(chunks), disclosure))

    def _bind(self, documents: Iterable[D]) -> Ingested:
        passages = self._passages(documents)
        done, _ = self._engine.run(self._binding(passages))
        self._engine.warn_of_corpus(passages)
        return done

    async def _abind(self, documents: Iterable[D]) -> Ingested:
        passages = self._passages(documents)
        done, _ = await self._engine.arun(self._binding(passages))
        self._engine.warn_of_corpus(passages)
        return done

    def _binding(self, passages: Sequence[Passage]) -> Steps[Ingested]:
        with progress_bar("Binding", shown=self._shows_progress) as progress:
            return (yield from bind(passages, self._engine, progress))

    def _forgetting(self, constraint_id: str) -> Steps[None]:
        constraint = named(self._engine.policy, constraint_id)
        return forget_constraint(constraint, self._engine.disclosure.state)
