"""Agents: what tools retrieve is redacted before model and checkpointer see it."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import create_retriever_tool, tool

from langchain_sdrag import SelectiveDisclosureMiddleware
from sdrag import Engine, Principal, acting_as, open_state
from sdrag.pipeline import Request, disclose
from sdrag.vocabulary import Passage

from ..leaks.agent import AgentModel
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


def search_tool(response_format="content_and_artifact"):
    return create_retriever_tool(
        Documents(scenario=SCENARIO),
        "search",
        "Searches.",
        response_format=response_format,
    )


def agent(*tools, checkpointer=None, **options):
    return create_agent(
        AgentModel(arguments={"query": f"who {NAME}"}),
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
        AgentModel(arguments={"query": f"who {NAME}"}),
        [search_tool("content")],
        middleware=[SelectiveDisclosureMiddleware(policy=limited)],
    )

    assert NAME not in str(retrieved(built.invoke(ASK)))


def test_what_is_withheld_leaves_a_word_to_say_so():
    """A model needs an answer to each of its calls."""
    closed = {"constraints": [{**POLICY["constraints"][0], "method": "withhold"}]}
    built = create_agent(
        AgentModel(arguments={"query": f"who {NAME}"}),
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
        AgentModel(arguments={"query": f"who {NAME}"}),
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
        AgentModel(arguments={"query": f"who {NAME}"}),
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


@both_modes
def test_a_session_is_that_of_the_config(mode):
    """What it was shown elsewhere counts for what a tool returns in it."""
    boat = "The boat left Riverside Clinic on 4 May 2021."
    policy, state = {"session": {}}, open_state()
    engine = Engine(policy, state=state)
    clinic = Passage("c", "She was at Riverside Clinic on 4 May 2021.", document_id="c")
    engine.run(disclose([clinic], Request("q", session_id="s"), engine))
    found = Scenario("boat", (Passage("b", boat, document_id="b"),), policy)
    search = create_retriever_tool(
        Documents(scenario=found),
        "search",
        "S.",
        response_format="content_and_artifact",
    )
    guard = SelectiveDisclosureMiddleware(policy=policy, state=state)
    built = create_agent(
        AgentModel(arguments={"query": "q"}), [search], middleware=[guard]
    )

    texts = []
    for name in ("s", "t"):
        done = run(built, mode, ASK, {"configurable": {"session_id": name}})
        texts += [message.text for message in retrieved(done)]

    assert texts == ["The boat left [organisation] on [date].", boat]
