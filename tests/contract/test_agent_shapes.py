"""
Shapes of agents: what the model, the client and the thread see of a tool.

An agent of `create_agent` and a ReAct agent are in the channels of the leak matrix.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.tools import FunctionTool

from llamaindex_sdrag import guard_tool
from sdrag.errors import UsageError

from ..leaks.agent import AgentModel
from ..support.doubles import LlamaIndexModel
from ..support.witness import NAME, POLICY, RELEASED, TEXT

pytest.importorskip("langchain.agents")

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langchain_sdrag import SelectiveDisclosureMiddleware

DATES = {"constraints": ["Hide dates of birth"]}
ASK: Any = {"messages": [HumanMessage("Who saw it?")]}
STREAMED = ["values", "updates", "messages", "custom", "debug"]


@tool
def search(query: str) -> str:
    """Search."""
    return TEXT


@tool
def letters(query: str) -> str:
    """Search the letters."""
    return "Born on 3 May 1970."


def guard(policy: Any = POLICY, **options: Any) -> SelectiveDisclosureMiddleware:
    return SelectiveDisclosureMiddleware(policy=policy, **options)


def of_tool_node() -> Any:
    """A graph of one's own: the node takes the methods of the middleware."""
    guarded = guard()
    node = ToolNode(
        [search],
        wrap_tool_call=guarded.wrap_tool_call,
        awrap_tool_call=guarded.awrap_tool_call,
    )
    graph: Any = StateGraph(MessagesState)
    graph.add_node(
        "model", lambda s: {"messages": [AgentModel().invoke(s["messages"])]}
    )
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    compiled = graph.compile()
    return [compiled.invoke(ASK), asyncio.run(compiled.ainvoke(ASK))]


def of_a_supervisor() -> Any:
    """The hand-over of a supervisor is a `Command` to another agent of its graph."""

    @tool("search")
    def hand_over(query: str, runtime: ToolRuntime) -> Command[Any]:
        """Hand over to the writer."""
        message = ToolMessage(TEXT, tool_call_id=runtime.tool_call_id)
        messages = [*runtime.state["messages"], message]
        update = {**runtime.state, "messages": messages}
        return Command(goto="writer", graph=Command.PARENT, update=update)

    graph: Any = StateGraph(MessagesState)
    supervisor = create_agent(AgentModel(), [hand_over], middleware=[guard()])
    graph.add_node("supervisor", supervisor)
    graph.add_node(
        "writer", create_agent(AgentModel(calls=[]), [], middleware=[guard()])
    )
    graph.add_edge(START, "supervisor")
    return list(graph.compile().stream(ASK, stream_mode=STREAMED, subgraphs=True))


def of_two_guards() -> Any:
    """Each guards a tool of its own, and is told apart by its name."""
    names = guard(tools=["search"], name="names")
    dates = guard(DATES, tools=["letters"], name="dates")
    model = AgentModel(calls=["search", "letters"])
    found = create_agent(model, [search, letters], middleware=[names, dates])
    state = found.invoke(ASK)
    assert "3 May" not in str(state)
    return state


def _thinking(prompt: str) -> str:
    if "Observation:" in prompt.rpartition("Who saw it?")[2]:
        return f"Thought: I can answer.\nAnswer: {prompt}"
    call = json.dumps({"query": "who"})
    return f"Thought: I search.\nAction: find\nAction Input: {call}"


def of_agent_workflow() -> Any:
    def find(query: str) -> str:
        """Search."""
        return TEXT

    guarded = guard_tool(FunctionTool.from_defaults(find), policy=POLICY)
    model = LlamaIndexModel(_thinking)
    built = AgentWorkflow.from_tools_or_functions([guarded], llm=model)

    async def run() -> Any:
        handler = built.run(user_msg="Who saw it?")
        events = [str(event) async for event in handler.stream_events()]
        return [events, str(await handler)]

    return asyncio.run(run())


SHAPES: dict[str, Callable[[], Any]] = {
    "ToolNode": of_tool_node,
    "supervisor with Command": of_a_supervisor,
    "AgentWorkflow": of_agent_workflow,
    "two guards": of_two_guards,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_agent_sees_what_was_released(shape: str) -> None:
    """And nothing else, wherever it is read: state, checkpoints, streams, events."""
    seen = str(SHAPES[shape]())

    assert RELEASED in seen
    assert NAME not in seen


ANSWERED = ToolMessage(TEXT, tool_call_id="1")
ANSWERS = [
    ([ANSWERED], RELEASED),
    (Command(update={"messages": ANSWERED}), RELEASED),
    (Command(goto="writer"), "writer"),
    (TEXT, "cannot be redacted"),
    (Command(update={"messages": [SystemMessage(TEXT)]}), "cannot be redacted"),
    (Command(update={"notes": TEXT}), "writes more than messages"),
]
"""What comes in place of a guarded tool's message, and what is made of it."""


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_another_middleware_may_answer(answer: Any, expected: str) -> None:
    """With messages, or with where to go; nothing else can be redacted."""
    call: Any = {"name": "search", "args": {}, "id": "1", "type": "tool_call"}
    request = ToolCallRequest(call, search, {}, SimpleNamespace(context=None))

    try:
        seen = str(guard().wrap_tool_call(request, lambda _: answer))
    except UsageError as error:
        seen = str(error)
    assert expected in seen
    assert NAME not in seen


def test_two_guards_of_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(AgentModel(), [search], middleware=[guard(), guard(DATES)])
