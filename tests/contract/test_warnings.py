"""Nobody is left guessing: what hides passages unmeant is warned of, once a wrapper."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

import langchain_sdrag
import llamaindex_sdrag
import sdrag.embeddings
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.runner import Limits
from sdrag.errors import MissingExtraError
from sdrag.privacy.reasons import REASONS
from sdrag.vocabulary import Passage

from ..support.doubles import (
    LangChainToyEmbeddings,
    LlamaIndexToyEmbedding,
    failing,
    garbled,
    hanging,
    verdicts,
)
from ..support.faces import (
    Scenario,
    documents,
    langchain_compressor,
    langchain_retriever,
    llamaindex_postprocessor,
    llamaindex_retriever,
    nodes,
)

Ask = Callable[[], Any]


def langchain_invoke(scenario: Scenario) -> Ask:
    wrapper = langchain_retriever(scenario)
    return lambda: wrapper.invoke(scenario.query)


def langchain_ainvoke(scenario: Scenario) -> Ask:
    wrapper = langchain_retriever(scenario)
    return lambda: asyncio.run(wrapper.ainvoke(scenario.query))


def langchain_compress(scenario: Scenario) -> Ask:
    wrapper = langchain_compressor(scenario)
    return lambda: wrapper.compress_documents(documents(scenario), scenario.query)


def langchain_acompress(scenario: Scenario) -> Ask:
    wrapper = langchain_compressor(scenario)
    return lambda: asyncio.run(
        wrapper.acompress_documents(documents(scenario), scenario.query)
    )


def llamaindex_retrieve(scenario: Scenario) -> Ask:
    wrapper = llamaindex_retriever(scenario)
    return lambda: wrapper.retrieve(scenario.query)


def llamaindex_aretrieve(scenario: Scenario) -> Ask:
    wrapper = llamaindex_retriever(scenario)
    return lambda: asyncio.run(wrapper.aretrieve(scenario.query))


def llamaindex_postprocess(scenario: Scenario) -> Ask:
    wrapper = llamaindex_postprocessor(scenario)
    return lambda: wrapper.postprocess_nodes(nodes(scenario), query_str=scenario.query)


def llamaindex_apostprocess(scenario: Scenario) -> Ask:
    wrapper = llamaindex_postprocessor(scenario)
    return lambda: asyncio.run(
        wrapper.apostprocess_nodes(nodes(scenario), query_str=scenario.query)
    )


FACES = (
    langchain_invoke,
    langchain_ainvoke,
    langchain_compress,
    langchain_acompress,
    llamaindex_retrieve,
    llamaindex_aretrieve,
    llamaindex_postprocess,
    llamaindex_apostprocess,
)
every_face = pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)

QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."
CREW = "The crew of the boat slept."
TWO = (Passage("p1", QUAY, score=0.9), Passage("p2", CREW, score=0.8))
NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
ONLY = {"id": "only", "text": "Only the verdict may be disclosed", "always": True}
POLICY = {"constraints": [NAMES]}
MEANT = {"constraints": [ONLY]}
RANKED = {
    "constraints": ["Remove the names of witnesses", "Hide dates"],
    "disclosure": {"top_k": 1},
}
LATE = Limits(seconds=0.1)


def missing(*args: Any) -> Any:
    raise MissingExtraError("The packaged MiniLM", "local")


def broken(*args: Any) -> Any:
    raise RuntimeError(QUAY)


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return what was warned of on the logger `sdrag`."""
    caplog.set_level(logging.DEBUG, "sdrag")

    def messages() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.name == "sdrag" and record.levelno == logging.WARNING
        ]

    return messages


CAUSES = [
    ("failed-missingextra", Scenario("no MiniLM", TWO, RANKED), "sdrag[local]"),
    ("model-failed", Scenario("failing", TWO, MEANT, reply=failing), "provider"),
    ("no-verdict", Scenario("garbled", TWO, MEANT, reply=garbled), "stronger model"),
    (
        "model-timeout",
        Scenario("hanging", TWO, MEANT, reply=hanging, limits=LATE),
        "timeout_seconds",
    ),
    (
        "no-principal",
        Scenario("nobody", TWO, {**POLICY, "access": {}}),
        "with acting_as(principal): ...",
    ),
    ("detector-failed", Scenario("broken detector", TWO, POLICY), "detector"),
    (
        "withheld-by-constraint",
        Scenario("all", TWO[:1], {"constraints": [{**NAMES, "method": "withhold"}]}),
        "by names",
    ),
    (
        "below-floor",
        Scenario("off topic", TWO, {"relevance": {"min_score": 0.95}}),
        "relevance.min_score",
    ),
]


@every_face
@pytest.mark.parametrize(
    ("code", "scenario", "mend"), CAUSES, ids=[code for code, _, _ in CAUSES]
)
def test_a_cause_is_warned_of_once(face, code, scenario, mend, warned, monkeypatch):
    """With what happened and what mends it, in no word of a passage."""
    if code == "failed-missingextra":
        monkeypatch.setattr(sdrag.embeddings, "embed_texts", missing)
    if code == "detector-failed":
        monkeypatch.setattr(LocalLocator, "locate", broken)
    ask = face(scenario)

    assert not ask()
    assert not ask()

    (message,) = warned()
    assert code in message
    assert mend in message
    assert REASONS[code].happened in message
    assert "Anna" not in message
    assert "crew" not in message


