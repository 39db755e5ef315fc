"""Nine shapes of agents: what the model, the client and the thread see of a tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from llama_index.core.agent.workflow import AgentWorkflow, ReActAgent
from llama_index.core.tools import FunctionTool

from llamaindex_sdrag import guard_tool

from ..leaks.agent import AgentModel
from ..support.doubles import LlamaIndexModel
from ..support.witness import NAME, POLICY, RELEASED, TEXT

pytest.importorskip("langchain.agents")

from langchain.agents import create_agent
from langchain.tools import InjectedState, ToolRuntime
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from langchain_sdrag import SelectiveDisclosureMiddleware

DATES = {"constraints": ["Hide dates of birth"]}
ASK: Any = {"messages": [HumanMessage("Who saw it?")]}
STREAMED = ["values", "updates", "messages", "custom", "debug"]
CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}


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


def agent(*tools: Any, **options: Any) -> Any:
    return create_agent(AgentModel(), [*tools], middleware=[guard()], **options)


def of_create_agent() -> Any:
    return agent(search).invoke(ASK)


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
    graph.add_node("supervisor", agent(hand_over))
    graph.add_node(
        "writer", create_agent(AgentModel(calls=[]), [], middleware=[guard()])
    )
    graph.add_edge(START, "supervisor")
    return list(graph.compile().stream(ASK, stream_mode=STREAMED, subgraphs=True))


def of_injected_state() -> Any:
    @tool("search")
    def counting(query: str, thread: Annotated[Any, InjectedState("messages")]) -> str:
        """Search, knowing the thread."""
        return f"{len(thread)} messages. {TEXT}"

    return agent(counting).invoke(ASK)


def of_two_guards() -> Any:
    """Each guards a tool of its own, and is told apart by its name."""
    names = guard(tools=["search"], name="names")
    dates = guard(DATES, tools=["letters"], name="dates")
    model = AgentModel(calls=["search", "letters"])
    found = create_agent(model, [search, letters], middleware=[names, dates])
    state = found.invoke(ASK)
    assert "3 May" not in str(state)
    return state


def of_a_checkpointer() -> Any:
    saver = InMemorySaver()
    state = agent(search, checkpointer=saver).invoke(ASK, CONFIG)
    return [state, saver.blobs, saver.writes]


def of_streaming() -> Any:
    return list(agent(search).stream(ASK, stream_mode=STREAMED))


def _thinking(prompt: str) -> str:
    if "Observation:" in prompt.rpartition("Who saw it?")[2]:
        return f"Thought: I can answer.\nAnswer: {prompt}"
    call = json.dumps({"query": "who"})
    return f"Thought: I search.\nAction: find\nAction Input: {call}"


def _guarded() -> Any:
    def find(query: str) -> str:
        """Search."""
        return TEXT

    return guard_tool(FunctionTool.from_defaults(find), policy=POLICY)


async def _run(built: Any) -> Any:
    handler = built.run(user_msg="Who saw it?")
    events = [str(event) async for event in handler.stream_events()]
    return [events, str(await handler)]


def of_agent_workflow() -> Any:
    model = LlamaIndexModel(_thinking)
    built = AgentWorkflow.from_tools_or_functions([_guarded()], llm=model)
    return asyncio.run(_run(built))


def of_react() -> Any:
    model = LlamaIndexModel(_thinking)
    return asyncio.run(_run(ReActAgent(tools=[_guarded()], llm=model, streaming=False)))


SHAPES: dict[str, Callable[[], Any]] = {
    "create_agent": of_create_agent,
    "ToolNode": of_tool_node,
    "supervisor with Command": of_a_supervisor,
    "injected state": of_injected_state,
    "AgentWorkflow": of_agent_workflow,
    "ReAct": of_react,
    "two guards": of_two_guards,
    "checkpointer": of_a_checkpointer,
    "streaming": of_streaming,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_agent_sees_what_was_released(shape: str) -> None:
    """And nothing else, wherever it is read: state, checkpoints, streams, events."""
    seen = str(SHAPES[shape]())

    assert RELEASED in seen
    assert NAME not in seen


def test_two_guards_of_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(AgentModel(), [search], middleware=[guard(), guard(DATES)])
