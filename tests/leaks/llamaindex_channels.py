"""What a tool of a LlamaIndex agent can write to, and what a shared memory shows."""

# LlamaIndex knows a parameter for the context by its annotation, not by a string.
import json
from functools import partial
from typing import Any

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
)

from llamaindex_sdrag import guard_tool
from sdrag import acting_as
from sdrag.errors import UsageError

from ..support.doubles import LlamaIndexModel
from .canaries import CLEAN, META, QUERY, RAW, SETTINGS, reply
from .langchain_channels import ANSWERED, CLERK, JUDGE, SHARED
from .subject import Channel

REFUSED = "context of its workflow"
"""Why a tool is refused that takes it: what it writes there could not be redacted."""


async def answering(query: str) -> Any:
    """Answer with blocks."""
    return [TextBlock(text=RAW), ImageBlock(image=META.encode())]


async def sending(ctx: Context, query: str) -> str:
    """Send an event to the steps of the workflow."""
    ctx.send_event(Event(seen=RAW))
    return CLEAN


async def changing(ctx: Context, query: str) -> str:
    """Change what the state returned."""
    (await ctx.store.get("state"))["seen"] = RAW
    (await ctx.store.get("memory")).put(ChatMessage(role="user", content=RAW))
    return CLEAN


async def storing(ctx: Context, query: str) -> str:
    """Write to the state."""
    await ctx.store.set("notes", [RAW])
    async with ctx.store.edit_state() as state:
        state["state"]["seen"] = RAW
    return CLEAN


async def streaming(ctx: Context, query: str) -> str:
    """Write to the stream."""
    ctx.write_event_to_stream(Event(seen=RAW))
    return CLEAN


async def asking(ctx: Context, query: str) -> str:
    """Ask a human."""
    question = InputRequiredEvent(prefix=RAW)
    found = await ctx.wait_for_event(HumanResponseEvent, waiter_event=question)
    return str(found.response)


async def reaching(query: str) -> str:
    """Get the context of the step without being handed it."""
    ctx = Context.get_step_context()
    ctx.write_event_to_stream(Event(seen=RAW))
    await ctx.store.set("notes", RAW)
    return CLEAN


def _agent(function: Any, prompts: list[str], policy: Any = SETTINGS) -> ReActAgent:
    def answered(prompt: str) -> str:
        prompts.append(prompt)
        if len(prompts) % 2:
            call = json.dumps({"query": QUERY})
            return f"Thought: I search.\nAction: search\nAction Input: {call}"
        return f"Thought: I can answer.\nAnswer: {prompt}"

    tool = FunctionTool.from_defaults(function, name="search", description="Searches.")
    guarded = guard_tool(tool, policy=policy, llm=LlamaIndexModel(reply))
    return ReActAgent(
        tools=[guarded],
        llm=LlamaIndexModel(answered),
        streaming=False,
        initial_state={"seen": CLEAN},
    )


async def _used(function: Any) -> list[Any]:
    """Return all that was seen; a refusal of the tool is seen too."""
    prompts: list[str] = []
    try:
        agent = _agent(function, prompts)
    except UsageError as refusal:
        return [str(refusal)]
    memory, context = ChatMemoryBuffer.from_defaults(), Context(agent)
    handler = agent.run(user_msg=QUERY, memory=memory, ctx=context)
    seen: list[Any] = []
    async for event in handler.stream_events():
        seen += [event, event.model_dump()]
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(response="yes"))
    seen.append(await handler)
    return [seen, prompts, context.to_dict(), memory.get_all()]


def _tool_channel(name: str, function: Any, shows: str = "") -> Channel:
    watch = {"async": partial(_used, function)}
    return Channel("llamaindex", name, watch, shows=shows)


def _turns(question: str) -> Any:
    """Have the judge ask, then the clerk; look at the clerk's prompts."""

    async def watch() -> Any:
        prompts: list[str] = []
        memory: Any = ChatMemoryBuffer.from_defaults()
        agent = _agent(answering, prompts, SHARED)
        with acting_as(JUDGE):
            await agent.run(user_msg=question, memory=memory)
        prompts.clear()
        with acting_as(CLERK):
            await agent.run(user_msg=QUERY, memory=memory)
        return prompts

    return {"async": watch}


LLAMAINDEX_CHANNELS = (
    _tool_channel("answer, attachments, blocks", answering, ANSWERED),
    _tool_channel("command, events for other steps", sending, REFUSED),
    _tool_channel("state, changed in place", changing, REFUSED),
    _tool_channel("store, state that is kept", storing, REFUSED),
    _tool_channel("stream", streaming, REFUSED),
    _tool_channel("question to a human", asking, REFUSED),
    _tool_channel("wiring of the graph", reaching),
    Channel(
        "llamaindex",
        "prompt of another principal",
        _turns(QUERY),
        "LlamaIndex shows a memory to the model as it is: keep one for each principal",
    ),
    Channel(
        "llamaindex",
        "words of a human",
        _turns(RAW),
        "what a human says is not redacted",
    ),
)
