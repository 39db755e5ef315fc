"""The demo's application in each framework: Chroma on disk, a prompt and a model."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from llama_index.core import PromptTemplate, StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_sdrag
import llamaindex_sdrag
from examples.demo.collection import Collection
from langchain_sdrag.local_embeddings import LocalEmbeddings as LangChainEmbeddings
from llamaindex_sdrag.local_embeddings import LocalEmbeddings as LlamaIndexEmbeddings
from sdrag.vocabulary import Passage

Ask = Callable[[str], str]
"""An application: a question to an answer."""

_PROMPT = "<context>\n{context_str}\n</context>\n\nQuestion: {query_str}"
_CONTEXT = re.compile(r"<context>\n(.*)\n</context>", re.DOTALL)


def _answer_as_hijacked(prompt: str) -> str:
    """Give away all the context, as a model that an attacker has taken over."""
    context = _CONTEXT.search(prompt)
    return context[1] if context else prompt


def build_langchain(
    collection: Collection, folder: Path, top_k: int, advance: Callable[[int], None]
) -> tuple[Ask, Ask]:
    """
    Build the application as it was, and with its retriever wrapped.

    Args:
        collection: What is indexed.
        folder: Where Chroma and the state are kept.
        top_k: How many chunks are retrieved.
        advance: Called with how many chunks were bound.
    """
    state = folder / "langchain.sqlite"
    binder = langchain_sdrag.ConstraintBinder(policy=collection.policy, state=state)
    store = Chroma(
        "articles",
        LangChainEmbeddings(),
        persist_directory=str(folder / "langchain"),
        client_settings=Settings(anonymized_telemetry=False, is_persistent=True),
        collection_metadata={"hnsw:space": "cosine"},
    )
    for passages in collection.documents:
        documents = [
            Document(
                passage.text,
                metadata={**passage.metadata, "source": passage.document_id},
                id=passage.id,
            )
            for passage in passages
        ]
        store.add_documents(list(binder.transform_documents(documents)))
        advance(len(passages))
    plain = store.as_retriever(search_kwargs={"k": top_k})
    wrapped = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=plain, policy=collection.policy, state=state
    )
    return _chain(plain), _chain(wrapped)


def _chain(retriever: BaseRetriever) -> Ask:
    def join(documents: list[Document]) -> str:
        return "\n".join(document.page_content for document in documents)

    def answer(prompt: Any) -> str:
        return _answer_as_hijacked(prompt.to_string())

    context = {"context_str": retriever | join, "query_str": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template(_PROMPT)
    return (context | prompt | RunnableLambda(answer)).invoke


def build_llamaindex(
    collection: Collection, folder: Path, top_k: int, advance: Callable[[int], None]
) -> tuple[Ask, Ask]:
    """Build the same application; the arguments are those of `build_langchain`."""
    state = folder / "llamaindex.sqlite"
    binder = llamaindex_sdrag.ConstraintBinder(policy=collection.policy, state=state)
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "llamaindex"), settings=settings)
    articles = client.create_collection(
        "articles", configuration={"hnsw": {"space": "cosine"}}
    )
    vectors = ChromaVectorStore(chroma_collection=articles)
    nodes: list[Any] = []
    for passages in collection.documents:
        nodes += binder([_node(passage) for passage in passages])
        advance(len(passages))
    index = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=LlamaIndexEmbeddings(),
    )
    plain = index.as_retriever(similarity_top_k=top_k)
    wrapped = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=plain, policy=collection.policy, state=state
    )
    return _engine(plain), _engine(wrapped)


def _node(passage: Passage) -> TextNode:
    source = RelatedNodeInfo(node_id=passage.document_id or passage.id)
    return TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=dict(passage.metadata),
        excluded_embed_metadata_keys=["case"],
        excluded_llm_metadata_keys=["case"],
        relationships={NodeRelationship.SOURCE: source},
    )


def _engine(retriever: Any) -> Ask:
    engine = RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), text_qa_template=PromptTemplate(_PROMPT)
    )
    return lambda question: _answer_as_hijacked(str(engine.query(question)))
