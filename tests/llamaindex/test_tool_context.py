"""Agents: what a tool writes to the context of its workflow is redacted."""

# LlamaIndex knows a parameter for the context by its annotation, not by a string.
import asyncio
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
)

from llamaindex_sdrag import guard_tool
from sdrag.errors import UsageError

from ..support.doubles import LlamaIndexModel

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
CUT = "The witness [person] saw it."
POLICY = {
    "constraints": [
        {"id": "names", "text": "Remove the names of witnesses", "always": True}
    ]
}


class Found(Event):
    """An event of the host's."""

    text: str


async def sets(ctx: Context, query: str) -> str:
    """Write to the state."""
    await ctx.store.set("notes", {"seen": TEXT, "by": [NAME], "count": 2})
    return "saw it"


async def edits(ctx: Context, query: str) -> str:
    """Edit the state."""
    async with ctx.store.edit_state() as state:
        state["notes"] = [TEXT]
        state["state"]["seen"] = TEXT
    return "saw it"


async def changes_what_it_read(ctx: Context, query: str) -> str:
    """Change what the state returned."""
    (await ctx.store.get("state"))["seen"] = TEXT
    (await ctx.store.get_state())["state"]["seen"] = TEXT
    return "saw it"


async def remembers(ctx: Context, query: str) -> str:
    """Write to the chat memory of the agent."""
    memory = await ctx.store.get("memory")
    memory.put(ChatMessage(role="user", content=TEXT))
    return "saw it"


async def streams(ctx: Context, query: str) -> str:
    """Write to the stream."""
    ctx.write_event_to_stream(Found(text=TEXT, by=NAME, count=2))
    return "saw it"


def streams_in_a_thread(ctx: Context, query: str) -> str:
    """Write to the stream from a thread."""
    ctx.write_event_to_stream(Found(text=TEXT))
    return "saw it"


async def sends(ctx: Context, query: str) -> str:
    """Send an event to the steps of the workflow."""
    ctx.send_event(Found(text=TEXT))
    return "saw it"


async def asks_for_the_context(query: str) -> str:
    """Get the context of the step without being handed it."""
    ctx = Context.get_step_context()
    ctx.write_event_to_stream(Found(text=TEXT))
    await ctx.store.set("notes", TEXT)
    return "saw it"


async def shows(query: str) -> Any:
    """Answer with blocks."""
    return [TextBlock(text=TEXT), ImageBlock(image=NAME.encode())]


WRITING = [
    sets,
    edits,
    changes_what_it_read,
    remembers,
    streams,
    streams_in_a_thread,
    sends,
    asks_for_the_context,
    shows,
]


class Watched:
    """An agent of one guarded tool, and all that it leaves behind."""

    def __init__(self, function: Any, **options: Any) -> None:
        tool = FunctionTool.from_defaults(
            function, name="search", description="Searches.", **options
        )
        self.prompts: list[str] = []
        self.memory = ChatMemoryBuffer.from_defaults(token_limit=10_000)
        self.agent = ReActAgent(
            tools=[guard_tool(tool, policy=POLICY)],
            llm=LlamaIndexModel(self.reply),
            streaming=False,
            initial_state={"seen": "nothing"},
        )
        self.context = Context(self.agent)

    def reply(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if len(self.prompts) == 1:
            call = json.dumps({"query": "who saw it"})
            return f"Thought: I search.\nAction: search\nAction Input: {call}"
        return "Thought: I can answer.\nAnswer: " + prompt.splitlines()[-1]

    async def run(self, answer: str = "") -> list[Any]:
        """Return every event of the stream, and the result; answer what is asked."""
        handler = self.agent.run(
            user_msg="Who saw it?", memory=self.memory, ctx=self.context
        )
        seen: list[Any] = []
        async for event in handler.stream_events():
            seen.append(event)
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response=answer))
        seen.append(await handler)
        return seen

    async def state(self, name: str) -> Any:
        return await self.context.store.get(name)

    def kept(self) -> str:
        return str(self.context.to_dict()) + str(self.memory.get_all())


@pytest.mark.parametrize("function", WRITING, ids=lambda one: one.__name__)
async def test_nothing_that_a_tool_writes_is_raw(function):
    """Neither stream, nor state, nor memory, nor prompts hold what is withheld."""
    watched = Watched(function)

    seen = await watched.run()

    assert len(watched.prompts) == 2
    assert NAME not in "".join(f"{one!r} {one.model_dump()}" for one in seen)
    assert NAME not in watched.kept() + str(watched.prompts)


async def test_the_state_holds_what_may_be_disclosed():
    """A value keeps its shape, and its texts are redacted."""
    watched = Watched(sets)

    await watched.run()

    notes = await watched.state("notes")
    assert notes == {"seen": CUT, "by": ["[person]"], "count": 2}


