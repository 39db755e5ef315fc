"""The two frameworks as a test of what happens at ingest needs them: alike."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
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

    def release(self, documents, **options):
        """Return the texts that a retriever over documents releases."""
        retriever = build(
            langchain_sdrag.SelectiveDisclosureRetriever,
            base_retriever=_Documents(documents=list(documents)),
            **options,
        )
        return [document.page_content for document in retriever.invoke("q")]

    def hear(self, component, documents, *, is_async=False):
        """Transform within a run, and return the events that its handlers hear."""
        events = []

        class Handler(BaseCallbackHandler):
            def on_custom_event(self, name, data, **kwargs):
                events.append((name, data["stage"], str(data)))

        config = {"callbacks": [Handler()]}
        if is_async:
            step = RunnableLambda(component.atransform_documents)
            asyncio.run(step.ainvoke(documents, config))
        else:
            RunnableLambda(component.transform_documents).invoke(documents, config)
        return events


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

    def release(self, documents, **options):
        retriever = build(
            llamaindex_sdrag.SelectiveDisclosureRetriever,
            base_retriever=_Nodes(documents),
            **options,
        )
        return [scored.node.get_content() for scored in retriever.retrieve("q")]

    def hear(self, component, documents, *, is_async=False):
        root, handler = get_dispatcher(), _Handler()
        root.add_event_handler(handler)
        try:
            self.transform(component, documents, is_async=is_async)
        finally:
            root.event_handlers.remove(handler)
        return handler.events


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


class _Handler(BaseEventHandler):
    _events: list = PrivateAttr(default_factory=list)

    @property
    def events(self):
        return self._events

    def handle(self, event, **kwargs):
        if event.class_name() == "DisclosureEvent":
            self._events.append(("sdrag", event.stage, str(event)))


BOTH = pytest.mark.parametrize(
    "framework", [LangChain(), LlamaIndex()], ids=["langchain", "llamaindex"]
)
SYNC_AND_ASYNC = pytest.mark.parametrize(
    "is_async", [False, True], ids=["sync", "async"]
)
