"""
The service on LangChain.

    uvicorn rag_service.on_langchain:create --factory
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import chromadb
from fastapi import FastAPI
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI

from langchain_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings
from rag_service.collection import PROMPT, notes
from rag_service.metrics import count_decisions
from rag_service.service import Found, create_app
from rag_service.settings import Settings
from sdrag import Options, State, open_state


class LangChainAnswerer:
    """A wrapped retriever and a chain."""

    def __init__(self, retriever: BaseRetriever, settings: Settings) -> None:
        self._retriever = retriever
        model = ChatOpenAI(
            base_url=settings.model_url,
            model=settings.model,
            api_key=settings.model_key,
            timeout=settings.seconds,
            max_retries=0,
        )
        prompt = ChatPromptTemplate.from_template(PROMPT)
        self._chain = prompt | model | StrOutputParser()

    async def retrieve(self, question: str) -> list[Found]:
        found = await self._retriever.ainvoke(question)
        return [
            Found(document.metadata["source"], document.page_content)
            for document in found
        ]

    def answer(self, question: str, passages: Sequence[Found]) -> AsyncIterator[str]:
        context = "\n".join(passage.text for passage in passages)
        return self._chain.astream({"passages": context, "question": question})


def store(settings: Settings, state: State) -> Chroma:
    """Index the documents in memory, and locate in them what the policy is about."""
    documents = [
        Document(note.text, metadata={"source": note.source, "tenant": note.tenant})
        for note in notes(settings.documents)
    ]
    binder = ConstraintBinder(policy=settings.policy, state=state)
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    filled = Chroma("notes", LocalEmbeddings(), client=client)
    filled.add_documents(binder.transform_documents(documents))
    return filled


def opened(settings: Settings) -> LangChainAnswerer:
    """Open what answers."""
    state = open_state(settings.state)
    retriever = SelectiveDisclosureRetriever(
        base_retriever=store(settings, state).as_retriever(search_kwargs={"k": 4}),
        policy=settings.policy,
        state=state,
        options=Options(audit=count_decisions),
    )
    return LangChainAnswerer(retriever, settings)


def create() -> FastAPI:
    """Make the service."""
    return create_app(opened)
