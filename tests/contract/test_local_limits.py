"""Local work at a question is limited: what is beyond is withheld, and said so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from langchain_sdrag import ConstraintBinder as LangChainBinder
from llamaindex_sdrag import ConstraintBinder as LlamaIndexBinder
from sdrag.detectors.local import LocalDetector
from sdrag.effects.runner import Limits
from sdrag.vocabulary import Passage

from ..support.faces import (
    HOOKS,
    RETRIEVERS,
    Scenario,
    documents,
    langchain_compressor,
    langchain_retriever,
    llamaindex_postprocessor,
    llamaindex_retriever,
    nodes,
)
from ..support.wrappers import build

POLICY = {"constraints": ["Remove names of witnesses"]}
BEGINNING = "Hanging"
LONG = f"{BEGINNING} Anna Karlsson saw it. " * 1000
QUICK = Passage(id="quick", text="The rain fell on the quay.")
SLOW = Passage(id="slow", text=LONG)
Ask = Callable[[Scenario, list[Any]], list[str]]


@pytest.fixture
def read(monkeypatch):
    """List the long texts that the detector reads."""
    found, texts = LocalDetector._read, []

    def notes(self, text):
        if BEGINNING in text:
            texts.append(text)
        return found(self, text)

    monkeypatch.setattr(LocalDetector, "_read", notes)
    return texts


def scenario(*passages, characters=None, policy=POLICY):
    limits = Limits(local_characters=characters)
    return Scenario("limits", passages, policy, limits=limits)


def asked(face: str, held: Scenario, **options: Any) -> list[str]:
    """Ask a wrapper of either framework; return the ids of what it releases."""
    if face == "langchain":
        found = langchain_retriever(held, **options).invoke(held.query)
        return [one.id for one in found]
    if face == "langchain async":
        found = asyncio.run(langchain_retriever(held, **options).ainvoke(held.query))
        return [one.id for one in found]
    if face == "llamaindex":
        nodes_found = llamaindex_retriever(held, **options).retrieve(held.query)
        return [one.node.node_id for one in nodes_found]
    nodes_found = asyncio.run(
        llamaindex_retriever(held, **options).aretrieve(held.query)
    )
    return [one.node.node_id for one in nodes_found]


WRAPPERS = ["langchain", "langchain async", "llamaindex", "llamaindex async"]


@pytest.mark.parametrize("face", RETRIEVERS + HOOKS, ids=lambda face: face.__name__)
def test_what_is_too_long_is_not_read(face, read):
    """The shortest texts come first, whatever their order, so little is withheld."""
    released = face(scenario(SLOW, QUICK, characters=1000))

    assert [identity for identity, _, _ in released] == ["quick"]
    assert not read


@pytest.mark.parametrize("face", WRAPPERS)
def test_the_reason_is_its_own(face):
    """The audit says that a limit was met; it names no detector and no text."""
    events = []
    held = scenario(SLOW, characters=1000)

    assert asked(face, held, audit=events.append) == []

    (decision,) = events[0].decisions
    assert (decision.action, decision.reason) == ("withheld", "over-local-limit")
    assert "Karlsson" not in repr(events)


@pytest.mark.parametrize("face", WRAPPERS)
def test_what_is_known_takes_no_local_work(face, tmp_path):
    """A passage that was located before is released, however long it is."""
    known = Passage(id="known", text="Nobody was there. " * 1000, document_id="k")
    state = str(tmp_path / "state.db")
    asked(face, scenario(known), state=state)

    tight = scenario(known, SLOW, characters=10)

    assert asked(face, tight, state=state) == ["known"]


@pytest.mark.parametrize("face", WRAPPERS)
def test_what_was_not_read_is_read_again(face, tmp_path):
    """Nothing is kept of a passage that was over a limit."""
    state = str(tmp_path / "state.db")

    assert asked(face, scenario(SLOW, characters=10), state=state) == []

    roomy = scenario(SLOW)

    assert asked(face, roomy, state=state) == ["slow"]


@pytest.mark.parametrize("face", WRAPPERS)
def test_a_scan_for_injections_is_limited_too(face):
    """What could not be scanned is dropped, for the same reason."""
    events = []
    held = scenario(QUICK, SLOW, characters=1000, policy={"injection": {}})

    assert asked(face, held, audit=events.append) == ["quick"]

    dropped = [one.reason for one in events[0].decisions if one.action == "dropped"]
    assert dropped == ["over-local-limit"]


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_a_binder_reads_without_limits(framework, tmp_path):
    """It reads a whole corpus at one go, and what it has read needs no more work."""
    state = str(tmp_path / "state.db")
    held = scenario(SLOW, characters=10)
    if framework == "langchain":
        binder = build(LangChainBinder, policy=POLICY, state=state, limits=held.limits)
        binder.transform_documents(documents(held))
    else:
        build(LlamaIndexBinder, policy=POLICY, state=state, limits=held.limits)(
            [one.node for one in nodes(held)]
        )

    assert asked(framework, held, state=state) == ["slow"]


@pytest.mark.parametrize(
    "hook",
    [langchain_compressor, llamaindex_postprocessor],
    ids=lambda one: one.__name__,
)
def test_defaults_let_ten_long_chunks_pass(hook):
    """Limits are for what no retrieval brings, not for what every one does."""
    chunks = [
        Passage(id=str(n), text=f"The ferry left at {n}. " * 150) for n in range(10)
    ]
    held = Scenario("ten", chunks, POLICY, limits=Limits())
    if hook is langchain_compressor:
        released = hook(held).compress_documents(documents(held), held.query)
    else:
        released = hook(held).postprocess_nodes(nodes(held), query_str=held.query)

    assert len(released) == 10
