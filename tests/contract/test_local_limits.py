"""Local work at a question is limited: what is beyond is withheld, and said so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from langchain_sdrag import ConstraintBinder as LangChainBinder
from llamaindex_sdrag import ConstraintBinder as LlamaIndexBinder
from sdrag.detectors.local import LocalDetector
from sdrag.effects.limits import Limits
from sdrag.vocabulary import Passage

from ..support.faces import (
    BUILDERS,
    WRAPPERS,
    Scenario,
    aask,
    ask,
    core_disclose,
    core_run,
    documents,
    langchain_retriever,
    text_nodes,
    through,
)
from ..support.wrappers import build

POLICY = {"constraints": ["Remove names of witnesses"]}
BEGINNING = "Hanging"
LONG = f"{BEGINNING} Anna Karlsson saw it. " * 1000
QUICK = Passage(id="quick", text="The rain fell on the quay.")
SLOW = Passage(id="slow", text=LONG)
TIGHT = Scenario("tight", (SLOW, QUICK), POLICY, limits=Limits(local_characters=1000))
ROOMY = replace(TIGHT, limits=Limits())


@pytest.fixture
def read(monkeypatch):
    """List the long texts that the detector reads."""
    detect, texts = LocalDetector._read, []

    def note(self, text):
        if BEGINNING in text:
            texts.append(text)
        return detect(self, text)

    monkeypatch.setattr(LocalDetector, "_read", note)
    return texts


def ids(seen):
    return [identity for identity, _, _ in seen]


@through(core_run, *WRAPPERS)
def test_what_is_too_long_is_not_read(face, read):
    """The shortest texts come first, whatever their order, so little is withheld."""
    assert ids(face(TIGHT)) == ["quick"]
    assert not read


@pytest.mark.parametrize("make", BUILDERS)
async def test_the_reason_is_its_own(make):
    """The audit says that a limit was met; it names no detector and no text."""
    events = []
    wrapper = make(TIGHT, audit=events.append)
    ask(wrapper, TIGHT)
    await aask(wrapper, TIGHT)

    for event in events:
        (withheld,) = [item for item in event.decisions if item.action == "withheld"]
        assert withheld.reason == "over-local-limit"
    assert len(events) == 2
    assert "Karlsson" not in repr(events)


def test_what_was_not_read_is_read_again(tmp_path):
    """Nothing is kept of a passage that was over a limit."""
    state = str(tmp_path / "state.db")

    assert ids(core_disclose(replace(TIGHT, state=state))) == ["quick"]
    assert ids(core_disclose(replace(ROOMY, state=state))) == ["slow", "quick"]


def test_a_scan_for_injections_is_limited_too():
    """What could not be scanned is dropped."""
    assert ids(core_disclose(replace(TIGHT, policy={"injection": {}}))) == ["quick"]


TIMED = Scenario(
    "timed",
    tuple(
        Passage(str(n), f"{BEGINNING} Anna Karlsson saw it.{' It rained.' * n}")
        for n in (3, 1, 2)
    ),
    {**POLICY, "disclosure": {"local_seconds": 2.5}},
)
"""Of each passage, the detector takes two seconds."""


@pytest.fixture
def clock(monkeypatch, read):
    """Let two seconds pass with each long text that was read."""
    seen = lambda: 2.0 * len({text for text in read if "rained" in text})  # noqa: E731
    monkeypatch.setattr("sdrag.disclosure.local_reading.monotonic", seen)
    return seen


@through(core_run, *WRAPPERS)
def test_what_the_seconds_do_not_reach_is_withheld(face, clock):
    """The shortest come first; what was begun is finished, nothing leaves unread."""
    seen = face(TIMED)

    assert ids(seen) == ["1", "2"]
    assert "Karlsson" not in repr(seen)


def test_the_next_request_goes_on_there(clock, tmp_path):
    """Until all is read; from then on no time is needed, and binding needs none."""
    events, timed = [], replace(TIMED, state=str(tmp_path / "state.db"))
    tight = {**POLICY, "disclosure": {"local_seconds": 1e-9}}
    wrapper = langchain_retriever(replace(timed, policy=tight), audit=events.append)

    released = [ids(ask(wrapper, timed)) for _ in range(4)]

    assert [set(each) for each in released] == [
        {"1"},
        {"1", "2"},
        {"1", "2", "3"},
        {"1", "2", "3"},
    ]
    late = [
        sum(each.reason == "over-local-seconds" for each in event.decisions)
        for event in events
    ]
    assert late == [2, 1, 0, 0]
    binder = LangChainBinder(tight, tmp_path / "other.db")
    binder.transform_documents(documents(timed))
    bound = replace(timed, policy=tight, state=str(tmp_path / "other.db"))
    assert len(core_disclose(bound)) == 3


TELLING = "The witness Mr Stone of the harbour office signed the book today."


@pytest.mark.parametrize("by", ["seconds", "limit", "detector"])
@through(core_run, *WRAPPERS)
def test_what_was_not_read_withholds_its_document(face, by, monkeypatch):
    """It may name whom the others of its document name; other documents leave."""
    told = TELLING if by == "seconds" else TELLING * 20
    passages = (
        Passage("a", "It was Stone who left.", document_id="d"),
        Passage("b", told, document_id="d"),
        Passage("c", "It rained.", document_id="e"),
    )
    policy = {"constraints": ["Remove names of people"]}
    scenario = Scenario("unread", passages, policy)
    assert ids(face(scenario)) == ["a", "b", "c"]
    assert "Stone" not in repr(face(scenario))
    if by == "seconds":
        policy = {**policy, "disclosure": {"local_seconds": 1e-9}}
        scenario = replace(scenario, policy=policy)
    elif by == "limit":
        scenario = replace(scenario, limits=Limits(local_characters=500))
    else:
        detect = LocalDetector._read
        monkeypatch.setattr(
            LocalDetector, "_read", lambda self, text: detect(self, _shorter(text))
        )

    assert ids(face(scenario)) == ["c"]


def _shorter(text):
    if len(text) > 500:
        raise ValueError(text)
    return text


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_a_binder_reads_without_limits(framework, tmp_path):
    """It reads a whole corpus at one go, and what it has read needs no more work."""
    state = str(tmp_path / "state.db")
    arguments = {"policy": POLICY, "state": state, "limits": TIGHT.limits}
    if framework == "langchain":
        build(LangChainBinder, **arguments).transform_documents(documents(TIGHT))
    else:
        build(LlamaIndexBinder, **arguments)(text_nodes(TIGHT))

    assert ids(core_disclose(replace(TIGHT, state=state))) == ["slow", "quick"]


def test_defaults_let_ten_long_chunks_pass():
    """Limits are for what no retrieval brings, not for what every one does."""
    chunks = [
        Passage(id=str(n), text=f"The ferry left at {n}. " * 150) for n in range(10)
    ]

    assert len(core_disclose(replace(ROOMY, passages=chunks))) == 10
