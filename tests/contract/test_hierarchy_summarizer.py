"""Summaries in both frameworks: made at ingest, held to layers by real stores."""

from __future__ import annotations

import asyncio
import pickle
import sys
import traceback
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

import llamaindex_sdrag
from sdrag.disclosure.hierarchy import LAYER_KEY, SOURCES_KEY, HierarchySettings
from sdrag.errors import MissingExtraError, ModelError, UsageError
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.frameworks import SYNC_AND_ASYNC, LangChain, LlamaIndex
from ..support.wrappers import build

SECRET = "Karlsson"
NEAREST = f"Remove the names of witnesses such as Anna {SECRET}."
TEXTS = [NEAREST, "A van stood there.", "It rained.", "The ferry left at nine."]
SUMMARY = f"At nine the van of Anna {SECRET} left in the rain."
QUESTION = "What left at nine?"
POLICY = {
    "constraints": [{"id": "names", "text": "Remove the names of witnesses"}],
    "disclosure": {
        "rank_by": "weighted_average",
        "bind_top_n": 1,
        "similarity_floor": 1.0,
    },
    "metadata": {"allow": [LAYER_KEY]},
}
LAYERS = [[0], [1, 2], [0, 1, 2]]
QUIET = ChromaSettings(anonymized_telemetry=False)


def summarize(prompt):
    """Tell each layer its own words, so that none is mistaken for another."""
    return f"In short: {SUMMARY}" if SUMMARY in prompt else SUMMARY


def paired(rows, *_, **__):
    """Clusters of neighbours: what belongs together is not what is tested here."""
    return [(n, n + 1) for n in range(0, len(rows) - 1, 2)]


class Host:
    """An application that summarizes its chunks at ingest, and stores them."""

    def chunks(self, texts=TEXTS):
        return [self.document(f"c{n}", text) for n, text in enumerate(texts)]

    def read(self, document):
        """Return id, text, layer and what it was made from."""
        identity, text, metadata = self.fields(document)
        return identity, text, metadata[LAYER_KEY], self.sources(document)

    def ask(self, wrapped, *, is_async=False):
        """Return layer and text of what is retrieved."""
        found = asyncio.run(self.asearch(wrapped)) if is_async else self.search(wrapped)
        return [self.read(document)[2:0:-1] for document in found]


class InLangChain(Host, LangChain):
    """Over LangChain, with Chroma."""

    def sources(self, document):
        return document.metadata.get(SOURCES_KEY, "").split()

    def index(self, documents):
        self.store = Chroma(
            f"host-{uuid4().hex}",
            embedding_function=self.embeddings,
            client=chromadb.EphemeralClient(settings=QUIET),
        )
        self.store.add_documents(documents)

    def retriever(self, layers):
        condition = {LAYER_KEY: {"$in": layers}}
        return self.store.as_retriever(search_kwargs={"k": 9, "filter": condition})

    def search(self, wrapped):
        return wrapped.invoke(QUESTION)

    async def asearch(self, wrapped):
        return await wrapped.ainvoke(QUESTION)


class InLlamaIndex(Host, LlamaIndex):
    """Over LlamaIndex, with Chroma."""

    def sources(self, node):
        return [child.node_id for child in node.child_nodes or []]

    def vector_store(self):
        client = chromadb.EphemeralClient(settings=QUIET)
        collection = client.create_collection(f"host-{uuid4().hex}")
        return ChromaVectorStore(chroma_collection=collection)

    def index(self, nodes):
        self.built = VectorStoreIndex(
            nodes,
            storage_context=StorageContext.from_defaults(
                vector_store=self.vector_store()
            ),
            embed_model=self.embeddings,
        )

    def retriever(self, layers):
        held = MetadataFilter(key=LAYER_KEY, value=layers, operator=FilterOperator.IN)
        return self.built.as_retriever(
            similarity_top_k=9, filters=MetadataFilters(filters=[held])
        )

    def search(self, wrapped):
        return [scored.node for scored in wrapped.retrieve(QUESTION)]

    async def asearch(self, wrapped):
        return [scored.node for scored in await wrapped.aretrieve(QUESTION)]


