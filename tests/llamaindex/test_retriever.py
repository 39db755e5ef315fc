"""The wrappers at home in LlamaIndex."""

from __future__ import annotations

import pickle

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import (
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
)
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever, RecursiveRetriever
from llama_index.core.schema import (
    IndexNode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.storage import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore

from llamaindex_sdrag import (
    ConstraintBinder,
    FilteredRetriever,
    SelectiveDisclosurePostprocessor,
    SelectiveDisclosureRetriever,
)
from sdrag import Passage, Policy, Principal, acting_as
from sdrag.errors import UsageError
from sdrag.state import open_state

from ..support.doubles import LlamaIndexModel, LlamaIndexToyEmbedding
from ..support.scripted import verbatim
from ..support.witness import JUDGE, NAME, POLICY, TEXT
from ..support.wrappers import build

NEXT = f"Later the witness {NAME} left."


class Fixed(BaseRetriever):
    """Returns the same nodes."""

    def __init__(self, *nodes, **options):
        super().__init__(**options)
        self.nodes = nodes

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node, score=0.5) for node in self.nodes]


def node(identity="n", text=TEXT, **options):
    return TextNode(id_=identity, text=text, **options)


def wrapped(host, **options):
    return build(
        SelectiveDisclosureRetriever,
        base_retriever=host,
        **{"policy": POLICY, **options},
    )


def redactor():
    return SelectiveDisclosurePostprocessor(policy=POLICY)


def ask(engine):
    """Ask an engine whose model answers with all it was given."""
    response = engine.query("Who saw it?")
    return str(response) + str([n.node.model_dump() for n in response.source_nodes])


def engine(retriever, **options):
    return RetrieverQueryEngine.from_args(
        retriever, llm=LlamaIndexModel(verbatim), **options
    )


class TestPrincipals:
    """On whose behalf: from a block, or from the host's resolver."""

    def test_a_resolver_decides_alone(self):
        retriever = wrapped(Fixed(node()), principal_resolver=lambda bundle: None)

        with acting_as(JUDGE):
            assert retriever.retrieve("q")[0].text != TEXT


class TestHosts:
    """Retrievers, engines and postprocessors of LlamaIndex around it and inside it."""

    def test_auto_merging_outside_finds_no_way_back(self):
        """What was released has no parent that could bring raw text back."""
        child = node("c1")
        child.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id="p")
        docstore = SimpleDocumentStore()
        docstore.add_documents([node("p"), child])
        context = StorageContext.from_defaults(docstore=docstore)

        merged = AutoMergingRetriever(wrapped(Fixed(child)), context).retrieve("q")

        assert NAME not in str([found.model_dump() for found in merged])

    def test_index_nodes_are_not_swapped_for_what_they_point_at(self):
        """Neither before the redaction, nor after it."""
        pointer = IndexNode(id_="i", text="x", index_id="inner", obj=node("behind"))
        recursive = RecursiveRetriever(
            "root", retriever_dict={"root": Fixed(pointer)}, node_dict={"inner": node()}
        )

        for host in (Fixed(pointer), recursive):
            released = wrapped(host).retrieve("q")
            assert "saw it" in released[0].text
            assert NAME not in str([found.model_dump() for found in released])

    @pytest.mark.parametrize("first", [True, False])
    def test_sentence_windows_in_either_order(self, first):
        """The window is redacted where it is the text, and gone where it is not."""
        parser = SentenceWindowNodeParser.from_defaults(window_size=1)
        nodes = parser.get_nodes_from_documents([Document(text=f"{TEXT} {NEXT}")])
        replace = MetadataReplacementPostProcessor(target_metadata_key="window")
        hooks = [redactor(), replace] if first else [replace, redactor()]

        assert NAME not in ask(engine(Fixed(*nodes), node_postprocessors=hooks))

    @pytest.mark.parametrize("first", [True, False])
    def test_neighbours_in_either_order(self, first):
        """Neighbours are fetched and redacted, or cannot be fetched any more."""
        near, far = node("n1"), node("n2", NEXT)
        near.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(
            node_id="n2", metadata={"by": NAME}
        )
        docstore = SimpleDocumentStore()
        docstore.add_documents([near, far])
        fetch = PrevNextNodePostprocessor(docstore=docstore, num_nodes=1)
        hooks = [redactor(), fetch] if first else [fetch, redactor()]

        assert NAME not in ask(engine(Fixed(near), node_postprocessors=hooks))

    def test_k_is_asked_of_a_copy(self):
        index = VectorStoreIndex(
            [node(str(n), f"text {n}") for n in range(9)],
            embed_model=LlamaIndexToyEmbedding(),
        )
        host = index.as_retriever(similarity_top_k=2)

        assert len(wrapped(host, k=5).retrieve("text")) == 5
        assert host.similarity_top_k == 2

    def test_the_question_is_not_written_into(self):
        """Retrievers write the embedding into the bundle; ours is a copy."""
        index = VectorStoreIndex([node()], embed_model=LlamaIndexToyEmbedding())
        bundle = QueryBundle("text")

        wrapped(index.as_retriever()).retrieve(bundle)

        assert bundle.embedding is None


