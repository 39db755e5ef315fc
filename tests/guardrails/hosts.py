"""The same host application in both frameworks, over a Chroma client."""

from __future__ import annotations

import asyncio
import zlib
from datetime import UTC, datetime

import numpy as np
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.retrievers import VectorIndexRetriever
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_sdrag
import llamaindex_sdrag
from sdrag import acting_as

from ..support.wrappers import build


def vector(text):
    """Return a bag of words, hashed."""
    held = np.zeros(1024)
    for word in text.lower().replace(".", " ").split():
        held[zlib.crc32(word.encode()) % 1024] += 1.0
    return (held / max(1.0, np.linalg.norm(held))).tolist()


class Words(Embeddings):
    """Embeds by the words of a text."""

    def embed_documents(self, texts):
        return [vector(text) for text in texts]

    def embed_query(self, text):
        return vector(text)


class WordsToo(BaseEmbedding):
    """The same for LlamaIndex."""

    def _get_text_embedding(self, text):
        return vector(text)

    def _get_query_embedding(self, query):
        return vector(query)

    async def _aget_query_embedding(self, query):
        return vector(query)


class LangChainHost:
    """A LangChain application."""

    def __init__(self, client, name, corpus):
        self.asked = []
        self.store = Chroma(name, Words(), client=client)
        self.store.add_documents(
            [
                Document(id=key, page_content=text, metadata=metadata)
                for key, (text, metadata) in corpus.items()
            ]
        )

    def retriever(self, policy, *, k=10, own=None, translator=None, **arguments):
        """Wrap the host's retriever, which may have a filter of its own."""
        kwargs = {"k": k} | ({"filter": own} if own else {})
        base = self.store.as_retriever(search_kwargs=kwargs)
        if translator is not None:
            base = langchain_sdrag.FilteredRetriever(base, translator)
        return build(
            langchain_sdrag.SelectiveDisclosureRetriever,
            base_retriever=base,
            policy=policy,
            embeddings=Words(),
            **arguments,
        )

    def find(self, retriever, question, principal=None):
        """Return what is found, as ids, texts and metadata; sync is as async."""
        with acting_as(principal):
            once = retriever.invoke(question)
            again = asyncio.run(retriever.ainvoke(question))
        assert again == once
        return [(one.id, one.page_content, one.metadata) for one in once]

    async def ids(self, retriever, question):
        return [one.id for one in await retriever.ainvoke(question)]


class LlamaIndexHost:
    """A LlamaIndex application."""

    def __init__(self, client, name, corpus):
        vectors = ChromaVectorStore(chroma_collection=client.create_collection(name))
        vectors.flat_metadata = False  # else it refuses lists, which Chroma can hold
        self.index = VectorStoreIndex.from_vector_store(vectors, WordsToo())
        self.index.insert_nodes(
            [
                TextNode(id_=key, text=text, metadata=metadata)
                for key, (text, metadata) in corpus.items()
            ]
        )

    def retriever(self, policy, *, k=10, own=None, factory=True, **arguments):
        def make(filters=None):
            given = [MetadataFilter(key=key, value=own[key]) for key in own or ()]
            both = MetadataFilters(filters=[*given, *([filters] if filters else [])])
            return VectorIndexRetriever(
                self.index, similarity_top_k=k, filters=both if both.filters else None
            )

        base = make()
        if factory:
            base = llamaindex_sdrag.FilteredRetriever(base, make)
        return build(
            llamaindex_sdrag.SelectiveDisclosureRetriever,
            base_retriever=base,
            policy=policy,
            embeddings=WordsToo(),
            **arguments,
        )

    def find(self, retriever, question, principal=None):
        with acting_as(principal):
            once = retriever.retrieve(question)
            again = asyncio.run(retriever.aretrieve(question))
        found, others = (
            [(one.node_id, one.text, one.metadata) for one in nodes]
            for nodes in (once, again)
        )
        assert found == others
        return found

    async def ids(self, retriever, question):
        return [one.node_id for one in await retriever.aretrieve(question)]


def ids(found):
    """Return the ids alone."""
    return [identity for identity, _, _ in found]


def days_ago(days):
    """Return a date as metadata has it."""
    moment = datetime.now(UTC).timestamp() - days * 86_400
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


HOSTS = {"langchain": LangChainHost, "llamaindex": LlamaIndexHost}
