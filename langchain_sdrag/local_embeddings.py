"""Embedding models that run on this machine, for LangChain: no key."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from sdrag.embeddings import embed_texts, load_embedder


class LocalEmbeddings(Embeddings):
    """
    Embed on this machine, in rows of unit length.

    Args:
        model: A model of sentence-transformers, from the extra of that name: a folder,
            or a name, which it may download. By default the packaged all-MiniLM-L6-v2
            of the extra `local`, of 384 numbers.
    """

    def __init__(self, model: str | None = None) -> None:
        self._embed = embed_texts if model is None else load_embedder(model)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return self._embed(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self.embed_documents([text])[0]