class TestAccess:
    """Conditions reach the store by a factory, and are checked anyway."""

    def test_the_factory_is_given_the_filters(self):
        index = VectorStoreIndex(
            [
                node(name, metadata={"tenant": name, "roles": "hr", "level": 1})
                for name in "ab"
            ],
            embed_model=LlamaIndexToyEmbedding(),
        )
        asked = []

        def factory(filters):
            asked.append(filters)
            return index.as_retriever()

        policy = {**POLICY, "access": {"required": ["tenant", "roles", "level"]}}
        filtered = FilteredRetriever(index.as_retriever(), factory)
        retriever = wrapped(filtered, policy=policy)
        roles = frozenset({"hr", "it"})
        with acting_as(Principal("u", tenant="a", roles=roles, level=2)):
            released = retriever.retrieve("q")

        assert [found.node.node_id for found in released] == ["a"]
        given = asked[0].model_dump_json()
        for operator in ("==", "in", "contains", "<="):
            assert f'"operator":"{operator}"' in given
        assert retriever.retrieve("q") == []


class TestIngestion:
    """Bindings are written beside the store, by a pipeline or by hand."""

    @pytest.fixture
    def files(self, tmp_path):
        policy = tmp_path / "policy.yaml"
        policy.write_text("constraints: [Remove the names of witnesses]")
        return {"policy": str(policy), "state": str(tmp_path / "state.sqlite")}

    def bound(self, files, nodes):
        store = open_state(files["state"]).bindings
        passages = [Passage(each.node_id, each.text) for each in nodes]
        scores = store.read(passages, Policy.read(files["policy"]).rules)
        return {p.id for p, score in zip(passages, scores, strict=True) if score}

    def test_a_pipeline_with_cache_and_docstore(self, files):
        """A second run finds the cache; the state has the bindings of the first."""
        nodes = [node(str(n), f"{TEXT} {n}") for n in range(3)]
        pipeline = IngestionPipeline(
            transformations=[build(ConstraintBinder, **files)],
            docstore=SimpleDocumentStore(),
        )

        for _ in range(2):
            pipeline.run(nodes=nodes)

        assert self.bound(files, nodes) == {"0", "1", "2"}

    @pytest.mark.slow
    def test_worker_processes_bind_one_corpus(self, files):
        """Each binds its shard into the same state."""
        nodes = [node(str(n)) for n in range(4)]

        IngestionPipeline(transformations=[build(ConstraintBinder, **files)]).run(
            nodes=nodes, num_workers=2
        )

        assert self.bound(files, nodes) == {"0", "1", "2", "3"}

    def test_workers_need_files(self):
        with pytest.raises(UsageError, match="files"):
            pickle.dumps(ConstraintBinder(policy=POLICY, state=open_state()))
