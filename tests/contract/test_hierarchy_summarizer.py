"""Summaries in both frameworks: made at ingest, redacted when they are retrieved."""

from __future__ import annotations

import sys
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings as ChromaSettings
from langchain_chroma import Chroma
from llama_index.core.ingestion.pipeline import get_transformation_hash
from llama_index.core.schema import MetadataMode

from sdrag.disclosure.hierarchy import LAYER_KEY, SOURCES_KEY, HierarchySettings
from sdrag.errors import MissingExtraError, UsageError

from ..support.frameworks import BOTH, SYNC_AND_ASYNC, LangChain, LlamaIndex

SECRET = "Karlsson"
NEAREST = f"Remove the names of witnesses such as Anna {SECRET}."
TEXTS = [NEAREST, "A van stood there.", "It rained.", "The ferry left at nine."]
SUMMARY = f"At nine the van of Anna {SECRET} left in the rain."
POLICY = {
    "constraints": [{"id": "names", "text": "Remove the names of witnesses"}],
    "disclosure": {
        "rank_by": "weighted_average",
        "bind_top_n": 1,
        "similarity_floor": 1.0,
    },
    "metadata": {"allow": [LAYER_KEY]},
}


def summarize(prompt):
    """Tell each layer its own words, so that none is mistaken for another."""
    return f"In short: {SUMMARY}" if SUMMARY in prompt else SUMMARY


def paired(rows, *_, **__):
    """Clusters of neighbours: what belongs together is not what is tested here."""
    return [(n, n + 1) for n in range(0, len(rows) - 1, 2)]


@pytest.fixture(autouse=True)
def _in_pairs(request, monkeypatch):
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setattr("sdrag.disclosure.hierarchy.cluster_to_fit", paired)


@pytest.fixture
def state(tmp_path):
    return tmp_path / "bindings.sqlite"


def summarizer(framework, state, reply=summarize, **options):
    return framework.package.HierarchySummarizer(
        POLICY,
        state,
        framework.model(reply),
        **{"embeddings": framework.embeddings} | options,
    )


def chunks(framework, texts=TEXTS):
    return [framework.document(f"c{n}", text) for n, text in enumerate(texts)]


def ingested(framework, state):
    """Bind, then summarize."""
    binder = framework.package.ConstraintBinder(
        POLICY, state, embeddings=framework.embeddings
    )
    bound = framework.transform(binder, chunks(framework))
    return framework.transform(summarizer(framework, state), bound)


def layers(framework, documents):
    return [framework.fields(document)[2][LAYER_KEY] for document in documents]


def sources(document):
    """Return the ids that a document was made from, in either framework."""
    if hasattr(document, "child_nodes"):
        return [child.node_id for child in document.child_nodes or []]
    return document.metadata.get(SOURCES_KEY, "").split()


@BOTH
@SYNC_AND_ASYNC
def test_chunks_come_back_with_their_summaries(framework, is_async, state):
    """Each names its layer, and a summary what it was made from."""
    given = chunks(framework)

    made = framework.transform(summarizer(framework, state), given, is_async=is_async)

    texts = [framework.fields(document)[1] for document in made]
    ids = [framework.fields(document)[0] for document in made]
    assert texts == [*TEXTS, SUMMARY, SUMMARY, f"In short: {SUMMARY}"]
    assert layers(framework, made) == [0, 0, 0, 0, 1, 1, 2]
    assert [sources(document) for document in made[4:]] == [
        ["c0", "c1"],
        ["c2", "c3"],
        ids[4:6],
    ]
    assert ids[:4] == ["c0", "c1", "c2", "c3"]
    assert all(LAYER_KEY not in framework.fields(chunk)[2] for chunk in given)


@BOTH
def test_depth_is_counted_with_the_chunks(framework, state):
    """A tree of depth one is its leaves; there is none of depth zero."""
    for depth, expected in ((2, [0, 0, 0, 0, 1, 1]), (1, [0, 0, 0, 0])):
        component = summarizer(
            framework, state, settings=HierarchySettings(depth=depth)
        )
        made = framework.transform(component, chunks(framework))
        assert layers(framework, made) == expected
    with pytest.raises(UsageError):
        HierarchySettings(depth=0)


