"""
Searching a vector index with a vector of the question that is made once.

A retriever of a vector index embeds a question that comes without a vector, each time.
So the vector is made here, with the index's own model and as the retriever would, and
travels in the question. Any other retriever is left to itself.
"""

from __future__ import annotations

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.schema import QueryBundle

__all__ = ["VectorSearch"]


class VectorSearch:
    """
    Makes the vectors of one request's questions.

    Args:
        embeddings: The policy's model.
    """

    def __init__(self, embeddings: BaseEmbedding | None) -> None:
        self._embeddings = embeddings
        self._made: dict[tuple[int, tuple[str, ...]], list[float]] = {}

    def vector(self, question: str) -> list[float] | None:
        """Return the vector that a question was searched by, if it may be shared."""
        return self._made.get((id(self._embeddings), (question,)))

    def embedding(
        self, retriever: BaseRetriever, question: QueryBundle
    ) -> list[float] | None:
        """Return the question's vector, for a retriever that would make it."""
        model = _model(retriever, question)
        if model is None:
            return question.embedding
        key = id(model), tuple(question.embedding_strs)
        if key not in self._made:
            texts = question.embedding_strs
            self._made[key] = model.get_agg_embedding_from_queries(texts)
        return self._made[key]

    async def aembedding(
        self, retriever: BaseRetriever, question: QueryBundle
    ) -> list[float] | None:
        """Return it without blocking the event loop."""
        model = _model(retriever, question)
        if model is None:
            return question.embedding
        key = id(model), tuple(question.embedding_strs)
        if key not in self._made:
            texts = question.embedding_strs
            self._made[key] = await model.aget_agg_embedding_from_queries(texts)
        return self._made[key]


def _model(retriever: BaseRetriever, question: QueryBundle) -> BaseEmbedding | None:
    """Return the model by which the retriever would embed the question."""
    if question.embedding is not None or not question.embedding_strs:
        return None
    if type(retriever) is not VectorIndexRetriever:
        return None
    if not retriever._needs_embedding():  # noqa: SLF001 -- nothing public says so
        return None
    return retriever._embed_model  # noqa: SLF001 -- as above
