"""What a host calls on its retriever is passed on; what retrieves never is."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever as LangChainBase
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexBase
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag

RAW = "The witness Anna Karlsson saw it."
POLICY = {"constraints": ["Remove the names of witnesses"]}


class Methods:
    """What a retriever of the host's may have besides the question."""

    def add_documents(self, documents, **kwargs):
        self.held.extend(documents)
        return [len(self.held), kwargs]

    async def aadd_documents(self, documents):
        return self.add_documents(documents)

    def delete(self, ids):
        del self.held[: len(ids)]

    def similarity_search(self, query):
        return [query, RAW]

    def get_relevant_documents(self, query):
        return self.similarity_search(query)

    def address_of(self, query):
        return self.similarity_search(query)


class LangChainHost(Methods, LangChainBase):
    held: list = []  # noqa: RUF012 -- a field, which pydantic copies
    search_type: str = "similarity"
    search_kwargs: dict = {"k": 4}  # noqa: RUF012 -- as above
    last_found: object = None
    kept: list = [Document(RAW)]  # noqa: RUF012 -- as above

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(RAW, id="1")]


class LlamaIndexHost(Methods, LlamaIndexBase):
    def __init__(self):
        super().__init__()
        self.held, self.kept = [], [TextNode(text=RAW)]
        self.search_type, self.search_kwargs = "similarity", {"k": 4}

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(text=RAW, id_="1"))]


def in_langchain():
    host = LangChainHost()
    return host, langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=host, policy=POLICY
    )


def in_llamaindex():
    host = LlamaIndexHost()
    return host, llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=host, policy=POLICY
    )


def in_langchain_with_filters():
    host = LangChainHost()
    base = langchain_sdrag.FilteredRetriever(host, lambda condition, _: condition)
    return host, langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=base, policy=POLICY
    )


def in_llamaindex_with_filters():
    host = LlamaIndexHost()
    base = llamaindex_sdrag.FilteredRetriever(host, lambda _: host)
    return host, llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=base, policy=POLICY
    )


FACES = pytest.mark.parametrize(
    "made",
    [
        in_langchain,
        in_llamaindex,
        in_langchain_with_filters,
        in_llamaindex_with_filters,
    ],
)


@FACES
def test_what_writes_is_passed_on(made):
    """With its arguments, its result and its errors, sync and async."""
    host, wrapper = made()

    assert wrapper.add_documents(["one"], ids=["1"]) == [1, {"ids": ["1"]}]
    assert asyncio.run(wrapper.aadd_documents(["two"])) == [2, {}]
    assert wrapper.delete(["1"]) is None
    assert host.held == ["two"]
    with pytest.raises(TypeError):
        wrapper.add_documents()


@FACES
def test_plain_settings_are_read(made):
    """Whoever looks how a retriever was set up sees it."""
    _, wrapper = made()

    assert wrapper.search_type == "similarity"
    assert wrapper.search_kwargs == {"k": 4}


@FACES
@pytest.mark.parametrize(
    "name",
    [
        "similarity_search",
        "get_relevant_documents",
        "address_of",
        "kept",
        "_private",
        "no_such_thing",
    ],
)
def test_what_could_retrieve_is_not_passed_on(made, name):
    """Nor what is no plain data; `hasattr` says no, as for what is not there."""
    _, wrapper = made()

    assert not hasattr(wrapper, name)
    with pytest.raises(AttributeError, match=name) as caught:
        getattr(wrapper, name)
    assert "Karlsson" not in str(caught.value)


@FACES
def test_a_method_that_is_passed_on_leads_to_no_retriever(made):
    """It is a function, and not bound to the object that can be asked."""
    _, wrapper = made()

    for name in ("add_documents", "aadd_documents"):
        method = getattr(wrapper, name)
        assert not hasattr(method, "__self__")
        assert not hasattr(method, "__wrapped__")
        assert method.__name__ == name


def test_an_unfinished_or_copied_wrapper_asks_no_further():
    """Attributes are asked for before there is a retriever to pass them on."""
    unfinished = object.__new__(llamaindex_sdrag.SelectiveDisclosureRetriever)
    assert not hasattr(unfinished, "search_type")

    _, wrapper = in_langchain()
    assert wrapper.model_copy(update={"k": 2}).search_type == "similarity"


def test_a_store_retriever_of_langchain_takes_documents():
    """As an indexing graph hands them over, and they are redacted when found."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    wrapper = langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(), policy=POLICY
    )

    asyncio.run(wrapper.aadd_documents([Document(RAW, id="1")]))

    assert [one.page_content for one in wrapper.invoke("who?")] == [
        "The witness [person] saw it."
    ]
    with pytest.raises(AttributeError, match="unredacted"):
        _ = wrapper.vectorstore


def test_an_index_retriever_of_llamaindex_shows_its_settings():
    """The number of nodes, and not the index that can be asked."""
    index = VectorStoreIndex([TextNode(text=RAW)], embed_model=MockEmbedding(8))
    wrapper = llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=index.as_retriever(similarity_top_k=7), policy=POLICY
    )

    assert wrapper.similarity_top_k == 7
    assert not hasattr(wrapper, "index")
