"""The two frameworks as a test of what happens at ingest needs them: alike."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever as NodeRetriever
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)
from pydantic import PrivateAttr

import langchain_sdrag
import llamaindex_sdrag

from .doubles import (
    LangChainModel,
    LangChainToyEmbeddings,
    LlamaIndexModel,
    LlamaIndexToyEmbedding,
)
from .wrappers import build


class LangChain:
    """Documents, and transformers of documents."""

    package = langchain_sdrag
    embeddings = LangChainToyEmbeddings()

    def model(self, reply):
        return LangChainModel(reply=reply)

    def prompts(self, model):
        return model.prompts

    def document(self, identity, text, source="log.txt", **metadata):
        return Document(
            id=identity, page_content=text, metadata={"source": source, **metadata}
        )

    def fields(self, document):
        """Return id, text and metadata."""
        return document.id, document.page_content, document.metadata

    def transform(self, component, documents, *, is_async=False):
        if is_async:
            return list(asyncio.run(component.atransform_documents(documents)))
        return list(component.transform_documents(documents))

    def retriever(self, documents):
        return _Documents(documents=list(documents))

    def index(self, documents, k):
        """Return a retriever over an exact store: no other orders equal scores so."""
        store = InMemoryVectorStore(self.embeddings)
        store.add_documents(documents)
        return store.as_retriever(search_kwargs={"k": k})

    def find(self, retriever, question, *, is_async=False):
        """Return all that a retriever tells of what it finds."""
        if is_async:
            return asyncio.run(retriever.ainvoke(question))
        return retriever.invoke(question)

    def release(self, documents, **options):
        """Return the texts that a retriever over documents releases."""
        retriever = build(
            langchain_sdrag.SelectiveDisclosureRetriever,
            base_retriever=self.retriever(documents),
            **options,
        )
        return [document.page_content for document in retriever.invoke("q")]

    def hear(self, component, documents, *, is_async=False):
        """Transform within a run, and return the events that its handlers hear."""
        handler = CustomEvents()
        config = {"callbacks": [handler]}
        if is_async:
            step = RunnableLambda(component.atransform_documents)
            asyncio.run(step.ainvoke(documents, config))
        else:
            RunnableLambda(component.transform_documents).invoke(documents, config)
        return handler.events


class LlamaIndex:
    """Nodes, and transformations of nodes."""

    package = llamaindex_sdrag
    embeddings = LlamaIndexToyEmbedding()

    def model(self, reply):
        return LlamaIndexModel(reply)

    def prompts(self, model):
        return model._prompts

    def document(self, identity, text, source="log.txt", **metadata):
        of = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)}
        return TextNode(id_=identity, text=text, metadata=metadata, relationships=of)

    def fields(self, node):
        return node.node_id, node.get_content(), node.metadata

    def transform(self, component, documents, *, is_async=False):
        if is_async:
            return list(asyncio.run(component.acall(documents)))
        return list(component(documents))

    def retriever(self, documents):
        return _Nodes(documents)

    def index(self, documents, k):
        index = VectorStoreIndex(documents, embed_model=self.embeddings)
        return index.as_retriever(similarity_top_k=k)

    def find(self, retriever, question, *, is_async=False):
        """Return also the scores."""
        if is_async:
            found = asyncio.run(retriever.aretrieve(question))
        else:
            found = retriever.retrieve(question)
        return [(n.node_id, n.score, n.node.text, n.metadata) for n in found]

    def release(self, documents, **options):
        retriever = build(
            llamaindex_sdrag.SelectiveDisclosureRetriever,
            base_retriever=self.retriever(documents),
            **options,
        )
        return [scored.node.get_content() for scored in retriever.retrieve("q")]

    def hear(self, component, documents, *, is_async=False):
        with disclosure_events() as events:
            self.transform(component, documents, is_async=is_async)
        return events


class _Documents(BaseRetriever):
    documents: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


class _Nodes(NodeRetriever):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node) for node in self.nodes]


class CustomEvents(BaseCallbackHandler):
    """Hears what is announced in LangChain, as name, stage and content."""

    def __init__(self):
        self.events = []

    def on_custom_event(self, name, data, **kwargs):
        self.events.append((name, data["stage"], str(data)))


@contextmanager
def disclosure_events():
    """Hear what is announced in LlamaIndex, in the same form."""
    root, handler = get_dispatcher(), _Handler()
    root.add_event_handler(handler)
    try:
        yield handler._events
    finally:
        root.event_handlers.remove(handler)


class _Handler(BaseEventHandler):
    _events: list = PrivateAttr(default_factory=list)

    def handle(self, event, **kwargs):
        if event.class_name() == "DisclosureEvent":
            self._events.append(("sdrag", event.stage, str(event)))


BOTH = pytest.mark.parametrize(
    "framework", [LangChain(), LlamaIndex()], ids=["langchain", "llamaindex"]
)
SYNC_AND_ASYNC = pytest.mark.parametrize(
    "is_async", [False, True], ids=["sync", "async"]
)
