"""What a tool of a LangChain agent can write to, and what a shared thread shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState, create_agent
from langchain.tools import InjectedState, InjectedStore, ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Principal, SdragError

from ..support.doubles import LangChainModel
from .agent import AgentModel
from .canaries import CLEAN, QUERY, RAW, SETTINGS, TEXT, reply
from .subject import Channel
from .surfaces import told

CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
STREAMED = ["values", "updates", "messages", "custom", "debug", "tools", "checkpoints"]
JUDGE, CLERK = Principal("j", roles=frozenset({"judge"})), Principal("c")
SHARED = {
    **SETTINGS,
    "constraints": [{**SETTINGS["constraints"][0], "unless": {"roles": ["judge"]}}],
}


class State(AgentState):
    """The state of an agent that takes notes."""

    notes: NotRequired[Any]


@tool("search", response_format="content_and_artifact")
def answering(query: str) -> Any:
    """Answer, with an attachment."""
    return RAW, {"raw": RAW}


@tool("search")
def naming(query: str) -> ToolMessage:
    """Put text into ids and names."""
    return ToolMessage(CLEAN, tool_call_id=TEXT, id=TEXT, name=TEXT)


@tool("search")
def commanding(query: str, runtime: ToolRuntime) -> Any:
    """Write by a command."""
    messages = [ToolMessage(RAW, tool_call_id=runtime.tool_call_id), AIMessage(RAW)]
    return Command(update={"messages": messages, "notes": {"seen": RAW}})


@tool("search")
def changing(query: str, notes: Annotated[list, InjectedState("notes")]) -> str:
    """Change the state in place."""
    notes.append(RAW)
    get_config()["configurable"]["__pregel_read"]("notes").append(RAW)
    return CLEAN


@tool("search")
def changing_messages(query: str, runtime: ToolRuntime) -> str:
    """Change a message in place."""
    runtime.state["messages"][0].content = RAW
    return CLEAN


@tool("search")
def storing(
    query: str, runtime: ToolRuntime, store: Annotated[Any, InjectedStore()]
) -> str:
    """Write to the store, and change what it returned."""
    for way, own in enumerate((runtime.store, store, get_store())):
        own.put(("notes",), str(way), {"seen": [RAW]})
        own.get(("notes",), "kept").value["seen"] = RAW
    return CLEAN


@tool("search")
def streaming(query: str, runtime: ToolRuntime) -> str:
    """Write to the stream."""
    get_stream_writer()({"seen": RAW})
    runtime.stream_writer(RAW)
    runtime.emit_output_delta(RAW)
    return CLEAN


@tool("search")
def asking(query: str) -> str:
    """Ask a human."""
    return str(interrupt({"seen": RAW}))


@tool("search")
def sending(query: str) -> str:
    """Write to a channel of the graph."""
    get_config()["configurable"]["__pregel_send"]([("notes", [RAW])])
    return CLEAN


@tool("search")
def sharing(query: str, runtime: ToolRuntime) -> str:
    """Write to an object of the host."""
    runtime.context["seen"] = RAW
    return CLEAN


def _agent(guarded: Any, policy: Any = SETTINGS) -> Any:
    saver, store = InMemorySaver(), InMemoryStore()
    store.put(("notes",), "kept", {"seen": CLEAN})
    graph = create_agent(
        AgentModel(),
        [guarded],
        middleware=[
            SelectiveDisclosureMiddleware(
                policy=policy, llm=LangChainModel(reply=reply)
            )
        ],
        checkpointer=saver,
        store=store,
        state_schema=State,
    )
    return graph, saver, store


def _kept(graph: Any, saver: Any, store: Any) -> list[Any]:
    items = [item.dict() for item in store.search(())]
    return [saver.blobs, saver.writes, items, graph.get_state(CONFIG)]


def _asked(question: str = QUERY) -> dict[str, Any]:
    return {"messages": [HumanMessage(question)], "notes": []}


def _used(guarded: Any) -> list[Any]:
    """Return all that was seen; a refusal by an error is seen too."""
    graph, saver, store = _agent(guarded)
    context, seen = {"seen": CLEAN}, list[Any]()
    options: Any = {"context": context, "stream_mode": STREAMED, "subgraphs": True}
    try:
        seen.extend(graph.stream(_asked(), CONFIG, **options))
    except SdragError as refusal:
        seen.append(told(refusal))
    return [seen, context, *_kept(graph, saver, store)]


async def _aused(guarded: Any) -> list[Any]:
    graph, saver, store = _agent(guarded)
    context, seen = {"seen": CLEAN}, list[Any]()
    options: Any = {"context": context, "stream_mode": STREAMED, "subgraphs": True}
    try:
        async for chunk in graph.astream(_asked(), CONFIG, **options):
            seen.append(chunk)
    except SdragError as refusal:
        seen.append(told(refusal))
    return [seen, context, *_kept(graph, saver, store)]


def _tool_channel(name: str, *tools: Any, open_since: str = "") -> list[Channel]:
    return [
        Channel(
            "langchain",
            name,
            {"sync": partial(_used, one), "async": partial(_aused, one)},
            open_since,
        )
        for one in tools
    ]


def _turns(looked_at: Callable[[Any, list[Any]], Any], question: str = QUERY) -> Any:
    """Have the judge ask, then the clerk; look at what the clerk's turn showed."""

    def sync() -> Any:
        graph, *_ = _agent(answering, SHARED)
        graph.invoke(_asked(question), CONFIG, context={"principal": JUDGE})
        options: Any = {"context": {"principal": CLERK}, "stream_mode": "values"}
        return looked_at(graph, list(graph.stream(_asked(), CONFIG, **options)))

    async def concurrent() -> Any:
        graph, *_ = _agent(answering, SHARED)
        await graph.ainvoke(_asked(question), CONFIG, context={"principal": JUDGE})
        options: Any = {"context": {"principal": CLERK}, "stream_mode": "values"}
        seen = [one async for one in graph.astream(_asked(), CONFIG, **options)]
        return looked_at(graph, seen)

    return {"sync": sync, "async": concurrent}


LANGCHAIN_CHANNELS = (
    *_tool_channel("answer, attachments, blocks", answering),
    *_tool_channel("ids and names of messages", naming),
    *_tool_channel("command, events for other steps", commanding),
    *_tool_channel("state, changed in place", changing, changing_messages),
    *_tool_channel("store, state that is kept", storing),
    *_tool_channel("stream", streaming),
    *_tool_channel("question to a human", asking),
    *_tool_channel("wiring of the graph", sending),
    *_tool_channel(
        "objects of the host",
        sharing,
        open_since="the runtime context is the host's own object, and is not copied",
    ),
    Channel(
        "langchain",
        "prompt of another principal",
        _turns(lambda _, seen: seen[-1]["messages"][-1]),
    ),
    Channel(
        "langchain",
        "thread, as it is shown to another principal",
        _turns(lambda _, seen: seen[-1]),
    ),
    Channel(
        "langchain",
        "thread, before the middleware runs",
        _turns(lambda _, seen: seen[0]),
        "a stream of `values` begins with the thread as it is stored",
    ),
    Channel(
        "langchain",
        "older checkpoints, the memory itself",
        _turns(
            lambda graph, _: [one.values for one in graph.get_state_history(CONFIG)]
        ),
        "the history of a thread is the host's",
    ),
    Channel(
        "langchain",
        "words of a human",
        _turns(lambda _, seen: seen[-1], question=RAW),
        "what a human says is not redacted",
    ),
)
