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
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send, interrupt

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Principal, SdragError

from ..support.doubles import LangChainModel
from .agent import AgentModel
from .canaries import CLEAN, QUERY, RAW, SETTINGS, TEXT, reply
from .subject import Channel
from .surfaces import told

ANSWERED = "saw two men unload crates at dawn"
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
def reading_context(query: str, runtime: ToolRuntime) -> str:
    """Read whom the agent serves, as tools do."""
    return f"{runtime.context['seen']}: {RAW}"


def _delegate(query: str, config: Any = None, **options: Any) -> str:
    """Ask a graph of its own, such as an agent that serves another as a tool."""
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda _: {"messages": [AIMessage(RAW)]})
    compiled = graph.add_edge(START, "answer").compile(**options)
    state = compiled.invoke({"messages": [HumanMessage(query)]}, config)
    return str(state["messages"][-1].text)


@tool("search")
def delegating(query: str) -> str:
    """Ask another graph."""
    return _delegate(query)


@tool("search")
def delegating_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Ask another graph, with the injected config."""
    return _delegate(query, runtime.config)


@tool("search")
def delegating_with_checkpoints(query: str, runtime: ToolRuntime) -> str:
    """Ask another graph that keeps checkpoints where the agent does."""
    return _delegate(query, runtime.config, checkpointer=True)


@tool("search")
def naming(query: str) -> ToolMessage:
    """Put text into ids and names."""
    return ToolMessage(RAW, tool_call_id=TEXT, id=TEXT, name=TEXT)


@tool("search")
def commanding(query: str, runtime: ToolRuntime) -> Any:
    """Answer by a command with messages, as a hand-over does."""
    earlier = runtime.state["messages"]
    message = ToolMessage(RAW, tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [*earlier, message, AIMessage(RAW)]})


@tool("search")
def noting(query: str, runtime: ToolRuntime) -> Any:
    """Write to another key of the state."""
    message = ToolMessage(CLEAN, tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [message], "notes": {"seen": RAW}})


@tool("search")
def going(query: str, runtime: ToolRuntime) -> Any:
    """Send a node a state of its own."""
    message = ToolMessage(RAW, tool_call_id=runtime.tool_call_id)
    sent = Send("model", {"messages": [HumanMessage(query), AIMessage(RAW)]})
    return Command(update={"messages": [message]}, goto=[sent])


@tool("search")
def changing(query: str, notes: Annotated[list, InjectedState("notes")]) -> str:
    """Change the state in place."""
    notes.append(RAW)
    return RAW


@tool("search")
def changing_messages(query: str, runtime: ToolRuntime) -> str:
    """Change a message in place."""
    runtime.state["messages"][0].content = RAW
    return RAW


def _store(store: Any) -> str:
    store.put(("notes",), "found", {"seen": [RAW]})
    store.get(("notes",), "kept").value["seen"] = RAW
    return RAW


@tool("search")
def storing(query: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Write to the store, and change what it returned."""
    return _store(store)


@tool("search")
def storing_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Write to the store of the runtime."""
    return _store(runtime.store)


@tool("search")
def storing_from_outside(query: str) -> str:
    """Write to the store of the graph."""
    return _store(get_store())


@tool("search")
def streaming(query: str) -> str:
    """Write to the stream."""
    get_stream_writer()({"seen": RAW})
    return RAW


@tool("search")
def streaming_by_runtime(query: str, runtime: ToolRuntime) -> str:
    """Write to the stream of the runtime."""
    runtime.stream_writer(RAW)
    return RAW


@tool("search")
def emitting(query: str, runtime: ToolRuntime) -> str:
    """Emit a partial output."""
    runtime.emit_output_delta(RAW)
    return RAW


@tool("search")
def asking(query: str) -> str:
    """Ask a human."""
    return str(interrupt({"seen": RAW}))


@tool("search")
def sending(query: str) -> str:
    """Write to a channel of the graph."""
    get_config()["configurable"]["__pregel_send"]([("notes", [RAW])])
    return RAW


@tool("search")
def reading(query: str) -> str:
    """Change what a channel of the graph holds."""
    get_config()["configurable"]["__pregel_read"]("notes").append(RAW)
    return RAW


@tool("search")
def sharing(query: str, runtime: ToolRuntime) -> str:
    """Write to an object of the host."""
    runtime.context["seen"] = RAW
    return RAW


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


async def _used(guarded: Any, *, is_async: bool) -> list[Any]:
    """Return all that was seen; a refusal by an error is seen too."""
    graph, saver, store = _agent(guarded)
    context, seen = {"seen": CLEAN}, list[Any]()
    options: Any = {"context": context, "stream_mode": STREAMED, "subgraphs": True}
    try:
        if is_async:
            async for chunk in graph.astream(_asked(), CONFIG, **options):
                seen.append(chunk)
        else:
            seen.extend(graph.stream(_asked(), CONFIG, **options))
    except SdragError as refusal:
        seen.append(told(refusal))
    return [seen, context, *_kept(graph, saver, store)]


def _tool_channel(
    name: str, *tools: Any, open_since: str = "", refused: bool = False
) -> list[Channel]:
    return [
        Channel(
            "langchain",
            name,
            {
                "sync": partial(_used, one, is_async=False),
                "async": partial(_used, one, is_async=True),
            },
            open_since,
            ANSWERED if not refused else "guarded tool",
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
    *_tool_channel(
        "answer, attachments, blocks",
        answering,
        reading_context,
        delegating,
        delegating_by_runtime,
    ),
    *_tool_channel("ids and names of messages", naming),
    *_tool_channel("command, events for other steps", commanding),
    *_tool_channel("command, events for other steps", noting, going, refused=True),
    *_tool_channel("state, changed in place", changing, changing_messages),
    *_tool_channel(
        "store, state that is kept",
        storing,
        storing_by_runtime,
        storing_from_outside,
        delegating_with_checkpoints,
        refused=True,
    ),
    *_tool_channel("stream", streaming, streaming_by_runtime, emitting, refused=True),
    *_tool_channel("question to a human", asking, refused=True),
    *_tool_channel("wiring of the graph", sending, reading, refused=True),
    *_tool_channel(
        "objects of your application",
        sharing,
        open_since="the runtime context is your application's, and is not copied",
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
        "the history of a thread is your application's",
    ),
    Channel(
        "langchain",
        "words of a human",
        _turns(lambda _, seen: seen[-1], question=RAW),
        "what a human says is not redacted",
    ),
)
