"""A small application of each framework over Chroma, plain and wrapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chromadb
import langchain_chroma
from chromadb.config import Settings
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_sdrag
import llamaindex_sdrag
from benchmarks.page.corpus import Drawn, DrawnForLlamaIndex

__all__ = ["FRAMEWORKS", "Host", "langchain_host", "llamaindex_host"]

K = 10
"""So many chunks a question retrieves."""
_BATCH = 2000


@dataclass(frozen=True)
class Host:
    """
    An application.

    Args:
        name: Of its framework.
        bare: Its own retriever.
        wrap: Wraps that, with the arguments of a wrapper.
        ask: Asks a retriever a question.
        bind: Binds its chunks, with the arguments of a binder.
    """

    name: str
    bare: Any
    wrap: Callable[..., Any]
    ask: Callable[[Any, str], Sequence[Any]]
    bind: Callable[..., object]


def langchain_host(
    documents: Sequence[Document], embeddings: Embeddings, folder: Path
) -> Host:
    """Index chunks in Chroma, on disk, with LangChain."""
    store = langchain_chroma.Chroma("chunks", embeddings, str(folder))
    for start in range(0, len(documents), _BATCH):
        store.add_documents(list(documents[start : start + _BATCH]))
    bare = store.as_retriever(search_kwargs={"k": K})

    def wrap(**setup: Any) -> Any:
        return langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=bare, embeddings=embeddings, **setup
        )

    def bind(**setup: Any) -> object:
        binder = langchain_sdrag.ConstraintBinder(embeddings=embeddings, **setup)
        return binder.transform_documents(documents)

    return Host(
        "LangChain", bare, wrap, lambda asked, text: list(asked.invoke(text)), bind
    )


def llamaindex_host(
    documents: Sequence[Document], embeddings: Embeddings, folder: Path
) -> Host:
    """Index chunks in Chroma, on disk, with LlamaIndex."""
    model = DrawnForLlamaIndex(drawn=embeddings)
    client = chromadb.PersistentClient(
        str(folder), Settings(anonymized_telemetry=False)
    )
    store = ChromaVectorStore(chroma_collection=client.create_collection("nodes"))
    nodes = list(map(_node, documents))
    vectors = Drawn().embed_documents([node.text for node in nodes])
    for node, vector in zip(nodes, vectors, strict=True):
        node.embedding = vector
    for start in range(0, len(nodes), _BATCH):
        store.add(nodes[start : start + _BATCH])
    index = VectorStoreIndex.from_vector_store(store, embed_model=model)
    bare = index.as_retriever(similarity_top_k=K)

    def wrap(**setup: Any) -> Any:
        return llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=bare, embeddings=model, **setup
        )

    def bind(**setup: Any) -> object:
        return llamaindex_sdrag.ConstraintBinder(embeddings=model, **setup)(nodes)

    return Host(
        "LlamaIndex", bare, wrap, lambda asked, text: asked.retrieve(text), bind
    )


def _node(document: Document) -> TextNode:
    source = RelatedNodeInfo(node_id=document.metadata["source"])
    return TextNode(
        id_=str(document.id),
        text=document.page_content,
        metadata=dict(document.metadata),
        relationships={NodeRelationship.SOURCE: source},
    )


FRAMEWORKS = (langchain_host, llamaindex_host)
