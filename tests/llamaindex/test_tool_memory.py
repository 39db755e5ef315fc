"""Agents: a chat memory that principals share shows each what may be disclosed."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool

from llamaindex_sdrag import guard_memory, guard_tool
from sdrag import Principal, acting_as
from sdrag.errors import UsageError

from ..support.doubles import LlamaIndexModel

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
CUT = "The witness [person] saw it."
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
CLERK = Principal("c")
both_modes = pytest.mark.parametrize("mode", ["sync", "async"])


def memory(**options: Any) -> Any:
    return guard_memory(
        ChatMemoryBuffer.from_defaults(token_limit=10_000), policy=POLICY, **options
    )


def put(kept: Any, mode: str, *messages: ChatMessage) -> None:
    if mode == "sync":
        kept.put_messages(list(messages))
    else:
        asyncio.run(kept.aput_messages(list(messages)))


def read(kept: Any, mode: str, *, whole: bool = False) -> list[ChatMessage]:
    if mode == "sync":
        return kept.get_all() if whole else kept.get()
    return asyncio.run(kept.aget_all() if whole else kept.aget())


def answer(text: str = TEXT, role: str = "assistant") -> ChatMessage:
    return ChatMessage(role=role, content=text)


def search(query: str) -> str:
    """Search."""
    return TEXT


@both_modes
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_what_was_released_to_one_is_redacted_for_another(mode, whole, role):
    kept = memory()
    with acting_as(JUDGE):
        put(kept, mode, answer(role=role))

    with acting_as(CLERK):
        (shown,) = read(kept, mode, whole=whole)

    assert (shown.role.value, shown.content) == (role, CUT)
    assert NAME not in repr(shown.model_dump())


@both_modes
def test_an_own_memory_stays_as_it_is(mode):
    """The memory is not changed by who else reads it."""
    kept = memory()
    with acting_as(JUDGE):
        put(kept, mode, answer())
    with acting_as(CLERK):
        read(kept, mode)

    with acting_as(JUDGE):
        (shown,) = read(kept, mode)

    assert shown == answer()


@pytest.mark.parametrize("role", ["user", "system"])
def test_what_a_user_or_the_host_says_stays(role):
    kept = memory()
    kept.put(answer(role=role))

    assert kept.get() == [answer(role=role)]


def test_calls_keep_their_shape():
    """Their arguments are redacted for another principal, their ids are not."""
    block = ToolCallBlock(
        tool_call_id="call", tool_name="search", tool_kwargs={"query": NAME}
    )
    found = ChatMessage(
        role="tool", content=TEXT, additional_kwargs={"tool_call_id": "call", "x": NAME}
    )
    kept = memory()
    with acting_as(JUDGE):
        kept.put_messages([ChatMessage(role="assistant", blocks=[block]), found])

    with acting_as(CLERK):
        call, result = kept.get()

    assert call.blocks[0].tool_kwargs == {"query": "[person]"}
    assert call.blocks[0].tool_call_id == "call"
    assert result.additional_kwargs == {"tool_call_id": "call"}


def test_no_mark_is_shown_to_a_provider():
    """Models send what stands in the additional arguments of a message."""
    kept = memory()
    kept.put(answer())

    assert [one.additional_kwargs for one in kept.get()] == [{}]


def test_what_replaces_a_memory_counts_as_released_to_nobody():
    kept = memory()
    with acting_as(JUDGE):
        kept.put(answer())
        kept.set(kept.get())

    with acting_as(CLERK):
        assert [one.content for one in kept.get()] == [CUT]


@pytest.mark.parametrize(("file", "text"), [("a.sqlite", TEXT), ("b.sqlite", CUT)])
def test_a_mark_holds_wherever_the_same_state_is_opened(file, text, tmp_path):
    inner = ChatMemoryBuffer.from_defaults(token_limit=10_000)
    first, second = (
        guard_memory(inner, policy=POLICY, state=tmp_path / name)
        for name in ("a.sqlite", file)
    )

    with acting_as(CLERK):
        first.put(answer())
        assert [one.content for one in second.get()] == [text]


async def test_an_agent_that_serves_several_keeps_them_apart():
    """What the tool found for the judge does not reach the clerk's prompt."""
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return f"Thought: I can answer.\nAnswer: {TEXT}"

    agent = ReActAgent(
        tools=[guard_tool(FunctionTool.from_defaults(search), policy=POLICY)],
        llm=LlamaIndexModel(reply),
        streaming=False,
    )
    kept = memory()
    with acting_as(JUDGE):
        await agent.run(user_msg="Who saw it?", memory=kept)
    with acting_as(CLERK):
        await agent.run(user_msg="And who else?", memory=kept)

    assert "saw it" in prompts[1]
    assert CUT in prompts[1]
    assert NAME not in prompts[1]


def test_it_is_made_of_another_memory():
    with pytest.raises(UsageError, match="must be a LlamaIndex memory, got list"):
        guard_memory([], policy=POLICY)  # type: ignore[arg-type]


def test_it_is_neither_copied_nor_made_without_a_policy():
    with pytest.raises(UsageError, match="is not copied"):
        copy.deepcopy(memory())
    with pytest.raises(UsageError, match="guard_memory"):
        type(memory()).from_defaults()


def test_it_shows_nothing_of_itself():
    kept = memory()
    kept.put(answer())

    assert NAME not in f"{kept!r} {kept} {kept.model_dump()} {kept.to_dict()}"
