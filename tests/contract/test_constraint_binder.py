"""At ingest, whole documents are read once; a question reads nothing again."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from importlib import import_module

import pytest

from sdrag.errors import HostError
from sdrag.state import open_state

from ..support import doubles
from ..support.doubles import verdicts
from ..support.frameworks import BOTH, SYNC_AND_ASYNC

NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
POLICY = {"constraints": [NAMES]}
TEXT = "The witness Anna Karlsson saw it."
LATER = "Later Karlsson left."
CODED = "Swallow came at nine."
FOUND = "[person] came at nine."

pytestmark = BOTH


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state.sqlite"


@pytest.fixture
def ask(framework, state):
    """What a retriever over the state releases of documents."""
    return lambda *documents, **options: framework.release(
        documents, policy=POLICY, state=state, **options
    )


@pytest.fixture
def build(framework, state):
    return lambda llm=None: framework.package.ConstraintBinder(POLICY, state, llm)


@pytest.fixture
def chunks(framework):
    return [framework.document("1", TEXT), framework.document("2", LATER)]


@SYNC_AND_ASYNC
def test_a_chunk_is_read_as_part_of_its_document(
    framework, build, ask, chunks, is_async
):
    """Who Karlsson is says the first chunk; the second is retrieved alone."""
    assert framework.transform(build(), chunks, is_async=is_async) == chunks

    assert ask(chunks[1]) == ["Later [person] left."]


def test_a_document_may_come_in_batches(framework, build, ask, chunks):
    """What a later batch tells of it completes the earlier one."""
    binder = build()
    for chunk in reversed(chunks):
        framework.transform(binder, [chunk])

    assert ask(chunks[1]) == ["Later [person] left."]


@SYNC_AND_ASYNC
def test_an_index_that_stands_is_bound_one_by_one(build, ask, chunks, is_async):
    """Whatever the store lists will do; what was read before is not read again."""
    binder = build()

    def bind(documents):
        if is_async:
            return asyncio.run(binder.abind_documents(documents))
        return binder.bind_documents(documents)

    none = bind([])
    first, again = bind(chunk for chunk in chunks), bind(iter(chunks))

    assert none.passages == 0
    assert (first.passages, first.located) == (2, 2)
    assert first.read >= 2
    assert (again.passages, again.located, again.read) == (2, 2, 0)
    assert ask(chunks[1]) == ["Later [person] left."]


@SYNC_AND_ASYNC
def test_what_was_done_before_a_failure_stays(framework, monkeypatch, state, is_async):
    """Documents are bound and read some at a time; the next run goes on there."""
    monkeypatch.setattr(import_module("sdrag.disclosure.disclose"), "_CHARACTERS", 1)
    embed, fails = doubles.toy_vectors, True

    def embed_texts(texts):
        if fails and any("late" in text for text in texts):
            raise ConnectionError
        return embed(texts)

    monkeypatch.setattr(doubles, "toy_vectors", embed_texts)
    binder = framework.package.ConstraintBinder(
        {"constraints": [NAMES["text"]]}, state, embeddings=framework.embeddings
    )
    texts = [TEXT, LATER, "Ann Lee was late."]
    documents = [framework.document(t, t, t) for t in texts]

    with pytest.raises(HostError):
        framework.transform(binder, documents, is_async=is_async)

    fails = False
    done = binder.bind_documents(documents)
    assert (done.passages, done.located, done.read) == (3, 3, 1)


@SYNC_AND_ASYNC
def test_a_locked_state_is_waited_for_as_long_as_the_policy_says(
    framework, chunks, state, is_async
):
    """Then the error says so, and the next call works."""
    policy = {**POLICY, "disclosure": {"timeout_seconds": 0.05}}
    binder = framework.package.ConstraintBinder(policy, state)
    with closing(sqlite3.connect(state, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HostError, match=r"locked for 0\.05 s"):
            framework.transform(binder, chunks, is_async=is_async)

    assert framework.transform(binder, chunks, is_async=is_async) == chunks


def test_what_a_model_read_at_ingest_no_question_asks_it_again(framework, build, ask):
    """Neither about what it found, nor about what it did not find."""
    model = framework.model(verdicts(names=["Swallow"]))
    chunks = [framework.document("1", CODED), framework.document("2", "It rained.")]
    build(model).bind_documents(chunks)
    prompts = len(framework.prompts(model))
    assert prompts

    assert ask(*chunks, llm=model) == [FOUND, "It rained."]
    assert len(framework.prompts(model)) == prompts
    assert ask(chunks[0]) == [FOUND]

    ask(framework.document("1", f"{CODED} It rained."), llm=model)  # another text
    assert len(framework.prompts(model)) > prompts


def test_what_a_model_could_not_judge_is_judged_at_the_question(framework, build, ask):
    """A failure at ingest is none of a chunk that holds nothing."""
    broken = framework.model(lambda prompt: "I cannot help with that.")
    chunk = framework.document("1", CODED)

    done = build(broken).bind_documents([chunk])

    assert (done.passages, done.located) == (1, 0)
    model = framework.model(verdicts(names=["Swallow"]))
    assert ask(chunk, llm=model) == [FOUND]


@SYNC_AND_ASYNC
def test_a_document_that_left_the_index_leaves_nothing_behind(
    framework, build, ask, state, chunks, is_async
):
    """The chunk alone does not say who Karlsson is; other documents stay known."""
    binder = build()
    other = [
        framework.document("3", TEXT, "diary"),
        framework.document("4", LATER, "diary"),
    ]
    binder.bind_documents([*chunks, *other])

    if is_async:
        asyncio.run(binder.aforget_document(chunks))
    else:
        binder.forget_document(chunks)

    opened = open_state(state)
    keys = [opened.keys.document(None, name) for name in ("log.txt", "diary")]
    gone, kept = (opened.findings.registers(keys)[key] for key in keys)
    assert not gone
    assert kept
    assert ask(other[1]) == ["Later [person] left."]