@every_face
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("healthy", TWO, POLICY),
        Scenario("model", TWO, POLICY, reply=verdicts(names=["Anna Karlsson"])),
        Scenario("one of two", TWO, {"constraints": [{**NAMES, "method": "withhold"}]}),
        Scenario("nothing found", (), POLICY),
        Scenario("nothing asked", TWO, {}),
    ],
    ids=lambda scenario: scenario.name,
)
def test_what_is_meant_is_not_warned_of(face, scenario, warned):
    """Neither a redaction nor a passage withheld among others is a fault."""
    face(scenario)()

    assert warned() == []


@every_face
def test_every_wrapper_warns_for_itself(face, warned):
    """What one has said is news to the other."""
    scenario = Scenario("nobody", TWO, {**POLICY, "access": {}})
    for ask in (face(scenario), face(scenario)):
        ask()

    assert len(warned()) == 2


def test_threads_warn_once_together(warned):
    """However many requests find the same cause at once."""
    ask = llamaindex_postprocess(Scenario("nobody", TWO, {**POLICY, "access": {}}))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(), range(32)))

    assert len(warned()) == 1


def test_a_deep_copy_warns_for_itself(warned):
    """A wrapper can be copied, whatever it has warned of."""
    scenario = Scenario("nobody", TWO, {**POLICY, "access": {}})
    compressor = langchain_compressor(scenario)
    for one in (compressor, copy.deepcopy(compressor)):
        one.compress_documents(documents(scenario), scenario.query)

    assert len(warned()) == 2


def langchain_binder(policy: Any, *, is_async: bool) -> Callable[[Any], Any]:
    binder = langchain_sdrag.ConstraintBinder(
        policy=policy, state=None, embeddings=LangChainToyEmbeddings()
    )

    def bind(metadata: list[dict[str, Any]], document: str | None = "log") -> None:
        known = {"source": document} if document else {}
        chunks = [
            Document(page_content=QUAY, metadata={**known, **one}) for one in metadata
        ]
        if is_async:
            asyncio.run(binder.atransform_documents(chunks))
        else:
            binder.transform_documents(chunks)

    return bind


def llamaindex_binder(policy: Any, *, is_async: bool) -> Callable[[Any], Any]:
    binder = llamaindex_sdrag.ConstraintBinder(
        policy=policy, state=None, embeddings=LlamaIndexToyEmbedding()
    )

    def bind(metadata: list[dict[str, Any]], document: str | None = "log") -> None:
        chunks = [TextNode(text=QUAY, metadata=one) for one in metadata]
        for chunk in chunks if document else ():
            source = RelatedNodeInfo(node_id=str(document))
            chunk.relationships[NodeRelationship.SOURCE] = source
        if is_async:
            asyncio.run(binder.acall(chunks))
        else:
            binder(chunks)

    return bind


every_binder = pytest.mark.parametrize(
    ("binder", "is_async"),
    [
        (binder, is_async)
        for binder in (langchain_binder, llamaindex_binder)
        for is_async in (False, True)
    ],
)


def limited(key: str, **more: Any) -> dict[str, Any]:
    entry = {"id": "doses", "text": "Hide doses", "where": {key: ["x"]}, **more}
    return {"constraints": [entry]}


@every_binder
@pytest.mark.parametrize(
    ("missing", "said"),
    [("hold", "the constraint holds"), ("skip", "the constraint does not hold")],
)
def test_a_key_that_no_chunk_carries(binder, is_async, missing, said, warned):
    """It is named with its constraint, and what becomes of it; once a binder."""
    bind = binder(limited("departmnt", where_missing=missing), is_async=is_async)
    bind([{"department": "x"}, {}])
    bind([{"department": "y"}])

    (message,) = warned()
    assert "constraint doses" in message
    assert "'departmnt'" in message
    assert said in message
    assert "Anna" not in message


@every_binder
@pytest.mark.parametrize(
    ("key", "metadata"),
    [
        ("department", [{"department": "y"}, {}]),
        ("department", [{}, {"department": None}]),
        ("department", []),
    ],
)
def test_a_key_that_some_chunk_carries(binder, is_async, key, metadata, warned):
    """Nothing is misspelt, and of no chunks nothing can be said."""
    binder(limited(key), is_async=is_async)(metadata)

    assert warned() == []


@every_binder
def test_a_key_that_is_no_identifier_is_not_named(binder, is_async, warned):
    """It may be anything; the constraint's id has to do."""
    binder(limited("patient Anna Karlsson"), is_async=is_async)([{}])

    (message,) = warned()
    assert "constraint doses" in message
    assert "Anna" not in message


@every_binder
def test_chunks_that_name_no_document(binder, is_async, warned):
    """What one of them says of a name is not known in the next: told once a binder."""
    bind = binder(POLICY, is_async=is_async)
    bind([{}, {}], document=None)
    bind([{}], document=None)

    (message,) = warned()
    assert "2 of 2 chunks name no document" in message
    assert "Anna" not in message