class InSimpleStore(InLlamaIndex):
    """The same, with LlamaIndex's own vector store."""

    def vector_store(self):
        return SimpleVectorStore()


FRAMEWORKS = pytest.mark.parametrize(
    "host", [InLangChain, InLlamaIndex], ids=["langchain", "llamaindex"]
)
STORES = pytest.mark.parametrize(
    "host",
    [InLangChain, InLlamaIndex, InSimpleStore],
    ids=["langchain-chroma", "llamaindex-chroma", "llamaindex-simple"],
)


def summarizer(host, sidecar, *, reply=summarize, **options):
    return build(
        host.package.HierarchySummarizer,
        policy=POLICY,
        state=sidecar,
        llm=host.model(reply),
        embeddings=host.embeddings,
        **options,
    )


def ingested(host, sidecar, **options):
    """Bind, then summarize."""
    binder = host.package.ConstraintBinder(
        policy=POLICY, state=sidecar, embeddings=host.embeddings
    )
    chunks = host.transform(binder, host.chunks())
    return host.transform(summarizer(host, sidecar, **options), chunks)


def wrapped(host, sidecar, layers):
    return host.package.SelectiveDisclosureRetriever(
        base_retriever=host.retriever(layers),
        policy=POLICY,
        state=sidecar,
        embeddings=host.embeddings,
    )


@pytest.fixture
def sidecar(tmp_path):
    return tmp_path / "bindings.sqlite"


@pytest.fixture
def _in_pairs(monkeypatch):
    monkeypatch.setattr("sdrag.disclosure.hierarchy.fitting_clusters", paired)


@FRAMEWORKS
@SYNC_AND_ASYNC
@pytest.mark.usefixtures("_in_pairs")
def test_chunks_come_back_with_their_summaries(host, is_async, sidecar):
    """Each names its layer, and a summary what it was made from."""
    host = host()
    chunks = host.chunks()

    returned = host.transform(summarizer(host, sidecar), chunks, is_async=is_async)
    read = [host.read(one) for one in returned]
    ids = [identity for identity, *_ in read]

    assert [(text, layer) for _, text, layer, _ in read] == [
        *((text, 0) for text in TEXTS),
        (SUMMARY, 1),
        (SUMMARY, 1),
        (f"In short: {SUMMARY}", 2),
    ]
    assert ids[:4] == ["c0", "c1", "c2", "c3"]
    assert [sources for *_, sources in read[4:]] == [
        ["c0", "c1"],
        ["c2", "c3"],
        ids[4:6],
    ]
    assert all(LAYER_KEY not in chunk.metadata for chunk in chunks)


@FRAMEWORKS
def test_depth_is_counted_with_the_chunks(host, sidecar):
    """A tree of depth one is its leaves."""
    host = host()

    (*_, top) = host.transform(
        summarizer(host, sidecar, settings=HierarchySettings(depth=2)), host.chunks()
    )
    alone = host.transform(
        summarizer(host, sidecar, settings=HierarchySettings(depth=1)), host.chunks()
    )

    assert host.read(top)[2] == 1
    assert len(alone) == len(TEXTS)


@STORES
@SYNC_AND_ASYNC
@pytest.mark.parametrize("layers", LAYERS, ids=str)
@pytest.mark.usefixtures("_in_pairs")
def test_retrieval_is_held_to_layers(host, layers, is_async, sidecar):
    """By the store's own filter, inside the wrapped retriever (Table II)."""
    host = host()
    host.index(ingested(host, sidecar))
    retriever = wrapped(host, sidecar, layers)

    found = host.ask(retriever, is_async=is_async)

    found_in = [layer for layer, _ in found]
    assert set(found_in) == set(layers)
    # Older LlamaIndex returns one node of two that say the same, as both summaries do.
    most = {0: [4], 1: [1, 2], 2: [1]}
    assert all(found_in.count(layer) in most[layer] for layer in layers)


def test_a_call_is_held_to_layers(sidecar):
    """In Chroma, LangChain's retriever takes a filter for one call."""
    host = InLangChain()
    host.index(ingested(host, sidecar))
    retriever = wrapped(host, sidecar, [0, 1])

    found = retriever.invoke(QUESTION, filter={LAYER_KEY: 1})

    assert {one.metadata[LAYER_KEY] for one in found} == {1}


