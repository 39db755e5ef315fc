"""The packaged MiniLM as a LlamaIndex embedding model: no key and no download."""

from __future__ import annotations

from asyncio import to_thread

from llama_index.core.base.embeddings.base import BaseEmbedding

from sdrag.embeddings import embed_texts


class LocalEmbeddings(BaseEmbedding):
    """Embed with all-MiniLM-L6-v2 from the extra `local`; 384 numbers, unit length."""

    model_name: str = "all-MiniLM-L6-v2"

    @classmethod
    def class_name(cls) -> str:
        """Name the class, as LlamaIndex stores it."""
        return "LocalEmbeddings"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return embed_texts(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await to_thread(self._get_query_embedding, query)