@BOTH
def test_a_summary_is_redacted_when_it_is_retrieved(framework, state):
    """The constraint's one place went to a chunk; a summary is bound to none."""
    *_, summary = ingested(framework, state)

    (text,) = framework.release(
        [summary], policy=POLICY, state=state, embeddings=framework.embeddings
    )

    assert SECRET not in text
    assert "left in the rain" in text


def test_a_store_holds_a_retrieval_to_layers(state):
    """By its own filter, inside the wrapped retriever (Table II)."""
    framework = LangChain()
    store = Chroma(
        f"layers-{uuid4().hex}",
        embedding_function=framework.embeddings,
        client=chromadb.EphemeralClient(
            settings=ChromaSettings(anonymized_telemetry=False)
        ),
    )
    store.add_documents(ingested(framework, state))
    held = {"k": 9, "filter": {LAYER_KEY: {"$in": [1, 2]}}}
    retriever = framework.package.SelectiveDisclosureRetriever(
        store.as_retriever(search_kwargs=held), POLICY, state=state
    )

    assert sorted(layers(framework, retriever.invoke("What left?"))) == [1, 1, 2]


def test_a_missing_extra_is_one_clear_error(state, monkeypatch):
    """It names the command that mends it; no summary is asked for."""
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "umap", None)
    framework, asked = LangChain(), []
    component = summarizer(framework, state, asked.append)

    with pytest.raises(MissingExtraError, match=r"sdrag\[hierarchy\]"):
        framework.transform(component, chunks(framework, [*TEXTS, "A fifth."]))
    assert asked == []


@pytest.mark.slow
def test_real_clusters_of_real_vectors(state):
    """With UMAP, the mixture and MiniLM, every chunk is summarized."""
    pytest.importorskip("umap")
    framework = LlamaIndex()
    places = ["harbour", "market", "school", "clinic"]
    texts = [f"Fact {n} about the {place}." for place in places for n in range(4)]
    component = summarizer(framework, state, lambda p: p[-200:], embeddings=None)

    made = framework.transform(component, chunks(framework, texts))

    first = [d for d in made if framework.fields(d)[2][LAYER_KEY] == 1]
    assert {each for d in first for each in sources(d)} == {
        f"c{n}" for n in range(len(texts))
    }
    assert len(first) > 1


class TestNodes:
    """What a summary is in LlamaIndex."""

    framework = LlamaIndex()

    def test_a_summary_belongs_to_its_document(self, state):
        """So it goes when the document does; and it holds ids of others, no more."""
        *_, summary = ingested(self.framework, state)

        assert summary.ref_doc_id == "log.txt"
        assert not any(child.metadata for child in summary.child_nodes)

    def test_the_mark_is_in_no_vector_and_no_prompt(self, state):
        """A chunk reads as before, for the embedding model and for the other."""
        given = chunks(self.framework)
        given[1].metadata["file"] = "log.txt"
        given[1].excluded_embed_metadata_keys = ["file"]

        marked = self.framework.transform(summarizer(self.framework, state), given)

        for mode in (MetadataMode.EMBED, MetadataMode.LLM):
            before = [chunk.get_content(mode) for chunk in given]
            assert [node.get_content(mode) for node in marked[:4]] == before
            assert marked[4].get_content(mode) == SUMMARY

    def test_settings_are_part_of_the_hash(self, state):
        """The pipeline's cache never answers for other settings."""
        nodes = chunks(self.framework)

        def hash_of(**settings):
            chosen = HierarchySettings(**settings)
            component = summarizer(self.framework, state, settings=chosen)
            return get_transformation_hash(nodes, component)

        assert hash_of() == hash_of()
        for changed in ("depth", "dimensions", "threshold", "characters"):
            value = {"depth": 2, "dimensions": 5, "threshold": 0.2, "characters": 900}
            assert hash_of(**{changed: value[changed]}) != hash_of()