@STORES
@pytest.mark.usefixtures("_in_pairs")
def test_a_summary_is_redacted_under_every_constraint(host, sidecar):
    """The constraint's one place went to a chunk; a summary is not bound to any."""
    host, state = host(), open_state(sidecar)
    chunks = ingested(host, sidecar)
    identity, text, *_ = host.read(chunks[-1])
    host.index(chunks)

    ((_, redacted),) = host.ask(wrapped(host, sidecar, [2]))
    rules = Policy.read(POLICY).rules

    bound = state.bindings.all(rules)
    assert [binding.passage_id for binding in bound] == ["c0"]
    assert state.bindings.read([Passage(identity, text)], rules) == [None]
    assert SECRET not in redacted
    assert "left in the rain" in redacted


@FRAMEWORKS
def test_order_of_binder_and_summarizer_does_not_matter(host, sidecar):
    """A summary that comes by the binder stays unbound: every constraint may hold."""
    host = host()
    rules = Policy.read(POLICY).rules
    returned = host.transform(summarizer(host, sidecar), host.chunks())
    identity, text, *_ = host.read(returned[-1])
    binder = host.package.ConstraintBinder(
        policy=POLICY, state=sidecar, embeddings=host.embeddings
    )

    host.transform(binder, returned)

    store, passage = open_state(sidecar).bindings, Passage(identity, text)
    assert store.read([passage], rules) == [None]


@FRAMEWORKS
@SYNC_AND_ASYNC
@pytest.mark.usefixtures("_in_pairs")
def test_a_summary_that_fails_is_told(host, is_async, sidecar):
    """The audit names it, and quotes nothing; its chunks stay."""

    def reply(prompt):
        if SECRET in prompt:
            raise ValueError(prompt)
        return "It rained."

    host, events = host(), []

    component = summarizer(host, sidecar, reply=reply, audit=events.append)
    returned = host.transform(component, host.chunks(), is_async=is_async)

    (event,) = events
    (decision,) = event.decisions
    assert [host.read(one)[2] for one in returned] == [0, 0, 0, 0, 1]
    assert (event.stage, decision.action, decision.reason) == (
        "summarize",
        "dropped",
        "model-failed",
    )
    assert SECRET not in str(event)


@FRAMEWORKS
@SYNC_AND_ASYNC
def test_a_model_that_is_down_is_an_error(host, is_async, sidecar):
    """It drags no text along."""

    def fail(prompt):
        raise ValueError(prompt)

    host = host()

    with pytest.raises(ModelError) as caught:
        host.transform(
            summarizer(host, sidecar, reply=fail), host.chunks(), is_async=is_async
        )

    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is caught.value.__cause__ is None


@FRAMEWORKS
def test_a_bar_is_shown_on_request(host, sidecar, capsys):
    """It counts, and says nothing else."""
    host = host()

    host.transform(summarizer(host, sidecar, show_progress=True), host.chunks())
    shown = capsys.readouterr().err
    host.transform(summarizer(host, sidecar), host.chunks())

    assert "Summarizing" in shown
    assert "2/2" in shown
    assert SECRET not in shown
    assert capsys.readouterr().err == ""


@FRAMEWORKS
@SYNC_AND_ASYNC
def test_a_missing_extra_is_one_clear_error(host, is_async, sidecar, monkeypatch):
    """It names the command that mends it; no summary is asked for."""
    monkeypatch.setitem(sys.modules, "umap", None)
    host, asked = host(), []
    component = summarizer(host, sidecar, reply=asked.append)

    with pytest.raises(MissingExtraError, match=r"sdrag\[hierarchy\]"):
        host.transform(component, host.chunks([*TEXTS, "A fifth."]), is_async=is_async)
    assert asked == []


@FRAMEWORKS
def test_settings_are_checked(host, sidecar):
    """Before anything is read; and a summarizer is not pickled."""
    host = host()

    with pytest.raises(UsageError):
        summarizer(host, sidecar, settings=HierarchySettings(depth=0))
    with pytest.raises(UsageError):
        pickle.dumps(summarizer(host, sidecar))


