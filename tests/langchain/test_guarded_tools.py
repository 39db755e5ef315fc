"""Agents: what a guarded tool does to its graph is redacted or refused."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.tools import InjectedState, InjectedStore, ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store, get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send, interrupt

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import SdragError

from ..leaks.agent import ASK, STREAMED, AgentModel

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [
        {"id": "names", "text": "Remove the names of witnesses", "always": True}
    ]
}
CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


class State(AgentState):
    """The state of an agent that takes notes."""

    notes: NotRequired[Any]


def answering() -> Any:
    """A graph of its own, such as an agent that serves another as a tool."""
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda _: {"messages": [AIMessage(TEXT)]})
    graph.add_edge(START, "answer")
    return graph


@tool("search")
def delegating(query: str) -> str:
    """Ask another graph."""
    state = answering().compile().invoke({"messages": [HumanMessage(query)]})
    return str(state["messages"][-1].text)


@tool("search")
def delegating_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Ask another graph, with the injected config."""
    question = {"messages": [HumanMessage(query)]}
    state = answering().compile().invoke(question, runtime.config)
    return str(state["messages"][-1].text)


@tool("search")
def delegating_with_checkpoints(query: str, runtime: ToolRuntime) -> str:
    """Ask another graph that keeps checkpoints where the agent does."""
    question = {"messages": [HumanMessage(query)]}
    state = answering().compile(checkpointer=True).invoke(question, runtime.config)
    return str(state["messages"][-1].text)


@tool("search")
def labelling(query: str) -> ToolMessage:
    """Answer with a message of the tool's own making."""
    return ToolMessage(TEXT, tool_call_id="call", name=f"of {NAME}", id=f"to-{NAME}")


@tool("search")
def commanding(query: str, runtime: ToolRuntime) -> Command[Any]:
    """Answer by a command with messages, as a hand-over does."""
    earlier = runtime.state["messages"]
    message = ToolMessage(TEXT, tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [*earlier, message, AIMessage(TEXT)]})


@tool("search")
def changing(query: str, notes: Annotated[list[Any], InjectedState("notes")]) -> str:
    """Change the state in place."""
    notes.append(TEXT)
    return TEXT


@tool("search")
def changing_messages(query: str, runtime: ToolRuntime) -> str:
    """Change a message in place."""
    runtime.state["messages"][0].content = TEXT
    return TEXT


@tool("search")
def reading_context(query: str, runtime: ToolRuntime) -> str:
    """Read whom the agent serves, as tools do."""
    return f"{runtime.context['user']}: {TEXT}"


SEALED = [
    delegating,
    delegating_by_runtime,
    labelling,
    commanding,
    changing,
    changing_messages,
    reading_context,
]


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
def emitting(query: str, runtime: ToolRuntime) -> str:
    """Emit a partial output."""
    runtime.emit_output_delta(TEXT)
    return TEXT


@tool("search")
def storing(query: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Write to the store."""
    store.put(("notes",), "found", {"text": TEXT})
    return TEXT


@tool("search")
def storing_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Write to the store by the injected runtime."""
    assert runtime.store is not None
    runtime.store.put(("notes",), "found", {"text": TEXT})
    return TEXT


@tool("search")
def storing_from_outside(query: str) -> str:
    """Write to the store of the graph."""
    get_store().put(("notes",), "found", {"text": TEXT})
    return TEXT


@tool("search")
def interrupting(query: str) -> str:
    """Ask a human."""
    return str(interrupt({"found": TEXT}))


@tool("search")
def sending(query: str, runtime: ToolRuntime) -> Command[Any]:
    """Send a node a state of its own."""
    message = ToolMessage(TEXT, tool_call_id=runtime.tool_call_id)
    sent = Send("model", {"messages": [HumanMessage(query), AIMessage(TEXT)]})
    return Command(update={"messages": [message]}, goto=[sent])


@tool("search")
def noting(query: str, runtime: ToolRuntime) -> Command[Any]:
    """Write to another key of the state."""
    message = ToolMessage("Noted.", tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [message], "notes": [TEXT]})


REFUSED = [
    delegating_with_checkpoints,
    writing,
    writing_by_runtime,
    emitting,
    storing,
    storing_by_runtime,
    storing_from_outside,
    interrupting,
    sending,
    noting,
]


class Watched:
    """All that a client is streamed, and what is kept."""

    def __init__(self, guarded: Any, mode: str, policy: Any = POLICY) -> None:
        saver, store = InMemorySaver(), InMemoryStore()
        agent = create_agent(
            AgentModel(),
            [guarded],
            middleware=[SelectiveDisclosureMiddleware(policy=policy)],
            checkpointer=saver,
            store=store,
            state_schema=State,
            context_schema=dict,
        )
        self.streamed: list[Any] = []
        options: Any = {"stream_mode": [*STREAMED, "tools"], "subgraphs": True}
        options["context"] = {"user": "ada"}
        given = {**ASK, "notes": []}

        async def collect() -> None:
            async for chunk in agent.astream(given, CONFIG, **options):
                self.streamed.append(chunk)

        try:
            if mode == "sync":
                self.streamed.extend(agent.stream(given, CONFIG, **options))
            else:
                asyncio.run(collect())
        finally:
            kept = [item.dict() for item in store.search(())]
            self.seen = str([self.streamed, saver.blobs, saver.writes, kept])


@both_modes
@pytest.mark.parametrize("guarded", SEALED, ids=lambda guarded: guarded.func.__name__)
def test_the_answer_of_a_tool_is_redacted_wherever_it_stands(mode, guarded):
    """Messages of a command, a graph that the tool asks, changes of the state."""
    seen = Watched(guarded, mode).seen

    assert "saw it" in seen
    assert NAME not in seen


@both_modes
@pytest.mark.parametrize("guarded", REFUSED, ids=lambda guarded: guarded.func.__name__)
def test_what_cannot_be_redacted_is_refused(mode, guarded):
    """By an error that says what to do; nothing of it is seen or kept."""
    watched = Watched.__new__(Watched)

    with pytest.raises(SdragError, match="guarded tool") as caught:
        watched.__init__(guarded, mode)

    assert NAME not in watched.seen + str(caught.value)
