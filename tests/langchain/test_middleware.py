"""Agents: what tools retrieve is redacted before model and checkpointer see it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Principal, acting_as
from sdrag.vocabulary import Passage

from ..support.faces import Documents, Scenario
from ..support.wrappers import build

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
POLICY = {
    "constraints": [
        {
            "id": "names",
            "text": "Remove the names of witnesses",
            "always": True,
            "unless": {"roles": ["judge"]},
        }
    ]
}
JUDGE = Principal("j", roles=frozenset({"judge"}))
SCENARIO = Scenario("agent", (Passage("p1", TEXT),), POLICY)
ASK = {"messages": [HumanMessage("Who saw it?")]}


class AgentModel(BaseChatModel):
    """Calls the tool on every question, then answers with all that it was given."""

    arguments: dict[str, Any] = Field(default_factory=lambda: {"query": f"who {NAME}"})
    prompts: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, *args, **kwargs):
        self.prompts.append(messages)
        if isinstance(messages[-1], HumanMessage):
            call = {"name": "search", "args": self.arguments, "id": "call"}
            message = AIMessage(content="", tool_calls=[call])
        else:
            found = [m.text for m in messages if isinstance(m, ToolMessage)]
            message = AIMessage(content=" | ".join(map(str, found)))
        return ChatResult(generations=[ChatGeneration(message=message)])


def search_tool(response_format="content_and_artifact"):
    return create_retriever_tool(
        Documents(scenario=SCENARIO),
        "search",
        "Searches.",
        response_format=response_format,
    )


def agent(*tools, checkpointer=None, **options):
    return create_agent(
        AgentModel(),
        list(tools) or [search_tool()],
        middleware=[build(SelectiveDisclosureMiddleware, policy=POLICY, **options)],
        checkpointer=checkpointer,
    )


def run(built, mode, given, config=None, **options):
    if mode == "sync":
        return built.invoke(given, config, **options)
    return asyncio.run(built.ainvoke(given, config, **options))


both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


def retrieved(state):
    return [m for m in state["messages"] if isinstance(m, ToolMessage)]


@both_modes
@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
def test_content_and_artifact_are_redacted(mode, response_format):
    """Neither the text that the model reads nor the documents beside it are raw."""
    state = run(agent(search_tool(response_format)), mode, ASK)

    (message,) = retrieved(state)
    assert "saw it" in message.text
    assert NAME not in str(message)
    assert NAME not in str(message.artifact)
    assert (message.artifact is None) == (response_format == "content")


@both_modes
def test_the_tools_own_events_carry_what_was_released(mode):
    """The call is traced, with its arguments and its redacted answer."""

    class Tools(BaseCallbackHandler):
        def __init__(self):
            self.seen = []

        def on_tool_start(self, *args, **kwargs):
            self.seen.append(("start", kwargs["inputs"]))

        def on_tool_end(self, output, **kwargs):
            self.seen.append(("end", str(output)))

        def on_retriever_end(self, documents, **kwargs):
            self.seen.append(("retrieved", str(documents)))

    handler = Tools()
    run(agent(), mode, ASK, {"callbacks": [handler]})

    assert [name for name, _ in handler.seen] == ["start", "end"]
    assert handler.seen[0][1] == {"query": f"who {NAME}"}
    assert "saw it" in handler.seen[1][1]
    assert f"Anna {NAME}" not in handler.seen[1][1]


@both_modes
def test_tool_messages_of_every_turn_are_redacted(mode):
    """Also those that stood in the history before the middleware was added."""
    earlier = [
        HumanMessage("Earlier?", id="1"),
        AIMessage("", id="2", tool_calls=[{"name": "search", "args": {}, "id": "c0"}]),
        ToolMessage(TEXT, id="3", name="search", tool_call_id="c0", artifact=object()),
        AIMessage("Yes.", id="4"),
        HumanMessage("And now?", id="5"),
    ]
    built = agent()

    state = run(built, mode, {"messages": earlier})

    assert len(retrieved(state)) == 2
    assert not any(f"Anna {NAME}" in str(message) for message in retrieved(state))
    assert f"Anna {NAME}" not in str(state["messages"][-1])


@both_modes
def test_the_principal_stands_in_the_runtime_context(mode):
    """And what was redacted for one principal is judged again for another."""
    built = agent(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}

    first = run(built, mode, ASK, config, context={"principal": JUDGE})
    second = run(built, mode, ASK, config, context={"principal": Principal("c")})

    assert NAME in retrieved(first)[0].text
    assert not any(NAME in message.text for message in retrieved(second))


@both_modes
def test_a_resolver_of_the_host_decides_alone(mode):
    """Neither the config of the call nor the context around it counts then."""
    built = agent(principal_resolver=lambda context: None)
    config = {"configurable": {"principal": JUDGE}}

    with acting_as(JUDGE):
        state = run(built, mode, ASK, config, context={"principal": JUDGE})

    assert NAME not in retrieved(state)[0].text


@both_modes
def test_a_tool_that_fails_says_nothing_of_what_it_held(mode):
    """Agents show error texts to the model."""

    @tool
    def search(query: str) -> str:
        """Look something up."""
        raise ValueError(TEXT)

    with pytest.raises(Exception, match="The tool failed with") as caught:
        run(agent(search), mode, ASK)

    assert NAME not in str(caught.value)


def test_a_constraint_for_some_metadata_holds_for_text_without_any():
    """The content of a tool says nothing of where it comes from."""
    limited = {
        "constraints": [{**POLICY["constraints"][0], "where": {"kind": ["secret"]}}]
    }
    built = create_agent(
        AgentModel(),
        [search_tool("content")],
        middleware=[SelectiveDisclosureMiddleware(policy=limited)],
    )

    assert NAME not in str(retrieved(built.invoke(ASK)))


def test_what_is_withheld_leaves_a_word_to_say_so():
    """A model needs an answer to each of its calls."""
    closed = {"constraints": [{**POLICY["constraints"][0], "method": "withhold"}]}
    built = create_agent(
        AgentModel(),
        [search_tool()],
        middleware=[SelectiveDisclosureMiddleware(policy=closed)],
    )

    (message,) = retrieved(built.invoke(ASK))

    assert message.text == "Nothing was found that may be disclosed."
    assert message.artifact == []


@tool
def calculator(query: str) -> str:
    """Calculate."""
    return f"It is 42, for {query}."


def warned(caplog):
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "sdrag" and record.levelname == "WARNING"
    ]


@both_modes
def test_a_tool_of_which_nothing_is_left_is_told_of_once(mode, caplog):
    """By a warning that names the tool and the argument, and holds no text."""
    calculator.name = "search"
    policy = POLICY | {"relevance": {"min_score": 0.99}}
    built = create_agent(
        AgentModel(),
        [calculator],
        middleware=[SelectiveDisclosureMiddleware(policy=policy)],
    )

    for _ in range(2):
        (message,) = retrieved(run(built, mode, ASK))
        assert message.text == "Nothing was found that may be disclosed."

    (said,) = warned(caplog)
    assert "'search'" in said
    assert "tools=[...]" in said
    assert "below-floor" in said
    assert "42" not in said
    assert NAME not in said


@both_modes
def test_a_tool_that_is_left_out_answers_as_it_is(mode, caplog):
    """`tools=` says which tools retrieve; the others are not touched, nor told of."""
    calculator.name = "search"
    built = create_agent(
        AgentModel(),
        [calculator],
        middleware=[
            SelectiveDisclosureMiddleware(
                policy=POLICY | {"relevance": {"min_score": 0.99}}, tools=["other"]
            )
        ],
    )

    (message,) = retrieved(run(built, mode, ASK))

    assert "42" in message.text
    assert warned(caplog) == []
