"""Constraints come and go through both adapters, while a real store stands."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.testing import toy_vectors
from sdrag.vocabulary import Passage

QUIET = ChromaSettings(anonymized_telemetry=False)
NAMES = {"id": "names", "text": "Remove names of witnesses"}
PHONES = {"id": "phones", "text": "Suppress private telephone numbers"}
LIMITS = {"bind_top_n": 20, "similarity_floor": 1.0}
OLD = {"constraints": [NAMES], "disclosure": LIMITS}
NEW = {"constraints": [NAMES, PHONES], "disclosure": LIMITS}
SECRET = "555-0142"
QUESTION = "Private telephone numbers: call now."


def texts(count):
    remarks = [f"Remark number {n} about the harbour." for n in range(count - 1)]
    return [*remarks, f"Private telephone numbers: call {SECRET} now."]


class Words(Embeddings):
    """Counts the texts that are embedded, and the questions."""

    def __init__(self):
        self.texts = self.questions = 0

    def embed_documents(self, texts):
        self.texts += len(texts)
        return toy_vectors(texts)

    def embed_query(self, text):
        self.questions += 1
        return toy_vectors([text])[0]


class WordsToo(BaseEmbedding):
    """The same for LlamaIndex."""

    _words: Words = PrivateAttr(default_factory=Words)

    def _get_text_embedding(self, text):
        return self._words.embed_documents([text])[0]

    def _get_query_embedding(self, query):
        return self._words.embed_query(query)

    async def _aget_query_embedding(self, query):
        return self._get_query_embedding(query)


class Host:
    """An index in Chroma, bound under the old policy."""

    def __init__(self, sidecar, count, monkeypatch):
        self.sidecar = sidecar
        self.texts = texts(count)
        self.client = chromadb.EphemeralClient(settings=QUIET)
        self.name = f"host-{uuid4().hex}"
        self.build()
        self.queries = []
        collection = self.collection()
        query = collection.query
        monkeypatch.setattr(
            type(collection),
            "query",
            lambda _, *args, **named: self.queries.append(1) or query(*args, **named),
        )

    def known(self, policy):
        """How many chunks were compared with every constraint of a policy."""
        passages = [Passage(f"c{n}", text) for n, text in enumerate(self.texts)]
        bindings = open_state(self.sidecar).bindings
        found = bindings.read(passages, Policy.read(policy).rules)
        return sum(one is not None for one in found)


class LangChainHost(Host):
    package = langchain_sdrag

    def build(self):
        self.words = Words()
        self.store = Chroma(
            self.name, embedding_function=self.words, client=self.client
        )
        documents = [
            Document(id=f"c{n}", page_content=text) for n, text in enumerate(self.texts)
        ]
        self.binder(OLD).transform_documents(documents)
        self.store.add_documents(documents)
        self.retriever = self.store.as_retriever()

    def collection(self):
        return self.store._collection

    def binder(self, policy):
        return langchain_sdrag.ConstraintBinder(
            policy=policy, state=self.sidecar, embeddings=self.words
        )

    def ask(self, policy, question):
        wrapped = langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=self.retriever,
            policy=policy,
            state=self.sidecar,
            embeddings=self.words,
        )
        return "\n".join(document.page_content for document in wrapped.invoke(question))


class LlamaIndexHost(Host):
    package = llamaindex_sdrag

    def build(self):
        self.model = WordsToo()
        self.words = self.model._words
        self.store = ChromaVectorStore(
            chroma_collection=self.client.create_collection(self.name)
        )
        nodes = [TextNode(id_=f"c{n}", text=text) for n, text in enumerate(self.texts)]
        self.binder(OLD)(nodes)
        for node, vector in zip(nodes, toy_vectors(self.texts), strict=True):
            node.embedding = vector
        self.store.add(nodes)
        index = VectorStoreIndex.from_vector_store(self.store, embed_model=self.model)
        self.retriever = index.as_retriever()

    def collection(self):
        return self.store._collection

    def binder(self, policy):
        return llamaindex_sdrag.ConstraintBinder(
            policy=policy, state=self.sidecar, embeddings=self.model
        )

    def ask(self, policy, question):
        wrapped = llamaindex_sdrag.SelectiveDisclosureRetriever(
            base_retriever=self.retriever,
            policy=policy,
            state=self.sidecar,
            embeddings=self.model,
        )
        found = wrapped.retrieve(question)
        return "\n".join(node.get_content() for node in found)


@pytest.fixture(params=[LangChainHost, LlamaIndexHost], ids=["langchain", "llamaindex"])
def host_of(request, tmp_path, monkeypatch):
    return lambda count: request.param(tmp_path / "sidecar", count, monkeypatch)


def test_adding_takes_one_query(host_of):
    """However many chunks there are; and no chunk is embedded again."""
    host = host_of(200)
    assert host.known(OLD) == 200
    assert host.known(NEW) == 0
    embedded, asked = host.words.texts, host.words.questions

    count = host.binder(NEW).bind_constraint("phones", host.retriever)

    assert count == LIMITS["bind_top_n"]
    assert host.queries == [1]
    assert host.words.texts == embedded
    assert host.words.questions == asked + 1
    assert host.known(NEW) == 200


def test_added_then_removed(host_of):
    """It holds from the next question on; once removed, it does not."""
    host = host_of(40)
    assert SECRET in host.ask(OLD, QUESTION)

    asyncio.run(host.binder(NEW).abind_constraint("phones", host.retriever))

    assert SECRET not in host.ask(NEW, QUESTION)
    asyncio.run(host.binder(NEW).aforget_constraint("phones"))
    assert SECRET in host.ask(OLD, QUESTION)
    assert host.known(NEW) == 0


def test_unknown_constraint(host_of):
    """An id that the policy does not have is the developer's fault."""
    host = host_of(2)
    binder = host.binder(OLD)

    with pytest.raises(UsageError):
        binder.bind_constraint("phones", host.retriever)
    with pytest.raises(UsageError):
        binder.forget_constraint("phones")
    assert host.queries == []
