"""
Searching a vector store with a vector of the question that is made once.

A store's search by text need not be its search by vector: it may be hybrid, and a
class of the host's may override one of the two. So only classes that are known to do
the same in both are asked by vector, and none that is derived from them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStoreRetriever

__all__ = ["VectorSearch"]

_STORES = {
    ("langchain_chroma.vectorstores", "Chroma"),
    ("langchain_core.vectorstores.in_memory", "InMemoryVectorStore"),
}
_METHODS = {
    "similarity": "similarity_search_by_vector",
    "mmr": "max_marginal_relevance_search_by_vector",
}


class VectorSearch:
    """
    Asks a retriever's store, in place of the retriever, for one request.

    Args:
        retriever: One that `of` admits.
        model: The store's own.
        shared: That model is the policy's too.
    """

    def __init__(
        self, retriever: VectorStoreRetriever, model: Embeddings, *, shared: bool
    ) -> None:
        self._retriever, self._model, self._shared = retriever, model, shared
        self._made: dict[str, list[float]] = {}

    @classmethod
    def of(cls, retriever: object, embeddings: Embeddings | None) -> Self | None:
        """
        Return a search of the retriever's store; None where it is not known to be one.

        Args:
            retriever: The host's.
            embeddings: The policy's model.
        """
        if type(retriever) is not VectorStoreRetriever:
            return None
        store = type(retriever.vectorstore)
        model = retriever.vectorstore.embeddings
        known = (store.__module__, store.__qualname__) in _STORES
        if model is None or not known or retriever.search_type not in _METHODS:
            return None
        return cls(retriever, model, shared=model is embeddings)

    def vector(self, question: str) -> list[float] | None:
        """Return the vector that the question was searched by, if it may be shared."""
        return self._made.get(question) if self._shared else None

    def invoke(self, question: str, **options: Any) -> list[Document]:
        """Search."""
        if question not in self._made:
            self._made[question] = self._model.embed_query(question)
        search: Callable[..., list[Document]] = self._method("")
        return search(self._made[question], **self._with(options))

    async def ainvoke(self, question: str, **options: Any) -> list[Document]:
        """Search without blocking the event loop."""
        if question not in self._made:
            self._made[question] = await self._model.aembed_query(question)
        search: Callable[..., Awaitable[list[Document]]] = self._method("a")
        return await search(self._made[question], **self._with(options))

    def _method(self, prefix: str) -> Any:
        name = _METHODS[self._retriever.search_type]
        return getattr(self._retriever.vectorstore, prefix + name)

    def _with(self, options: dict[str, Any]) -> dict[str, Any]:
        return self._retriever.search_kwargs | options
