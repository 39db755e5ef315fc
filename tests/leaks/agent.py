"""An agent whose model says all that it was given, and what its checkpointer keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from .canaries import QUERY
from .subject import AsyncMode, Config, Mode


@dataclass(frozen=True)
class Agent:
    """An agent, its checkpointer and its middleware."""

    graph: Any
    saver: InMemorySaver
    middleware: Any


ASK = {"messages": [HumanMessage(QUERY)]}
STREAMED = ["values", "updates", "messages", "custom", "debug"]


class AgentModel(BaseChatModel):
    """Calls its tools after each question, in order; then says all it was given."""

    calls: list[str] = Field(default_factory=lambda: ["search"])
    arguments: dict[str, Any] = Field(default_factory=lambda: {"query": QUERY})

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        asked = max(n for n, m in enumerate(messages) if isinstance(m, HumanMessage))
        done = {m.name for m in messages[asked:] if isinstance(m, ToolMessage)}
        left = [name for name in self.calls if name not in done]
        message = AIMessage(content=str(messages))
        if left:
            call = {"name": left[0], "args": self.arguments, "id": f"of-{left[0]}"}
            message = AIMessage(content="", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def _told(config: Config) -> Config:
    return {**config, "configurable": {"thread_id": "t"}}


def _kept(agent: Agent, state: Any) -> Any:
    """What the agent says, and what its checkpointer keeps."""
    return [state, dict(agent.saver.blobs), dict(agent.saver.writes)]


async def _akept(agent: Agent, config: Config) -> Any:
    return _kept(agent, await agent.graph.ainvoke(ASK, _told(config)))


AGENT_MODES: Mapping[str, Mode | AsyncMode] = {
    "sync": lambda built, config: _kept(built, built.graph.invoke(ASK, _told(config))),
    "async": _akept,
    "stream": lambda built, config: _kept(
        built, list(built.graph.stream(ASK, _told(config), stream_mode=STREAMED))
    ),
    "astream": lambda built, config: collected(
        built.graph.astream(ASK, _told(config), stream_mode=STREAMED)
    ),
    "astream_events": lambda built, config: collected(
        built.graph.astream_events(ASK, _told(config), version="v2")
    ),
}


async def collected(stream: Any) -> list[Any]:
    return [chunk async for chunk in stream]
