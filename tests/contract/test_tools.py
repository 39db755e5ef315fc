"""Agents: what a tool answers is redacted before the model reads it."""

# LlamaIndex knows a parameter for the context by its annotation, not by a string.
import asyncio

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import create_retriever_tool, tool
from llama_index.core.tools import FunctionTool

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Engine, acting_as, open_state
from sdrag.pipeline import Request, disclose
from sdrag.vocabulary import Passage

from ..support.faces import Documents, Scenario
from ..support.witness import JUDGE, NAME, POLICY, RELEASED, RULE, TEXT
from ..support.wrappers import build

pytest.importorskip("langchain.agents")

from langchain.agents import create_agent

from ..leaks.agent import ASK, AgentModel

NOTHING = "Nothing was found that may be disclosed."
QUERY = f"who {NAME}"


def agent(search, policy=POLICY, **options):
    guard = build(
        langchain_sdrag.SelectiveDisclosureMiddleware, policy=policy, **options
    )
    model = AgentModel(arguments={"query": QUERY})
    return create_agent(model, [search], middleware=[guard])


def asked(built, mode, config=None, **options):
    """Return the message with the tool's answer."""
    if mode == "sync":
        state = built.invoke(ASK, config, **options)
    else:
        state = asyncio.run(built.ainvoke(ASK, config, **options))
    (message,) = [each for each in state["messages"] if each.type == "tool"]
    return message


def langchain(function, mode, policy=POLICY, **options):
    """Return what asks an agent with the function as its tool."""
    built = agent(tool("search", description="Searches.")(function), policy, **options)
    return lambda: asked(built, mode).text


def llamaindex(function, mode, policy=POLICY, **options):
    """Return what calls the guarded function."""
    inner = FunctionTool.from_defaults(function, name="search", description="Searches.")
    guarded = build(llamaindex_sdrag.guard_tool, inner, policy=policy, **options)
    if mode == "sync":
        return lambda: guarded.call(query=QUERY).content
    return lambda: asyncio.run(guarded.acall(query=QUERY)).content


both = pytest.mark.parametrize("host", [langchain, llamaindex])
modes = pytest.mark.parametrize("mode", ["sync", "async"])


def search(query: str) -> str:
    return TEXT


def fail(query: str) -> str:
    raise ValueError(TEXT)


def nobody(context):
    return None


def calculate(query: str) -> str:
    return f"It is 42, for {query}."


@both
@modes
def test_an_answer_is_redacted(host, mode):
    """Also by what is limited to some metadata, for text has none; not for a judge."""
    limited = {"constraints": [{**RULE, "where": {"kind": ["secret"]}}]}

    assert host(search, mode)() == host(search, mode, limited)() == RELEASED
    assert host(search, mode, principal_resolver=lambda _: JUDGE)() == TEXT
    with acting_as(JUDGE):
        assert host(search, mode)() == TEXT
        assert host(search, mode, principal_resolver=lambda _: None)() == RELEASED


@modes
def test_a_resolver_of_the_host_decides_alone(mode):
    """Neither the config of the call nor its context counts then."""
    built = agent(tool("search", description="S.")(search), principal_resolver=nobody)
    config = {"configurable": {"principal": JUDGE}}

    assert asked(built, mode, config, context={"principal": JUDGE}).text == RELEASED


@both
@modes
def test_a_tool_that_fails_says_nothing_of_what_it_held(host, mode):
    """Agents show errors to the model."""
    with pytest.raises(Exception, match="The tool failed with") as caught:
        host(fail, mode)()

    assert NAME not in str(caught.value)


@both
@modes
def test_a_tool_of_which_nothing_is_left_is_told_of_once(host, mode, caplog):
    """The model needs an answer; a warning names the tool, and holds no text."""
    call = host(calculate, mode, POLICY | {"relevance": {"min_score": 0.99}})
    withheld = host(search, mode, {"constraints": [{**RULE, "method": "withhold"}]})

    assert call() == call() == withheld() == NOTHING

    said, _ = [
        record.getMessage()
        for record in caplog.records
        if record.name == "sdrag" and record.levelname == "WARNING"
    ]
    assert "'search'" in said
    assert "below-floor" in said
    assert "42" not in said
    assert NAME not in said


def test_a_tool_that_is_left_out_answers_as_it_is(caplog):
    """`tools=` says which tools retrieve; the others are not touched, nor told of."""
    policy = POLICY | {"relevance": {"min_score": 0.99}}

    assert "42" in langchain(calculate, "sync", policy, tools=["other"])()
    assert "WARNING" not in caplog.text


@modes
def test_a_tools_own_events_carry_what_was_released(mode):
    """The call is traced, with its arguments and its redacted answer."""

    class Tools(BaseCallbackHandler):
        def __init__(self):
            self.seen = []

        def on_tool_start(self, *args, **kwargs):
            self.seen.append(kwargs["inputs"])

        def on_tool_end(self, output, **kwargs):
            self.seen.append(output.text)

        def on_retriever_end(self, documents, **kwargs):
            self.seen.append(documents)

    handler, found = Tools(), Scenario("agent", (Passage("p1", TEXT),))
    inner = create_retriever_tool(Documents(scenario=found), "search", "Searches.")
    asked(agent(inner), mode, {"callbacks": [handler]})

    assert handler.seen == [{"query": QUERY}, RELEASED]


@modes
def test_a_session_is_that_of_the_config(mode):
    """What it was shown elsewhere counts for what a tool returns in it."""
    boat = "The boat left Riverside Clinic on 4 May 2021."
    policy, state = {"session": {}}, open_state()
    engine = Engine(policy, state=state)
    clinic = Passage("c", "She was at Riverside Clinic on 4 May 2021.", document_id="c")
    engine.run(disclose([clinic], Request("q", session_id="s"), engine))
    found = Scenario("boat", (Passage("b", boat, document_id="b"),))
    inner = create_retriever_tool(
        Documents(scenario=found),
        "search",
        "S.",
        response_format="content_and_artifact",
    )
    built = agent(inner, policy, state=state)

    texts = [
        asked(built, mode, {"configurable": {"session_id": name}}).text for name in "st"
    ]

    assert texts == ["The boat left [organisation] on [date].", boat]
