"""A question is embedded once a request, whatever the policy asks of its vector."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode
from pydantic import PrivateAttr

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Principal, acting_as

from ..support.doubles import LangChainToyEmbeddings, LlamaIndexToyEmbedding

TEXTS = [f"Report {n} of the harbour" for n in range(12)]
MEASURED = {"relevance": {"scores": "measured", "min_score": 0.0}}
RANKED = {"disclosure": {"top_k": 1, "rank_by": "query"}}
ACCESS = {"access": {"required": []}}
POLICIES = {
    "constraints alone": {},
    "relevance": MEASURED,
    "ranking": RANKED,
    "relevance and ranking": MEASURED | RANKED,
    "searching for more": ACCESS,
    "all of them": MEASURED | RANKED | ACCESS,
}
MODES = ("sync", "async")
SOMEBODY = Principal("u", tenant="a", roles=frozenset({"clerk"}))


class LangChainCounting(LangChainToyEmbeddings):
    """Counts the questions that were embedded."""

    questions = 0

    def embed_query(self, text: str) -> list[float]:
        self.questions += 1
        return super().embed_query(text)


class LlamaIndexCounting(LlamaIndexToyEmbedding):
    """Counts likewise, over all its copies."""

    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def questions(self) -> int:
        return len(self._asked)

    def _get_query_embedding(self, query: str) -> list[float]:
        self._asked.append(query)
        return super()._get_query_embedding(query)


def settings(sections: dict[str, Any]) -> dict[str, Any]:
    return {"constraints": ["Remove names of people", "Hide dates"], **sections}


def tags(n: int) -> dict[str, str]:
    """Let the principal see every third text, so that more have to be fetched."""
    return {"tenant": "a", "roles": "clerk" if n % 3 == 0 else "captain"}


def documents() -> list[Document]:
    return [
        Document(id=f"d{n}", page_content=text, metadata=tags(n))
        for n, text in enumerate(TEXTS)
    ]


def nodes() -> list[TextNode]:
    return [
        TextNode(id_=f"d{n}", text=text, metadata=tags(n))
        for n, text in enumerate(TEXTS)
    ]


def in_memory(embeddings: Any, folder: Any) -> Any:
    store = InMemoryVectorStore(embeddings)
    store.add_documents(documents())
    return store


def chroma(embeddings: Any, folder: Any) -> Any:
    module = pytest.importorskip("langchain_chroma")
    store = module.Chroma("chunks", embeddings, str(folder))
    store.add_documents(documents())
    return store


def simple_index(embeddings: Any, folder: Any) -> Any:
    return VectorStoreIndex(nodes(), embed_model=embeddings)


def chroma_index(embeddings: Any, folder: Any) -> Any:
    chromadb = pytest.importorskip("chromadb")
    module = pytest.importorskip("llama_index.vector_stores.chroma")
    client = chromadb.PersistentClient(str(folder))
    store = module.ChromaVectorStore(client.create_collection("chunks"))
    context = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex(nodes(), storage_context=context, embed_model=embeddings)


def ask_langchain(
    store: Any, mode: str, search: dict[str, Any], **options: Any
) -> list[str]:
    retriever = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(**search), k=3, **options
    )
    if mode == "sync":
        return [str(found.id) for found in retriever.invoke("the harbour")]
    return [str(found.id) for found in asyncio.run(retriever.ainvoke("the harbour"))]


def ask_llamaindex(index: Any, mode: str, **options: Any) -> list[str]:
    retriever = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(), k=3, **options
    )
    if mode == "sync":
        return [found.node.node_id for found in retriever.retrieve("the harbour")]
    return [n.node.node_id for n in asyncio.run(retriever.aretrieve("the harbour"))]


every_policy = pytest.mark.parametrize(
    "sections", POLICIES.values(), ids=POLICIES.keys()
)
every_store = pytest.mark.parametrize("store", [in_memory, chroma])
every_search = pytest.mark.parametrize("search_type", ["similarity", "mmr"])
both_modes = pytest.mark.parametrize("mode", MODES)


@both_modes
@every_search
@every_store
@every_policy
def test_langchain_embeds_it_once(sections, store, search_type, mode, tmp_path):
    embeddings = LangChainCounting()
    host = store(embeddings, tmp_path)
    search = {"search_type": search_type}
    options = {"policy": settings(sections), "embeddings": embeddings}

    with acting_as(SOMEBODY):
        found = ask_langchain(host, mode, search, **options)

    assert embeddings.questions == 1
    assert len(found) == 3


@both_modes
@pytest.mark.parametrize("index", [simple_index, chroma_index])
@every_policy
def test_llamaindex_embeds_it_once(sections, index, mode, tmp_path):
    embeddings = LlamaIndexCounting()
    host = index(embeddings, tmp_path)
    options = {"policy": settings(sections), "embeddings": embeddings}

    with acting_as(SOMEBODY):
        found = ask_llamaindex(host, mode, **options)

    assert embeddings.questions == 1
    assert len(found) == 3


@both_modes
def test_each_of_two_models_embeds_it_once(mode, tmp_path):
    """A vector of the store's model says nothing in the policy's."""
    policy = settings(POLICIES["all of them"])
    theirs, ours = LangChainCounting(), LangChainCounting()
    with acting_as(SOMEBODY):
        store = in_memory(theirs, tmp_path)
        ask_langchain(store, mode, {}, policy=policy, embeddings=ours)
    assert (theirs.questions, ours.questions) == (1, 1)

    theirs, ours = LlamaIndexCounting(), LlamaIndexCounting()
    with acting_as(SOMEBODY):
        index = simple_index(theirs, tmp_path)
        ask_llamaindex(index, mode, policy=policy, embeddings=ours)
    assert (theirs.questions, ours.questions) == (1, 1)


@every_search
@every_store
def test_asked_by_vector_a_store_finds_the_same(store, search_type, tmp_path):
    """The host's own filter and settings hold as they do for a question in words."""
    embeddings = LangChainToyEmbeddings()
    host = store(embeddings, tmp_path)
    captains: Any = {"roles": "captain"}
    if store is in_memory:
        captains = lambda found: found.metadata["roles"] == "captain"  # noqa: E731 -- the store's filter language
    search = {"search_type": search_type, "search_kwargs": {"filter": captains}}

    by_text, by_vector = (
        ask_langchain(
            host, "sync", search, policy=settings(sections), embeddings=embeddings
        )
        for sections in ({}, MEASURED)
    )

    assert by_vector == by_text
    assert len(by_text) == 3


class Narrowing(InMemoryVectorStore):
    """A host's class that narrows one of its methods."""

    def similarity_search(self, query: str, *args: Any, **kwargs: Any) -> Any:
        return super().similarity_search(query, *args, **kwargs)[:1]


def test_a_hosts_own_class_is_asked_as_it_was_written():
    """By vector, what it leaves out of its search by text would come back."""
    embeddings = LangChainToyEmbeddings()
    store = Narrowing(embeddings)
    store.add_documents(documents())

    found = ask_langchain(
        store, "sync", {}, policy=settings(MEASURED), embeddings=embeddings
    )

    assert len(found) == 1