async def test_an_edit_of_the_state_is_redacted():
    """What the tool did not change stays as it is."""
    watched = Watched(edits)

    await watched.run()

    assert await watched.state("notes") == [CUT]
    assert await watched.state("state") == {"seen": CUT}
    assert isinstance(await watched.state("memory"), ChatMemoryBuffer)


async def test_a_streamed_event_keeps_its_type():
    (found,) = [one for one in await Watched(streams).run() if isinstance(one, Found)]

    assert (found.text, found.by, found.count) == (CUT, "[person]", 2)


async def test_a_tool_that_waits_for_a_human_is_answered():
    """The question is redacted, and the tool goes on with the answer."""

    async def waits(ctx: Context, query: str) -> str:
        """Ask a human."""
        answer = await ctx.wait_for_event(
            HumanResponseEvent, waiter_event=InputRequiredEvent(prefix=TEXT)
        )
        return f"The human said {answer.response}."

    watched = Watched(waits)

    seen = await watched.run("yes")

    questions = [one for one in seen if isinstance(one, InputRequiredEvent)]
    assert [one.prefix for one in questions] == [CUT]
    assert "The human said yes." in watched.prompts[-1]
    assert NAME not in str(seen) + watched.kept()


@pytest.mark.parametrize(
    "waiting", [{"waiter_id": NAME}, {"requirements": {"user": NAME}}]
)
async def test_a_filter_that_may_not_be_disclosed_is_refused(waiting):
    """It would be stored with the workflow, and changed it would find no answer."""

    async def waits(ctx: Context, query: str) -> str:
        """Ask a human."""
        await ctx.wait_for_event(HumanResponseEvent, **waiting)
        return "saw it"

    watched = Watched(waits)

    await watched.run()

    assert "may not be disclosed" in watched.prompts[-1]
    assert NAME not in watched.kept() + str(watched.prompts)


REFUSED = {
    "a path": lambda ctx: ctx.store.set(f"of.{NAME}", "nothing"),
    "a method of the context": lambda ctx: ctx.collect_events(Event(), [Event]),
    "a method of the state": lambda ctx: ctx.store.to_dict(None),
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED.keys())
async def test_what_cannot_be_guarded_is_refused(attempt):
    async def tries(ctx: Context, query: str) -> str:
        """Try it."""
        done = attempt(ctx)
        await done
        return "saw it"

    watched = Watched(tries)

    await watched.run()

    assert "guarded tool" in watched.prompts[-1]
    assert NAME not in watched.kept() + str(watched.prompts)


async def test_an_event_whose_fields_take_no_text_is_refused():
    class Pointed(Event):
        key: dict[str, int]

    async def points(ctx: Context, query: str) -> str:
        """Stream what cannot be redacted."""
        ctx.write_event_to_stream(Pointed(key={"digits": 10**5000}))
        return "saw it"

    watched = Watched(points)

    seen = await watched.run()

    assert "a Pointed, which cannot be redacted" in watched.prompts[-1]
    assert not [one for one in seen if isinstance(one, Pointed)]


async def test_an_answer_that_is_returned_directly_is_redacted():
    async def finds(ctx: Context, query: str) -> str:
        """Answer."""
        return TEXT

    *_, result = await Watched(finds, return_direct=True).run()

    assert str(result) == CUT
    assert NAME not in str(result.model_dump())


def test_a_sync_call_takes_a_context_too():
    """The events of the tool arrive when it has ended."""
    seen: list[Any] = []

    class Stub(Context):
        def __init__(self) -> None:
            pass

        def write_event_to_stream(self, ev: Any) -> None:
            seen.append(ev)

    def finds(ctx: Context, query: str) -> str:
        """Stream and answer."""
        ctx.write_event_to_stream(Found(text=TEXT))
        return TEXT

    tool = guard_tool(FunctionTool.from_defaults(finds), policy=POLICY)

    output = tool.call(ctx=Stub(), query="who")

    assert output.content == CUT
    assert output.raw_input == {"args": (), "kwargs": {"query": "who"}}
    assert [one.text for one in seen] == [CUT]


def test_the_state_outside_of_a_guarded_tool_is_left_alone():
    """Only the tool is handed a guarded context."""
    watched = Watched(streams)

    asyncio.run(watched.run())

    assert type(watched.context) is Context
    with pytest.raises(UsageError, match="guarded tool"):
        _ = guarded_context().collect_events


def guarded_context() -> Any:
    from llamaindex_sdrag.guarded_context import GuardedContext  # noqa: PLC0415

    return GuardedContext(None, None)  # type: ignore[arg-type]
