"""An error that leaves a wrapper drags along neither chain, nor notes, nor frames."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from llama_index.core.tools import FunctionTool

from langchain_sdrag import SelectiveDisclosureCompressor, SelectiveDisclosureMiddleware
from llamaindex_sdrag import SelectiveDisclosurePostprocessor, guard_tool
from sdrag import Options
from sdrag.errors import HostError, InternalError, UsageError, cut_off
from sdrag.vocabulary import Passage

from ..support.faces import Scenario, langchain_invoke, llamaindex_retrieve
from .agent import ASK, AgentModel
from .canaries import QUERY, RAW, SETTINGS, leaked
from .surfaces import told

FAILING = Options(principal_resolver=lambda _: {"id": "ada"})
"""A principal that is none, told after the tool has answered."""


def agent(mode):
    @tool("search")
    def search(query: str) -> str:
        """Search."""
        return RAW

    middleware = SelectiveDisclosureMiddleware(policy=SETTINGS, options=FAILING)
    built = create_agent(AgentModel(), [search], middleware=[middleware])
    return built.invoke(ASK) if mode == "sync" else asyncio.run(built.ainvoke(ASK))


def guarded_tool(mode):
    search = FunctionTool.from_defaults(lambda query: RAW, name="search")
    guarded = guard_tool(search, policy=SETTINGS, options=FAILING)
    return guarded.call(QUERY) if mode == "sync" else asyncio.run(guarded.acall(QUERY))


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("use", [agent, guarded_tool])
def test_a_tool_leaves_no_answer_in_the_frames_of_an_error(use, mode):
    with pytest.raises(UsageError, match="The principal is a dict") as caught:
        use(mode)

    assert not leaked(told(caught.value))


@pytest.mark.parametrize("face", [langchain_invoke, llamaindex_retrieve])
def test_what_was_retrieved_is_in_no_frame_of_a_later_error(face, monkeypatch):
    """The host has answered, and then something of ours breaks."""

    def broken(*_, **__):
        raise RuntimeError(RAW)

    monkeypatch.setattr("sdrag.pipeline.choose_enforcement", broken)
    with pytest.raises(InternalError) as caught:
        face(Scenario("found", [Passage("p", RAW)], SETTINGS))

    assert not leaked(told(caught.value))


@pytest.mark.parametrize(
    "hook",
    [
        lambda found: SelectiveDisclosureCompressor(policy=SETTINGS).compress_documents(
            found, QUERY
        ),
        lambda found: SelectiveDisclosurePostprocessor(
            policy=SETTINGS
        ).postprocess_nodes(found),
    ],
    ids=["langchain", "llamaindex"],
)
def test_what_a_hook_could_not_read_stays_with_who_handed_it_in(hook):
    """The locals that held it are those of the call itself, which the host made."""
    with pytest.raises(HostError) as caught:
        hook([RAW])

    names = [entry.name for entry in caught.traceback]
    assert names[-1] == "_drive"


def test_notes_are_cut_off_too():
    error = HostError("The host failed.")
    error.add_note(RAW)

    assert not leaked(vars(cut_off(error)))
