"""Hosts whose chunks are summarized at ingest: real stores of both frameworks."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import (
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_sdrag
import llamaindex_sdrag
from sdrag.disclosure.hierarchy import LAYER_KEY, SOURCES_KEY

from ..support.doubles import (
    LangChainModel,
    LangChainToyEmbeddings,
    LlamaIndexModel,
    LlamaIndexToyEmbedding,
)
from ..support.wrappers import build

SECRET = "Karlsson"
NEAREST = f"Remove the names of witnesses such as Anna {SECRET}."
TEXTS = [NEAREST, "A van stood there.", "It rained.", "The ferry left at nine."]
SUMMARY = f"At nine the van of Anna {SECRET} left in the rain."
QUESTION = "What left at nine?"
POLICY = {
    "constraints": [{"id": "names", "text": "Remove the names of witnesses"}],
    "disclosure": {
        "rank_by": "weighted_average",
        "bind_top_n": 1,
        "similarity_floor": 1.0,
    },
    "metadata": {"allow": [LAYER_KEY]},
}
LAYERS = [[0], [1, 2], [0, 1, 2]]
QUIET = ChromaSettings(anonymized_telemetry=False)


def summarize(prompt):
    """Tell each layer its own words, so that none is mistaken for another."""
    return f"In short: {SUMMARY}" if SUMMARY in prompt else SUMMARY


def paired(rows, *_, **__):
    """Clusters of neighbours: what belongs together is not what is tested here."""
    return [(n, n + 1) for n in range(0, len(rows) - 1, 2)]


class LangChainHost:
    """An application over LangChain, with Chroma."""

    package = langchain_sdrag
    embeddings = LangChainToyEmbeddings()

    def model(self, reply):
        return LangChainModel(reply=reply)

    def chunks(self, texts=TEXTS, source="log.txt"):
        return [
            Document(id=f"c{n}", page_content=text, metadata={"source": source})
            for n, text in enumerate(texts)
        ]

    def transform(self, component, chunks):
        return component.transform_documents(chunks)

    def atransform(self, component, chunks):
        return asyncio.run(component.atransform_documents(chunks))

    def read(self, document):
        metadata = document.metadata
        ids = metadata.get(SOURCES_KEY, "").split()
        return document.id, document.page_content, metadata[LAYER_KEY], ids

    def index(self, documents):
        self.store = Chroma(
            f"host-{uuid4().hex}",
            embedding_function=self.embeddings,
            client=chromadb.EphemeralClient(settings=QUIET),
        )
        self.store.add_documents(documents)

    def retriever(self, layers):
        condition = {LAYER_KEY: {"$in": layers}}
        return self.store.as_retriever(search_kwargs={"k": 9, "filter": condition})

    def ask(self, wrapped):
        found = wrapped.invoke(QUESTION)
        return [(one.metadata[LAYER_KEY], one.page_content) for one in found]

    def aask(self, wrapped):
        found = asyncio.run(wrapped.ainvoke(QUESTION))
        return [(one.metadata[LAYER_KEY], one.page_content) for one in found]


class LlamaIndexHost:
    """An application over LlamaIndex, with Chroma."""

    package = llamaindex_sdrag
    embeddings = LlamaIndexToyEmbedding()

    def model(self, reply):
        return LlamaIndexModel(reply)

    def chunks(self, texts=TEXTS, source="log.txt"):
        nodes = [TextNode(id_=f"c{n}", text=text) for n, text in enumerate(texts)]
        for node in nodes:
            node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(
                node_id=source
            )
        return nodes

    def transform(self, component, chunks):
        return component(chunks)

    def atransform(self, component, chunks):
        return asyncio.run(component.acall(chunks))

    def read(self, node):
        ids = [child.node_id for child in node.child_nodes or []]
        return node.node_id, node.get_content(), node.metadata[LAYER_KEY], ids

    def vector_store(self):
        client = chromadb.EphemeralClient(settings=QUIET)
        collection = client.create_collection(f"host-{uuid4().hex}")
        return ChromaVectorStore(chroma_collection=collection)

    def index(self, nodes):
        self.built = VectorStoreIndex(
            nodes,
            storage_context=StorageContext.from_defaults(
                vector_store=self.vector_store()
            ),
            embed_model=self.embeddings,
        )

    def retriever(self, layers):
        held = MetadataFilter(key=LAYER_KEY, value=layers, operator=FilterOperator.IN)
        return self.built.as_retriever(
            similarity_top_k=9, filters=MetadataFilters(filters=[held])
        )

    def ask(self, wrapped):
        found = wrapped.retrieve(QUESTION)
        return [(one.metadata[LAYER_KEY], one.get_content()) for one in found]

    def aask(self, wrapped):
        found = asyncio.run(wrapped.aretrieve(QUESTION))
        return [(one.metadata[LAYER_KEY], one.get_content()) for one in found]


class SimpleStoreHost(LlamaIndexHost):
    """The same, with LlamaIndex's own vector store."""

    def vector_store(self):
        return SimpleVectorStore()


FRAMEWORKS = pytest.mark.parametrize(
    "host", [LangChainHost, LlamaIndexHost], ids=["langchain", "llamaindex"]
)
STORES = pytest.mark.parametrize(
    "host",
    [LangChainHost, LlamaIndexHost, SimpleStoreHost],
    ids=["langchain-chroma", "llamaindex-chroma", "llamaindex-simple"],
)


def summarizer(host, sidecar, *, reply=summarize, **options):
    return build(
        host.package.HierarchySummarizer,
        policy=POLICY,
        state=sidecar,
        llm=host.model(reply),
        embeddings=host.embeddings,
        **options,
    )


def ingested(host, sidecar, **options):
    """Bind, then summarize."""
    binder = host.package.ConstraintBinder(
        policy=POLICY, state=sidecar, embeddings=host.embeddings
    )
    chunks = host.transform(binder, host.chunks())
    return host.transform(summarizer(host, sidecar, **options), chunks)


def wrapped(host, sidecar, layers):
    return host.package.SelectiveDisclosureRetriever(
        base_retriever=host.retriever(layers),
        policy=POLICY,
        state=sidecar,
        embeddings=host.embeddings,
    )
