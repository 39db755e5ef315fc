"""Agents: all that a guarded tool can write to, in memory and streamed, is redacted."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.tools import InjectedState, InjectedStore, ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.errors import ParentCommand
from langgraph.func import task
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Principal, acting_as
from sdrag.errors import UsageError

from ..leaks.agent import ASK, AgentModel
from ..leaks.canaries import leaked
from ..leaks.surfaces import told

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
CUT = "The witness [person] saw it."
POLICY = {
    "constraints": [
        {"id": "names", "text": "Remove the names of witnesses", "always": True}
    ]
}
STREAMED = ["values", "updates", "messages", "custom", "debug", "tools", "checkpoints"]
CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


class State(AgentState):
    """The state of an agent that takes notes."""

    notes: NotRequired[Any]


class Note(BaseModel):
    """A record of pydantic's."""

    seen: str = TEXT


@tool("search")
def puts(query: str, runtime: ToolRuntime) -> str:
    """Write to the store of the runtime."""
    runtime.store.put(("notes",), "n", {"seen": TEXT, "by": [NAME], "count": 2})
    return "saw it"


@tool("search")
def puts_injected(query: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Write to an injected store."""
    store.put(("notes",), "n", {"seen": TEXT})
    return "saw it"


@tool("search")
def puts_by_config(query: str) -> str:
    """Write to the store of the graph around."""
    get_store().put(("notes",), "n", {"seen": TEXT})
    return "saw it"


@tool("search")
def changes_an_item(query: str, runtime: ToolRuntime) -> str:
    """Change what the store returned."""
    runtime.store.get(("notes",), "kept").value["seen"] = TEXT
    runtime.store.search(("notes",))[0].value["seen"] = TEXT
    return "saw it"


@tool("search")
def changes_the_state(query: str, runtime: ToolRuntime) -> str:
    """Change the state in place."""
    runtime.state["messages"][0].content = TEXT
    runtime.state["messages"].append(AIMessage(TEXT))
    runtime.state["notes"].append(TEXT)
    return "saw it"


@tool("search")
def changes_injected_state(
    query: str,
    state: Annotated[dict, InjectedState],
    notes: Annotated[list, InjectedState("notes")],
) -> str:
    """Change the injected state, and one field of it."""
    state["messages"][0].content = TEXT
    notes.append(TEXT)
    return "saw it"


@tool("search")
def reads_a_channel(query: str) -> str:
    """Change what the wiring of the graph returns."""
    get_config()["configurable"]["__pregel_read"]("notes").append(TEXT)
    return "saw it"


@tool("search")
def sends_to_a_channel(query: str) -> str:
    """Write by the wiring of the graph."""
    get_config()["configurable"]["__pregel_send"]([("notes", [TEXT])])
    return "saw it"


@tool("search")
def streams(query: str) -> str:
    """Write to the stream."""
    get_stream_writer()({"found": TEXT, NAME: 1, "record": Note()})
    get_stream_writer()(TEXT)
    return "saw it"


@tool("search")
def streams_output(query: str, runtime: ToolRuntime) -> str:
    """Stream the answer in parts."""
    runtime.emit_output_delta(TEXT)
    return "saw it"


@tool("search")
def updates(query: str, runtime: ToolRuntime) -> Command[Any]:
    """Write to the state by a command."""
    messages = [
        ToolMessage(TEXT, tool_call_id=runtime.tool_call_id, artifact={"raw": TEXT}),
        AIMessage(TEXT, id=f"to {NAME}", additional_kwargs={"raw": TEXT}),
    ]
    return Command(update={"messages": messages, "notes": [Note(), {"seen": TEXT}]})


@tool("search")
def answers_twice(query: str, runtime: ToolRuntime) -> Any:
    """Answer with a message and a command."""
    answer = ToolMessage(TEXT, tool_call_id=runtime.tool_call_id)
    return [answer, Command(update={"notes": [TEXT]})]


@tool("search")
def mislabels(query: str) -> ToolMessage:
    """Put text into the id of the call."""
    return ToolMessage(TEXT, tool_call_id=f"call of {NAME}", id=NAME, name=NAME)


@tool("search", response_format="content_and_artifact")
def attaches(query: str) -> Any:
    """Attach what is no document."""
    return TEXT, {"raw": TEXT}


@tool("search")
def asks(query: str) -> str:
    """Ask a human."""
    answer = interrupt({"seen": TEXT, "options": ["yes", "no"]})
    return f"The human said {answer}."


WRITING = [
    puts,
    puts_injected,
    puts_by_config,
    changes_an_item,
    changes_the_state,
    changes_injected_state,
    reads_a_channel,
    sends_to_a_channel,
    streams,
    streams_output,
    updates,
    answers_twice,
    mislabels,
    attaches,
    asks,
]


def asked() -> dict[str, Any]:
    """A question of its own: a tool could change the one that all tests share."""
    return {**deepcopy(ASK), "notes": []}


class Watched:
    """An agent of one tool, and all that it leaves behind."""

    def __init__(self, guarded: Any, policy: Any = None) -> None:
        self.saver, self.store = InMemorySaver(), InMemoryStore()
        self.store.put(("notes",), "kept", {"seen": "nothing"})
        self.graph = create_agent(
            AgentModel(),
            [guarded],
            middleware=[SelectiveDisclosureMiddleware(policy=policy or POLICY)],
            checkpointer=self.saver,
            store=self.store,
            state_schema=State,
        )

    def streamed(self, mode: str, given: Any = None) -> list[Any]:
        start: Any = asked() if given is None else given
        options: Any = {"stream_mode": STREAMED, "subgraphs": True}

        async def collected() -> list[Any]:
            return [one async for one in self.graph.astream(start, CONFIG, **options)]

        if mode == "sync":
            return list(self.graph.stream(start, CONFIG, **options))
        return asyncio.run(collected())

    def items(self) -> dict[str, Any]:
        return {item.key: item.value for item in self.store.search(())}

    def kept(self) -> str:
        checkpoints = list(self.saver.list(CONFIG))
        stored = [self.saver.blobs, self.saver.writes, self.items(), checkpoints]
        return repr(stored) + repr(self.graph.get_state(CONFIG))


@both_modes
@pytest.mark.parametrize("guarded", WRITING, ids=lambda one: one.func.__name__)
def test_nothing_that_a_tool_writes_is_raw(mode, guarded):
    """Neither stream, nor checkpoints, nor store, nor state hold what is withheld."""
    watched = Watched(guarded)

    seen = watched.streamed(mode)

    assert "search" in repr(seen)
    assert NAME not in repr(seen)
    assert NAME not in watched.kept()


@both_modes
def test_a_store_holds_what_may_be_disclosed(mode):
    """A value keeps its shape, and its texts are redacted."""
    watched = Watched(puts)

    watched.streamed(mode)

    assert watched.items()["n"] == {"seen": CUT, "by": ["[person]"], "count": 2}


async def test_an_async_tool_writes_to_the_store_like_any_other():
    @tool("search")
    async def writes(query: str, runtime: ToolRuntime) -> str:
        """Write to the store."""
        await runtime.store.aput(("notes",), "n", {"seen": TEXT})
        found = await runtime.store.aget(("notes",), "kept")
        found.value["seen"] = TEXT
        return "saw it"

    watched = Watched(writes)

    await watched.graph.ainvoke(asked(), CONFIG)

    assert watched.items() == {"n": {"seen": CUT}, "kept": {"seen": "nothing"}}


@both_modes
@pytest.mark.parametrize(
    ("namespace", "key"), [(("notes", NAME), "n"), (("notes",), f"of {NAME}")]
)
def test_a_store_refuses_a_label_that_may_not_be_disclosed(mode, namespace, key):
    """A namespace or a key cannot be redacted: the item would not be found again."""

    @tool("search")
    def labels(query: str, runtime: ToolRuntime) -> str:
        """Write under a name."""
        runtime.store.put(namespace, key, {"seen": "nothing"})
        return "saw it"

    watched = Watched(labels)

    with pytest.raises(UsageError, match="a namespace or a key") as caught:
        watched.streamed(mode)

    assert NAME not in str(caught.value)
    assert set(watched.items()) == {"kept"}


@pytest.mark.parametrize(
    ("namespace", "key", "accepted"),
    [
        (("notes", NAME), "n", True),
        (("notes", NAME), "k", True),
        (("notes", NAME), "k 12", True),
        (("memories", NAME), "profile", True),
        ((NAME,), "1", True),
        ((NAME, "notes"), "x", True),
        (("notes",), NAME, True),
        (("notes", "Firm of Sven Lindqvist"), "n", True),
        (("Firm of Sven Lindqvist", NAME), "n1", True),
        (("notes", f"of {NAME}"), "n", False),
        (("notes", f"Anna {NAME}"), "n", False),
        (("notes", NAME), f"about Anna {NAME}", False),
        (("notes", NAME), "Sven Lindqvist", False),
        (("notes", "Sven Lindqvist"), "n", False),
    ],
)
def test_a_store_accepts_the_principals_own_name(namespace, key, accepted):
    """The id or the tenant of the principal as a label; no other name."""

    @tool("search")
    def labels(query: str, runtime: ToolRuntime) -> str:
        """Write under the principal."""
        runtime.store.put(namespace, key, {"seen": TEXT})
        return "saw it"

    watched = Watched(labels)

    with acting_as(Principal(NAME, tenant="Firm of Sven Lindqvist")):
        if accepted:
            watched.streamed("sync")
        else:
            with pytest.raises(UsageError, match="a namespace or a key"):
                watched.streamed("sync")

    kept = {"kept": {"seen": "nothing"}}
    assert watched.items() == (kept | {key: {"seen": CUT}} if accepted else kept)


@both_modes
def test_what_a_tool_streams_arrives_redacted_when_it_ends(mode):
    seen = Watched(streams).streamed(mode)

    custom = [payload for _, kind, payload in seen if kind == "custom"]
    assert custom == [{"found": CUT, "record": {"seen": CUT}}, CUT]


@both_modes
def test_partial_output_arrives_redacted(mode):
    seen = Watched(streams_output).streamed(mode)

    parts = [payload for _, kind, payload in seen if kind == "tools"]
    deltas = [one["delta"] for one in parts if one["event"] == "tool-output-delta"]
    assert deltas == [CUT]


@both_modes
def test_a_command_writes_what_may_be_disclosed(mode):
    """Messages are built anew of their text, and records become mappings."""
    watched = Watched(updates)

    watched.streamed(mode)

    state = watched.graph.get_state(CONFIG).values
    answer, remark = state["messages"][2:4]
    assert state["notes"] == [{"seen": CUT}, {"seen": CUT}]
    assert (answer.text, answer.artifact) == (CUT, None)
    assert (remark.text, remark.additional_kwargs) == (CUT, {})


@both_modes
def test_an_interrupted_tool_resumes_with_the_humans_answer(mode):
    """The human reads a redacted question; the graph goes on by the same id."""
    watched = Watched(asks)

    seen = watched.streamed(mode)
    (question,) = watched.graph.get_state(CONFIG).interrupts
    watched.streamed(mode, Command(resume={question.id: "yes"}))

    assert question.value == {"seen": CUT, "options": ["yes", "no"]}
    assert repr(question) in repr(seen)
    answer = watched.graph.get_state(CONFIG).values["messages"][2]
    assert answer.text == "The human said yes."


@both_modes
def test_a_tool_that_asks_twice_is_answered_twice(mode):
    @tool("search")
    def asks_twice(query: str) -> str:
        """Ask a human two things."""
        return f"{interrupt(TEXT)}, then {interrupt('And now?')}."

    watched = Watched(asks_twice)

    watched.streamed(mode)
    watched.streamed(mode, Command(resume="first"))
    watched.streamed(mode, Command(resume="second"))

    answer = watched.graph.get_state(CONFIG).values["messages"][2]
    assert answer.text == "first, then second."


def test_the_schema_of_an_answer_stays_where_it_says_nothing():
    """A schema that names what is withheld is left out."""
    plain = {"type": "string"}

    @tool("search")
    def asks_for(query: str) -> str:
        """Ask with a schema."""
        schema = plain if query == "plain" else {"enum": [NAME]}
        return str(interrupt("Go on?", response_schema=schema))

    def question(query):
        graph = Watched(asks_for).graph
        call = {"name": "search", "args": {"query": query}, "id": "c"}
        messages = [HumanMessage("q"), AIMessage("", tool_calls=[call])]
        graph.update_state(CONFIG, {"messages": messages}, as_node="model")
        graph.invoke(None, CONFIG)
        return graph.get_state(CONFIG).interrupts[0]

    assert question("plain").response_schema == plain
    assert question("other").response_schema is None


@both_modes
def test_a_task_of_the_graph_is_refused(mode):
    """Its result would be checkpointed as it is."""

    @task
    def look_up(query: str) -> str:
        return TEXT

    @tool("search")
    def runs_a_task(query: str) -> str:
        """Run a task."""
        return str(look_up(query).result())

    watched = Watched(runs_a_task)

    with pytest.raises(UsageError, match="a task of the graph") as caught:
        watched.streamed(mode)

    assert NAME not in watched.kept() + str(told(caught.value))


@both_modes
def test_a_command_to_the_graph_around_is_redacted(mode):
    """A tool may raise it instead of returning it."""

    @tool("search")
    def hands_over(query: str) -> str:
        """Hand over to another agent."""
        update = {"notes": [TEXT], "messages": [AIMessage(TEXT)]}
        raise ParentCommand(Command(graph=Command.PARENT, goto="other", update=update))

    saver = InMemorySaver()
    outer = StateGraph(State)
    outer.add_node("agent", Watched(hands_over).graph)
    outer.add_node("other", lambda state: {"notes": [*state["notes"], "done"]})
    outer.add_edge(START, "agent")
    graph = outer.compile(checkpointer=saver)

    if mode == "sync":
        state = graph.invoke(asked(), CONFIG)
    else:
        state = asyncio.run(graph.ainvoke(asked(), CONFIG))

    assert state["notes"] == [CUT, "done"]
    assert NAME not in repr(state) + repr(saver.blobs) + repr(saver.writes)


def test_what_cannot_be_copied_is_not_handed_to_a_tool():
    """A tool that got the state itself could change it in place."""

    @tool("search")
    def reads(query: str, runtime: ToolRuntime) -> str:
        """Read the state."""
        return "saw it"

    graph = create_agent(
        AgentModel(),
        [reads],
        middleware=[SelectiveDisclosureMiddleware(policy=POLICY)],
        state_schema=State,
    )

    with pytest.raises(UsageError, match="cannot be copied") as caught:
        graph.invoke({**asked(), "notes": (note for note in [TEXT])})

    assert not leaked(told(caught.value))


def test_an_error_of_a_store_says_nothing():
    """The store of the host may quote what it was given."""

    class Broken(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            raise ValueError(TEXT)

    @tool("search")
    def writes(query: str, runtime: ToolRuntime) -> str:
        """Write to a store that fails."""
        runtime.store.put(("notes",), "n", {"seen": TEXT})
        return "saw it"

    graph = create_agent(
        AgentModel(),
        [writes],
        middleware=[SelectiveDisclosureMiddleware(policy=POLICY)],
        store=Broken(),
    )

    with pytest.raises(Exception, match="The tool failed with ValueError") as caught:
        graph.invoke(ASK)

    assert NAME not in str(told(caught.value))