@pytest.mark.slow
@FRAMEWORKS
@SYNC_AND_ASYNC
def test_real_clusters_of_real_vectors(host, is_async, sidecar):
    """With UMAP, the mixture and MiniLM, every chunk is summarized."""
    pytest.importorskip("umap")
    host = host()
    places = ["harbour", "market", "school", "clinic"]
    texts = [f"Fact {n} about the {place}." for place in places for n in range(4)]
    component = host.package.HierarchySummarizer(
        policy=POLICY, state=sidecar, llm=host.model(lambda prompt: prompt[-200:])
    )

    read = [
        host.read(one)
        for one in host.transform(component, host.chunks(texts), is_async=is_async)
    ]
    summarized = {one for *_, layer, ids in read if layer == 1 for one in ids}

    assert summarized == {identity for identity, _, layer, _ in read if layer == 0}
    assert len({ids[0] for *_, layer, ids in read if layer == 1}) > 1


class TestLlamaIndex:
    """Nodes, pipelines and their cache."""

    host = InLlamaIndex()

    def test_a_summary_belongs_to_its_document(self, sidecar):
        """So it goes when the document does; and it holds ids of others, no more."""
        *_, summary = ingested(self.host, sidecar)

        assert summary.ref_doc_id == "log.txt"
        assert not any(child.metadata for child in summary.child_nodes)

    def test_the_mark_is_in_no_vector_and_no_prompt(self, sidecar):
        """A chunk reads as before, for the embedding model and for the other."""
        chunks = self.host.chunks()
        chunks[1].metadata["file"] = "log.txt"
        chunks[1].excluded_embed_metadata_keys = ["file"]

        marked = self.host.transform(summarizer(self.host, sidecar), chunks)

        for mode in (MetadataMode.EMBED, MetadataMode.LLM):
            before = [chunk.get_content(mode) for chunk in chunks]
            assert [one.get_content(mode) for one in marked[:4]] == before
            assert marked[4].get_content(mode) == SUMMARY

    def test_relationships_outlive_the_store(self, sidecar):
        """A host that walks the tree finds it in what its own retriever returns."""
        host = InLlamaIndex()
        host.index(ingested(host, sidecar))

        (found,) = host.retriever([1]).retrieve(QUESTION)

        assert [one.node_id for one in found.node.child_nodes] == [
            "c0",
            "c1",
            "c2",
            "c3",
        ]

    @pytest.mark.parametrize(
        "changed",
        [
            {"depth": 2},
            {"dimensions": 5},
            {"threshold": 0.2},
            {"characters": 900},
        ],
        ids=str,
    )
    def test_settings_are_part_of_the_hash(self, changed, sidecar):
        """The pipeline's cache never answers for other settings."""
        nodes = self.host.chunks()
        one, same, other = (
            get_transformation_hash(
                nodes,
                summarizer(self.host, sidecar, settings=HierarchySettings(**options)),
            )
            for options in ({}, {}, changed)
        )

        assert one == same != other

    def test_a_pipeline_runs_it_once(self, sidecar):
        """A second run finds the summaries in the cache."""
        model = self.host.model(summarize)
        component = llamaindex_sdrag.HierarchySummarizer(
            policy=POLICY,
            state=sidecar,
            llm=model,
            embeddings=self.host.embeddings,
        )
        splitter = SentenceSplitter(chunk_size=24, chunk_overlap=0)
        pipeline = IngestionPipeline(
            transformations=[splitter, component, self.host.embeddings]
        )
        document = LlamaIndexDocument(id_="log", text=" ".join(TEXTS))

        first = pipeline.run(documents=[document])
        asked = len(model._prompts)
        second = pipeline.run(documents=[document])

        assert [one.metadata[LAYER_KEY] for one in first][-1] >= 1
        assert {one.ref_doc_id for one in first} == {"log"}
        assert all(one.embedding for one in first)
        assert asked > 0
        assert len(model._prompts) == asked
        assert len(second) == len(first)
