"""The demo's application in LangChain: Chroma on disk and an LCEL chain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from examples.demo.collection import Collection
from examples.demo.run import TEMPLATE, Advance, Ask, hijacked
from langchain_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Options
from sdrag.privacy.audit import AuditSink
from sdrag.vocabulary import Passage

__all__ = ["applications"]


class VerbatimChatModel(SimpleChatModel):
    """A chat model that gives away all it receives."""

    @property
    def _llm_type(self) -> str:
        return "hijacked"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        return hijacked("\n".join(str(message.text) for message in messages))


def applications(
    collection: Collection,
    folder: Path,
    top_k: int,
    audit: AuditSink,
    bound: Advance,
    llm: BaseChatModel | None,
) -> tuple[Ask, Ask]:
    """
    Build the application as it was, and with its retriever wrapped.

    Args:
        collection: What is indexed.
        folder: Where Chroma and the state are kept.
        top_k: How many chunks are retrieved.
        audit: Takes the wrapped application's audit events.
        bound: Called with how many chunks were bound, some at a time.
        llm: Answers and redacts; without one, the hijacked model answers and the
            local engine redacts.
    """
    state = folder / "state.sqlite"
    binder = ConstraintBinder(policy=collection.policy, state=state)
    store = Chroma(
        "articles",
        LocalEmbeddings(),
        persist_directory=str(folder / "chroma"),
        client_settings=Settings(anonymized_telemetry=False, is_persistent=True),
        collection_metadata={"hnsw:space": "cosine"},
    )
    for passages in collection.documents():
        store.add_documents(list(binder.transform_documents(_documents(passages))))
        bound(len(passages))
    plain = store.as_retriever(search_kwargs={"k": top_k})
    wrapped = SelectiveDisclosureRetriever(
        base_retriever=plain,
        policy=collection.policy,
        llm=llm,
        state=state,
        options=Options(audit=audit),
    )
    model = llm or VerbatimChatModel()
    return _chain(plain, model), _chain(wrapped, model)


def _documents(passages: Sequence[Passage]) -> list[Document]:
    return [
        Document(
            passage.text,
            metadata={**passage.metadata, "source": passage.document_id},
            id=passage.id,
        )
        for passage in passages
    ]


def _chain(retriever: BaseRetriever, model: BaseChatModel) -> Ask:
    chain = (
        {"context": retriever | _join, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template(TEMPLATE)
        | model
        | StrOutputParser()
    )
    return chain.invoke


def _join(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)
