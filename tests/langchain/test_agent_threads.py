"""Agents: a thread that several principals share shows each what may be disclosed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from langchain_sdrag import SelectiveDisclosureMiddleware
from langchain_sdrag.agent_messages import Release
from sdrag import Principal
from sdrag.engine import Engine, Request
from sdrag.state import open_state

from ..support.witness import CLERK, JUDGE, NAME, POLICY, RELEASED, TEXT

CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 25}
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


class Model(BaseChatModel):
    """Looks up whom it was asked about, and says what it found."""

    prompts: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        self.prompts.append(list(messages))
        message = AIMessage(f"It says: {messages[-1].text}")
        if isinstance(messages[-1], HumanMessage):
            call = {"name": "search", "args": {"query": NAME}, "id": "call"}
            message = AIMessage(f"I look up {NAME}.", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool("search")
def search(query: str) -> str:
    """Search."""
    return TEXT


class Thread:
    """One thread of one agent, and the prompts of its model."""

    def __init__(
        self, saver: Any = None, policy: Any = None, state: Any = None
    ) -> None:
        self.model = Model()
        self.graph = create_agent(
            self.model,
            [search],
            middleware=[
                SelectiveDisclosureMiddleware(policy=policy or POLICY, state=state)
            ],
            checkpointer=saver or InMemorySaver(),
        )

    def ask(self, principal: Principal, mode: str = "sync", *earlier: Any) -> Any:
        """Ask in the thread; return the messages that the asker is shown."""
        self.model.prompts.clear()
        asked = {"messages": [*earlier, HumanMessage("Who saw it?")]}
        context = {"principal": principal}
        if mode == "sync":
            return self.graph.invoke(asked, CONFIG, context=context)["messages"]
        answering = self.graph.ainvoke(asked, CONFIG, context=context)
        return asyncio.run(answering)["messages"]


def of_earlier_turns(messages: Any) -> list[Any]:
    """Return what stood in the thread before the last question."""
    questions = [n for n, one in enumerate(messages) if isinstance(one, HumanMessage)]
    return list(messages[: questions[-1]])


class Dynamic(AgentMiddleware):
    """Has a tool that the agent was not built with."""

    def wrap_tool_call(self, request, handler):
        return handler(request.override(tool=search))

    async def awrap_tool_call(self, request, handler):
        return await handler(request.override(tool=search))


@both_modes
def test_what_another_middleware_has_a_tool_answer_is_redacted(mode):
    """It is put there after ours has looked; the checkpointer sees what is released."""
    ours, saver = SelectiveDisclosureMiddleware(policy=POLICY), InMemorySaver()
    built = create_agent(Model(), [], middleware=[ours, Dynamic()], checkpointer=saver)
    given = {"messages": [HumanMessage("Who saw it?")]}
    if mode == "sync":
        state = built.invoke(given, CONFIG)
    else:
        state = asyncio.run(built.ainvoke(given, CONFIG))

    (answer,) = [each for each in state["messages"] if each.type == "tool"]
    assert answer.text == RELEASED
    assert TEXT not in str([*saver.list(None)])


@both_modes
def test_what_was_released_to_one_is_redacted_for_another(mode):
    """Neither the tool's answer, nor what the model said, nor the words of its call."""
    thread = Thread()
    first = thread.ask(JUDGE, mode)

    shown = thread.ask(CLERK, mode)

    assert repr(first).count(NAME) > 2
    assert NAME not in repr(of_earlier_turns(shown))
    assert thread.model.prompts
    for prompt in thread.model.prompts:
        assert NAME not in repr(of_earlier_turns(prompt))


@both_modes
def test_an_own_thread_stays_as_it_is(mode):
    """What the model said to a principal is not read again for the same principal."""
    thread = Thread()
    first = thread.ask(CLERK, mode)

    second = thread.ask(CLERK, mode)

    assert first == second[: len(first)]
    assert first[1].text == f"I look up {NAME}."
    assert first[1].tool_calls[0]["args"] == {"query": NAME}
    assert first[2].text == RELEASED


def test_the_thread_keeps_its_shape():
    """Calls and answers still belong together, so a provider accepts the thread."""
    thread = Thread()
    first = thread.ask(JUDGE)

    shown = thread.ask(CLERK)[: len(first)]

    assert [one.type for one in shown] == [one.type for one in first]
    assert [one.id for one in shown] == [one.id for one in first]
    assert shown[2].tool_call_id == shown[1].tool_calls[0]["id"]
    assert shown[1].tool_calls[0]["args"] == {}


def test_what_a_human_said_stays():
    """It is not disclosed by us."""
    shown = Thread().ask(CLERK, "sync", HumanMessage(TEXT))

    assert shown[0].text == TEXT


def test_a_summary_of_the_thread_is_no_words_of_a_human():
    """LangChain's summarizer writes it as a human's message, and says so in it."""
    summary = HumanMessage(TEXT, additional_kwargs={"lc_source": "summarization"})

    shown = Thread().ask(CLERK, "sync", summary)

    assert shown[0].text == RELEASED


def test_an_answer_without_a_mark_is_read_under_the_policy():
    """As in a thread that is older than the middleware."""
    earlier = [HumanMessage("Who?"), AIMessage(TEXT, additional_kwargs={"raw": TEXT})]

    shown = Thread().ask(CLERK, "sync", *earlier)

    assert (shown[1].text, shown[1].additional_kwargs) == (RELEASED, {})


def test_a_change_of_the_policy_has_the_thread_read_again():
    """What the last policy released to a principal, the next one may withhold."""
    saver, state = InMemorySaver(), open_state()
    Thread(saver, {"allow_empty": True}, state).ask(CLERK)

    shown = Thread(saver, POLICY, state).ask(CLERK)

    assert NAME not in repr(of_earlier_turns(shown))


@pytest.mark.parametrize(("file", "stays"), [("a.sqlite", True), ("b.sqlite", False)])
def test_a_mark_holds_wherever_the_same_state_is_opened(file, stays, tmp_path):
    """The own words of the model are read again where the state is another one."""
    saver = InMemorySaver()
    Thread(saver, state=tmp_path / "a.sqlite").ask(CLERK)

    shown = Thread(saver, state=tmp_path / file).ask(CLERK)

    assert (NAME in shown[1].text) == stays


def mark(state: Any, principal: Principal | None, text: str = TEXT) -> str:
    release = Release(Engine(POLICY, state=state), Request("", principal))
    stamped = release.stamp(AIMessage(text))
    return str(stamped.response_metadata["sdrag"])


OTHERS = {
    "nobody": None,
    "another id": replace(CLERK, id="d"),
    "another tenant": replace(CLERK, tenant="t"),
    "more roles": replace(CLERK, roles=frozenset({"judge"})),
    "another level": replace(CLERK, level=1),
    "an attribute": replace(CLERK, attributes={"desk": 1}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_mark_holds_for_one_principal_only(other):
    state = open_state()

    assert mark(state, other) != mark(state, CLERK)


def test_a_mark_cannot_be_made_or_tested_without_the_states_secret():
    """Whoever knows policy, principal and text still has no way to its mark."""
    state, another = open_state(), open_state()

    assert mark(state, CLERK) == mark(state, CLERK)
    assert mark(state, CLERK) != mark(another, CLERK)


def test_a_mark_does_not_hold_on_another_text():
    """A mark that is copied says nothing of what it is copied to."""
    release = Release(Engine(POLICY), Request("", CLERK))
    stamped = release.stamp(AIMessage(RELEASED))

    assert release.is_stamped(stamped)
    assert not release.is_stamped(stamped.model_copy(update={"content": TEXT}))
