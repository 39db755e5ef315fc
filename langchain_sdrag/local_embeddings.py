"""The packaged MiniLM as a LangChain embedding model: no key and no download."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from sdrag.embeddings import embed_texts


class LocalEmbeddings(Embeddings):
    """Embed with all-MiniLM-L6-v2 from the extra `local`; 384 numbers, unit length."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return embed_texts(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self.embed_documents([text])[0]
