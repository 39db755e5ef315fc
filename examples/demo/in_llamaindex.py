"""The demo's application in LlamaIndex: Chroma on disk and a query engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from llama_index.core import PromptTemplate, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

from examples.demo.collection import Collection
from examples.demo.run import TEMPLATE, Advance, Ask, hijacked
from llamaindex_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from llamaindex_sdrag.local_embeddings import LocalEmbeddings
from sdrag import Options
from sdrag.privacy.audit import AuditSink
from sdrag.vocabulary import Passage

__all__ = ["applications"]


class VerbatimLLM(CustomLLM):
    """A model that gives away all it receives."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe a window wide enough for one prompt."""
        return LLMMetadata(context_window=100_000, num_output=1_000)

    @llm_completion_callback()
    def complete(self, prompt: str, **_: Any) -> CompletionResponse:
        """Answer with the context of the prompt."""
        return CompletionResponse(text=hijacked(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, **_: Any) -> Any:
        """Answer with the context of the prompt, at once."""
        yield CompletionResponse(text=hijacked(prompt), delta=hijacked(prompt))


def applications(
    collection: Collection,
    folder: Path,
    top_k: int,
    audit: AuditSink,
    bound: Advance,
) -> tuple[Ask, Ask]:
    """
    Build the application as it was, and with its retriever wrapped.

    Args:
        collection: What is indexed.
        folder: Where Chroma and the state are kept.
        top_k: How many chunks are retrieved.
        audit: Takes the wrapped application's audit events.
        bound: Called with how many chunks were bound, some at a time.
    """
    state = folder / "state.sqlite"
    binder = ConstraintBinder(policy=collection.policy, state=state)
    client = chromadb.PersistentClient(
        str(folder / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    articles = client.create_collection(
        "articles", configuration={"hnsw": {"space": "cosine"}}
    )
    index = VectorStoreIndex(
        _bound(binder, collection, bound),
        storage_context=StorageContext.from_defaults(
            vector_store=ChromaVectorStore(chroma_collection=articles)
        ),
        embed_model=LocalEmbeddings(),
    )
    plain = index.as_retriever(similarity_top_k=top_k)
    wrapped = SelectiveDisclosureRetriever(
        base_retriever=plain,
        policy=collection.policy,
        state=state,
        options=Options(audit=audit),
    )
    return _engine(plain), _engine(wrapped)


def _bound(
    binder: ConstraintBinder, collection: Collection, bound: Advance
) -> list[BaseNode]:
    """Bind document by document."""
    nodes: list[BaseNode] = []
    for passages in collection.documents():
        nodes += binder([_node(passage) for passage in passages])
        bound(len(passages))
    return nodes


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


def _engine(retriever: BaseRetriever) -> Ask:
    prompt = TEMPLATE.format(context="{context_str}", question="{query_str}")
    engine = RetrieverQueryEngine.from_args(
        retriever, llm=VerbatimLLM(), text_qa_template=PromptTemplate(prompt)
    )
    return lambda question: str(engine.query(question))
