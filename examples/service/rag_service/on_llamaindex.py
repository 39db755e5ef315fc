"""
The service on LlamaIndex.

    uvicorn rag_service.on_llamaindex:create --factory
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import chromadb
from fastapi import FastAPI
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.llms.openai_like import OpenAILike
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings
from rag_service.collection import PROMPT, Note, notes
from rag_service.metrics import count_decisions
from rag_service.service import Found, create_app
from rag_service.settings import Settings
from sdrag import Options, State, open_state


class LlamaIndexAnswerer:
    """A wrapped retriever and a model."""

    def __init__(self, retriever: BaseRetriever, settings: Settings) -> None:
        self._retriever = retriever
        self._model = OpenAILike(
            api_base=settings.model_url,
            model=settings.model,
            api_key=settings.model_key,
            timeout=settings.seconds,
            max_retries=0,
            is_chat_model=True,
        )

    async def retrieve(self, question: str) -> list[Found]:
        found = await self._retriever.aretrieve(question)
        return [
            Found(node.metadata["source"], node.node.get_content()) for node in found
        ]

    async def answer(
        self, question: str, passages: Sequence[Found]
    ) -> AsyncIterator[str]:
        context = "\n".join(passage.text for passage in passages)
        asked = PROMPT.format(passages=context, question=question)
        async for said in await self._model.astream_chat([ChatMessage(asked)]):
            yield said.delta or ""


def _node(note: Note) -> TextNode:
    """Name the document, so that every process knows again what was located in it."""
    return TextNode(
        id_=note.source,
        text=note.text,
        metadata={"source": note.source, "tenant": note.tenant},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=note.source)},
    )


def index(settings: Settings, state: State) -> VectorStoreIndex:
    """Index the documents in memory, and locate in them what the policy is about."""
    nodes: list[BaseNode] = [_node(note) for note in notes(settings.documents)]
    binder = ConstraintBinder(policy=settings.policy, state=state)
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    vectors = ChromaVectorStore(client.get_or_create_collection("notes"))
    return VectorStoreIndex(
        list(binder(nodes)),
        storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=LocalEmbeddings(),
    )


def opened(settings: Settings) -> LlamaIndexAnswerer:
    """Open what answers."""
    state = open_state(settings.state)
    retriever = SelectiveDisclosureRetriever(
        base_retriever=index(settings, state).as_retriever(similarity_top_k=4),
        policy=settings.policy,
        state=state,
        options=Options(audit=count_decisions),
    )
    return LlamaIndexAnswerer(retriever, settings)


def create() -> FastAPI:
    """Make the service."""
    return create_app(opened)
