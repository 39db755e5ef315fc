"""At ingest, whole documents are read once; a question reads nothing again."""

from __future__ import annotations

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from llamaindex_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from sdrag.state import open_state

from ..support.doubles import LlamaIndexModel, verdicts
from ..support.wrappers import build

TEXT = "The witness Anna Karlsson saw it."
NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
POLICY = {"constraints": [NAMES]}
LATER = "Later Karlsson left."
CODED = "Swallow came at nine."


class Fixed(BaseRetriever):
    """Returns the same nodes."""

    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=node) for node in self.nodes]


def node(identity, text, source="log"):
    of = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)}
    return TextNode(id_=identity, text=text, relationships=of)


def asked(state, *nodes, **options):
    """Return what a retriever over this state hands on of nodes."""
    retriever = build(
        SelectiveDisclosureRetriever,
        base_retriever=Fixed(nodes),
        policy=POLICY,
        state=state,
        **options,
    )
    return [one.text for one in retriever.retrieve("q")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.sqlite"


@pytest.fixture
def binder(path):
    return ConstraintBinder(policy=POLICY, state=path)


CHUNKS = [node("1", TEXT), node("2", LATER)]


def test_a_chunk_is_read_as_part_of_its_document(binder, path):
    """Who Karlsson is says the first chunk; the second is retrieved alone."""
    assert list(binder(CHUNKS)) == CHUNKS

    assert asked(path, CHUNKS[1]) == ["Later [person] left."]


def test_a_document_may_come_in_batches(binder, path):
    """What a later batch tells of it completes the earlier one."""
    for chunk in reversed(CHUNKS):
        binder([chunk])

    assert asked(path, CHUNKS[1]) == ["Later [person] left."]


async def test_async_binds_the_same(binder, path):
    await binder.acall(CHUNKS)

    assert asked(path, CHUNKS[1]) == ["Later [person] left."]


class TestAnIndexThatStands:
    """`bind_documents` takes whatever the store lists."""

    def test_its_nodes_come_one_by_one(self, binder, path):
        """A generator will do; what was read before is not read again."""
        first = binder.bind_documents(chunk for chunk in CHUNKS)
        again = binder.bind_documents(iter(CHUNKS))

        assert (first.passages, first.located) == (2, 2)
        assert first.read >= 2
        assert (again.passages, again.located, again.read) == (2, 2, 0)
        assert asked(path, CHUNKS[1]) == ["Later [person] left."]

    async def test_async_binds_the_same(self, binder, path):
        done = await binder.abind_documents(iter(CHUNKS))

        assert (done.passages, done.located) == (2, 2)
        assert asked(path, CHUNKS[1]) == ["Later [person] left."]

    def test_no_nodes_are_none(self, binder):
        assert binder.bind_documents([]).passages == 0


class TestAModelAtIngest:
    """What a model reads at ingest it is not asked for again."""

    @pytest.fixture
    def model(self):
        return LlamaIndexModel(verdicts(names=["Swallow"]))

    def test_no_question_asks_it(self, path, model):
        """Neither about what it found, nor about what it did not find."""
        binder = ConstraintBinder(policy=POLICY, state=path, llm=model)
        chunks = [node("1", CODED), node("2", "It rained.")]
        binder.bind_documents(chunks)
        prompts = len(model._prompts)
        assert prompts

        shown = asked(path, *chunks, llm=model)

        assert shown == ["[person] came at nine.", "It rained."]
        assert len(model._prompts) == prompts

    def test_without_it_a_question_enforces_what_it_found(self, path, model):
        """What was located is a fact about the chunk, whoever located it."""
        chunk = node("1", CODED)
        ConstraintBinder(policy=POLICY, state=path, llm=model).bind_documents([chunk])

        assert asked(path, chunk) == ["[person] came at nine."]

    def test_an_edited_chunk_is_read_again(self, path, model):
        """It is another text, which nobody has read."""
        chunk = node("1", CODED)
        ConstraintBinder(policy=POLICY, state=path, llm=model).bind_documents([chunk])
        prompts = len(model._prompts)

        asked(path, node("1", f"{CODED} It rained."), llm=model)

        assert len(model._prompts) > prompts

    def test_what_it_could_not_judge_is_judged_at_the_question(self, path, model):
        """A failure at ingest is none of a chunk that holds nothing."""
        broken = LlamaIndexModel(lambda prompt: "I cannot help with that.")
        chunk = node("1", CODED)
        binder = ConstraintBinder(policy=POLICY, state=path, llm=broken)

        done = binder.bind_documents([chunk])

        assert (done.passages, done.located) == (1, 0)
        assert asked(path, chunk, llm=model) == ["[person] came at nine."]


class TestForgetting:
    """A document that left the index leaves nothing behind."""

    def test_all_that_was_located_in_it_goes(self, binder, path):
        """The chunk alone does not say who Karlsson is; other documents stay known."""
        other = [node("3", TEXT, "diary"), node("4", LATER, "diary")]
        binder.bind_documents([*CHUNKS, *other])

        binder.forget_document(CHUNKS)

        state = open_state(path)
        keys = [state.keys.document(None, name) for name in ("log", "diary")]
        gone, kept = (state.findings.registers(keys)[key] for key in keys)
        assert not gone
        assert kept
        assert asked(path, other[1]) == ["Later [person] left."]

    async def test_async_forgets_the_same(self, binder, path):
        binder.bind_documents(CHUNKS)

        await binder.aforget_document(CHUNKS)

        state = open_state(path)
        key = state.keys.document(None, "log")
        assert not state.findings.registers([key])[key]
