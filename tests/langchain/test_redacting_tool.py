"""Agents: a guarded tool tells the graph nothing but what is released."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send

from langchain_sdrag import SelectiveDisclosureMiddleware

from ..leaks.agent import ASK, STREAMED, AgentModel

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [
        {"id": "names", "text": "Remove the names of witnesses", "always": True}
    ]
}
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


def answering() -> Any:
    """A graph of its own, such as an agent that serves another as a tool."""
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda _: {"messages": [AIMessage(TEXT)]})
    graph.add_edge(START, "answer")
    return graph


@tool("search")
def writing(query: str) -> str:
    """Write to the stream of the graph."""
    get_stream_writer()({"found": TEXT})
    return TEXT


@tool("search")
def writing_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Write to the stream by the injected runtime."""
    runtime.stream_writer({"found": TEXT})
    return TEXT


@tool("search")
def delegating(query: str) -> str:
    """Ask another graph."""
    found = answering().compile().invoke({"messages": [HumanMessage(query)]})
    return str(found["messages"][-1].text)


@tool("search")
def delegating_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Ask another graph, with the injected config."""
    asked = {"messages": [HumanMessage(query)]}
    found = answering().compile(checkpointer=True).invoke(asked, runtime.config)
    return str(found["messages"][-1].text)


@tool("search")
def labelling(query: str) -> ToolMessage:
    """Answer with a message of the tool's own making."""
    return ToolMessage(TEXT, tool_call_id="call", name=f"of {NAME}", id=f"to-{NAME}")


@tool("search")
def sending(query: str) -> Command[Any]:
    """Hand a node a state of its own."""
    message = ToolMessage(TEXT, tool_call_id="call")
    sent = Send("model", {"messages": [HumanMessage(query), AIMessage(TEXT)]})
    return Command(update={"messages": [message]}, goto=[sent])


def watched(mode: str, *tools: Any, policy: Any = None) -> tuple[list[Any], Any]:
    """Return all that a client is streamed, and what the checkpointer holds."""
    saver = InMemorySaver()
    guarded = SelectiveDisclosureMiddleware(policy=policy or POLICY)
    agent = create_agent(AgentModel(), tools, middleware=[guarded], checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
    options: Any = {"stream_mode": STREAMED, "subgraphs": True}

    async def collected() -> list[Any]:
        return [chunk async for chunk in agent.astream(ASK, config, **options)]

    if mode == "sync":
        seen = list(agent.stream(ASK, config, **options))
    else:
        seen = asyncio.run(collected())
    return seen, [dict(saver.blobs), dict(saver.writes)]


@both_modes
@pytest.mark.parametrize(
    "guarded",
    [
        writing,
        writing_by_runtime,
        delegating,
        delegating_by_runtime,
        labelling,
        sending,
    ],
    ids=lambda guarded: guarded.func.__name__,
)
def test_neither_stream_nor_checkpointer_sees_more_than_is_released(mode, guarded):
    """Whatever a tool writes, asks other graphs, or calls its own message."""
    seen, kept = watched(mode, guarded)

    assert "saw it" in str(seen)
    assert NAME not in str(seen) + str(kept)


def test_shown_inner_calls_are_streamed():
    """What the policy shows, a tool may write."""
    seen, _ = watched("sync", writing, policy={**POLICY, "tracing": {"inner": "shown"}})

    assert any(mode == "custom" for _, mode, _ in seen)
