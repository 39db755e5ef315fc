"""What the clients of both frameworks do with a real server: one method a feature."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.request import urlopen

from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

CONTEXT = 8192
"""Tokens: all that the model was trained for."""
QUESTION = "The harbour opens at six. When does the harbour open?"
GRAMMAR = {"grammar": 'root ::= "yes" | "no"'}
TOO_LONG = "The harbour opens at six. " * (CONTEXT // 4)


class Opening(BaseModel):
    """When something opens."""

    place: str
    hour: str


SCHEMA = {"name": "Opening", "schema": Opening.model_json_schema()}
JSON_MODE = {"response_format": {"type": "json_object"}}
REPEAT = 'Repeat this: {"hour": "six"}'


def look_up(place: str) -> str:
    """Look up when a place opens."""
    return f"{place}: six"


class LangChain:
    """`ChatOpenAI`."""

    def __init__(self, url: str, **options: Any) -> None:
        profile = {"max_input_tokens": CONTEXT}
        self.llm = ChatOpenAI(
            base_url=f"{url}/v1",
            api_key="none",
            model="smollm2",
            max_retries=0,
            temperature=0,
            profile=profile,
            **options,
        )

    def chat(self, text: str = QUESTION, **options: Any) -> str:
        return str(self.llm.invoke(text, **{"max_tokens": 60, **options}).text)

    def schema(self) -> Any:
        return self.llm.with_structured_output(Opening).invoke(QUESTION, max_tokens=60)

    def stream(self) -> list[str]:
        return [str(piece.text) for piece in self.llm.stream(QUESTION, max_tokens=60)]

    def call_tool(self) -> list[str]:
        model = self.llm.bind_tools([look_up], tool_choice="any")
        return [
            call["name"] for call in model.invoke(QUESTION, max_tokens=60).tool_calls
        ]

    async def endless(self) -> None:
        await self.llm.ainvoke(
            "Count to ten thousand.", extra_body={"ignore_eos": True}
        )


class LlamaIndex:
    """`OpenAILike`."""

    def __init__(self, url: str, **options: Any) -> None:
        self.llm = OpenAILike(
            api_base=f"{url}/v1",
            api_key="none",
            model="smollm2",
            is_chat_model=True,
            is_function_calling_model=True,
            should_use_structured_outputs=True,
            context_window=CONTEXT,
            max_retries=0,
            temperature=0,
            **options,
        )

    def chat(self, text: str = QUESTION, **options: Any) -> str:
        messages = [ChatMessage(text)]
        reply = self.llm.chat(messages, **{"max_tokens": 60, **options})
        return str(reply.message.content)

    def schema(self) -> Any:
        form = {"type": "json_schema", "json_schema": SCHEMA}
        return Opening.model_validate_json(self.chat(response_format=form))

    def stream(self) -> list[str]:
        replies = self.llm.stream_chat([ChatMessage(QUESTION)], max_tokens=60)
        return [str(reply.delta) for reply in replies]

    def call_tool(self) -> list[str]:
        tools = [FunctionTool.from_defaults(look_up)]
        reply = self.llm.chat_with_tools(
            tools, QUESTION, tool_required=True, max_tokens=60
        )
        calls = self.llm.get_tool_calls_from_response(reply)
        return [call.tool_name for call in calls]

    async def endless(self) -> None:
        message = ChatMessage("Count to ten thousand.")
        await self.llm.achat([message], extra_body={"ignore_eos": True})


def _cancel(client: Any, url: str) -> bool:
    """Leave a call that would never end; say whether the server stops working on it."""

    async def leave() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(client.endless(), 2)
        await asyncio.sleep(2)

    asyncio.run(leave())
    with urlopen(f"{url}/slots") as reply:  # noqa: S310 -- on loopback
        return not json.load(reply)[0]["is_processing"]


def _overflow(client: Any) -> bool:
    """Send more than the model takes in; say whether the server's 400 comes through."""
    try:
        client.chat(TOO_LONG)
    except Exception as error:  # noqa: BLE001 -- each client's own
        return getattr(error, "status_code", None) == 400
    return False


FEATURES: dict[str, Callable[[Any, str], bool]] = {
    "chat": lambda client, _: bool(client.chat().strip()),
    "JSON mode": lambda client, _: (
        "hour" in json.loads(client.chat(REPEAT, **JSON_MODE))
    ),
    "JSON schema": lambda client, _: isinstance(client.schema(), Opening),
    "grammar": lambda client, _: client.chat(extra_body=GRAMMAR) in {"yes", "no"},
    "streaming": lambda client, _: len(list(filter(None, client.stream()))) > 1,
    "tool calls": lambda client, _: client.call_tool() == ["look_up"],
    "a cancelled call": _cancel,
    "context overflow": lambda client, _: _overflow(client),
}
"""Each returns True if the client got what it asked for."""
