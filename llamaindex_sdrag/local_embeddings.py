"""Embedding models that run on this machine, for LlamaIndex: no key."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from sdrag.embeddings import embed_texts, load_embedder

_PACKAGED = "all-MiniLM-L6-v2"


class LocalEmbeddings(BaseEmbedding):
    """
    Embed on this machine, in rows of unit length.

    Args:
        model: A model of sentence-transformers, from the extra of that name: a folder,
            or a name, which it may download. By default the packaged all-MiniLM-L6-v2
            of the extra `local`, of 384 numbers.
    """

    model_name: str = _PACKAGED

    def __init__(self, model: str | None = None, **given: Any) -> None:
        super().__init__(**{"model_name": model or _PACKAGED, **given})

    @classmethod
    def class_name(cls) -> str:
        """Name the class, as LlamaIndex stores it."""
        return "LocalEmbeddings"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        packaged = self.model_name == _PACKAGED
        embed = embed_texts if packaged else load_embedder(self.model_name)
        return embed(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await to_thread(self._get_query_embedding, query)
