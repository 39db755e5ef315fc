"""Local work at a question is limited: what is beyond is withheld, and said so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from langchain_sdrag import ConstraintBinder as LangChainBinder
from llamaindex_sdrag import ConstraintBinder as LlamaIndexBinder
from sdrag.detectors.local import LocalDetector
from sdrag.engine.calls import Limits
from sdrag.vocabulary import Passage

from ..support.faces import (
    HOOKS,
    RETRIEVERS,
    Scenario,
    documents,
    langchain_compressor,
    langchain_invoke,
    langchain_retriever,
    llamaindex_postprocessor,
    llamaindex_retriever,
    nodes,
)

POLICY = {"constraints": ["Remove names of witnesses"]}
HANGS = "Hanging"
LONG = f"{HANGS} Anna Karlsson saw it. " * 1000
QUICK = Passage(id="quick", text="The rain fell on the quay.")
SLOW = Passage(id="slow", text=LONG)
SECONDS = 60.0
"""Over as soon as a detector hangs: see `hanging`."""

Ask = Callable[[Scenario, list[Any]], list[str]]


@pytest.fixture(autouse=True, scope="module")
def loaded():
    """Load the networks once: that is no work on a passage."""
    langchain_invoke(scenario(QUICK, seconds=None))


@pytest.fixture
def hanging(request, monkeypatch, clock):
    """Let the detector hang on some texts until the test ends, and time pass then."""
    requests = 2 if "batch" in request.node.name else 1
    all_hang = threading.Barrier(requests, action=clock.skip)
    released, found, waiting = threading.Event(), LocalDetector._found, []

    def waits(self, text):
        if HANGS in text:
            waiting.append(text)
            all_hang.wait(60)
            released.wait(60)
        return found(self, text)

    monkeypatch.setattr(LocalDetector, "_found", waits)
    yield waiting
    released.set()


def scenario(*passages, seconds=SECONDS, characters=None, policy=POLICY):
    limits = Limits(local_seconds=seconds, local_characters=characters)
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
def test_a_detector_that_never_ends_is_not_waited_for(face, hanging):
    """Its passage is withheld; the others are released as ever."""
    released = face(scenario(SLOW, QUICK))

    assert [identity for identity, _, _ in released] == ["quick"]
    assert hanging


@pytest.mark.parametrize("face", RETRIEVERS + HOOKS, ids=lambda face: face.__name__)
def test_what_is_too_long_is_not_read(face, hanging):
    """The shortest texts come first, whatever their order, so little is withheld."""
    released = face(scenario(SLOW, QUICK, seconds=None, characters=1000))

    assert [identity for identity, _, _ in released] == ["quick"]
    assert not hanging


@pytest.mark.parametrize("face", WRAPPERS)
@pytest.mark.parametrize(
    "limits", [{"seconds": SECONDS}, {"seconds": None, "characters": 1000}]
)
def test_the_reason_is_its_own(face, limits, hanging):
    """The audit says that a limit was met; it names no detector and no text."""
    events = []
    held = scenario(SLOW, **limits)

    assert asked(face, held, audit=events.append) == []

    (decision,) = events[0].decisions
    assert (decision.action, decision.reason) == ("withheld", "over-local-limit")
    assert "Karlsson" not in repr(events)


@pytest.mark.parametrize("face", WRAPPERS)
def test_what_is_known_takes_no_local_work(face, tmp_path, hanging):
    """A passage that was located before is released, however long it is."""
    known = Passage(id="known", text="Nobody was there. " * 1000, document_id="k")
    state = str(tmp_path / "state.db")
    asked(face, scenario(known, seconds=None), state=state)

    tight = scenario(known, SLOW, characters=len(SLOW.text))

    assert asked(face, tight, state=state) == ["known"]


@pytest.mark.parametrize("face", WRAPPERS)
def test_what_was_not_read_is_read_again(face, tmp_path, monkeypatch):
    """Nothing is kept of a passage that was over a limit."""
    state = str(tmp_path / "state.db")

    assert asked(face, scenario(SLOW, characters=10), state=state) == []

    roomy = scenario(SLOW, seconds=None)

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
        binder = LangChainBinder(policy=POLICY, state=state, limits=held.limits)
        binder.transform_documents(documents(held))
    else:
        LlamaIndexBinder(policy=POLICY, state=state, limits=held.limits)(
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
