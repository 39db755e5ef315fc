"""What the clients of both frameworks do with a real server: one check a feature."""

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
from pydantic import BaseModel, SecretStr

CONTEXT = 8192
"""Tokens: all that the model was trained for."""
TOOLS = "tools, or words: the model's template shows it none"
QUESTION = "The harbour opens at six. When does the harbour open?"
COUNT = "Count to ten thousand."
SHORT: dict[str, Any] = {"max_tokens": 60}
ENDLESS: dict[str, Any] = {"extra_body": {"ignore_eos": True}}


class Opening(BaseModel):
    """When something opens."""

    place: str
    hour: str


def look_up(place: str) -> str:
    """Look up when a place opens."""
    return f"{place}: six"


SCHEMA = {"name": "Opening", "schema": Opening.model_json_schema()}
FORMATS: dict[str, dict[str, Any]] = {
    "mode": {"response_format": {"type": "json_object"}},
    "schema": {"response_format": {"type": "json_schema", "json_schema": SCHEMA}},
    "grammar": {"extra_body": {"grammar": 'root ::= "yes" | "no"'}},
}


def chat_openai(url: str) -> ChatOpenAI:
    """Return LangChain's client."""
    return ChatOpenAI(
        base_url=f"{url}/v1",
        api_key=SecretStr("none"),
        model="served",
        max_retries=0,
        temperature=0,
        profile={"max_input_tokens": CONTEXT},
    )


def openai_like(url: str) -> OpenAILike:
    """Return LlamaIndex's client."""
    return OpenAILike(
        api_base=f"{url}/v1",
        api_key="none",
        model="served",
        is_chat_model=True,
        is_function_calling_model=True,
        should_use_structured_outputs=True,
        context_window=CONTEXT,
        max_retries=0,
        temperature=0,
    )


def langchain(url: str) -> dict[str, Callable[[], bool]]:
    """Return the checks of LangChain's client, by feature."""
    llm = chat_openai(url)
    opening = llm.with_structured_output(Opening)

    def chat(text: str, **options: Any) -> str:
        return str(llm.invoke(text, **{**SHORT, **options}).text)

    def stream() -> list[str]:
        return [str(piece.text) for piece in llm.stream(QUESTION, **SHORT)]

    def use_tools() -> bool:
        reply = llm.bind_tools([look_up], tool_choice="any").invoke(QUESTION, **SHORT)
        return bool(reply.tool_calls or reply.text)

    return {
        **_checks(chat, stream, lambda: llm.ainvoke(COUNT, **ENDLESS), url),
        "JSON schema": lambda: isinstance(opening.invoke(QUESTION), Opening),
        TOOLS: use_tools,
    }


def llamaindex(url: str) -> dict[str, Callable[[], bool]]:
    """Return the checks of LlamaIndex's client, by feature."""
    llm = openai_like(url)

    def chat(text: str, **options: Any) -> str:
        reply = llm.chat([ChatMessage(text)], **{**SHORT, **options})
        return str(reply.message.content)

    def stream() -> list[str]:
        pieces = llm.stream_chat([ChatMessage(QUESTION)], **SHORT)
        return [str(piece.delta) for piece in pieces]

    def use_tools() -> bool:
        tools = [FunctionTool.from_defaults(look_up)]
        reply = llm.chat_with_tools(tools, QUESTION, tool_required=True, **SHORT)
        calls = llm.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
        return bool(calls or reply.message.content)

    count = [ChatMessage(COUNT)]
    checks = _checks(chat, stream, lambda: llm.achat(count, **ENDLESS), url)
    return {**checks, TOOLS: use_tools}


def _checks(
    chat: Callable[..., str],
    stream: Callable[[], list[str]],
    endless: Callable[[], Any],
    url: str,
) -> dict[str, Callable[[], bool]]:
    def mode() -> bool:
        return "hour" in json.loads(chat('Repeat: {"hour": "six"}', **FORMATS["mode"]))

    def schema() -> bool:
        return bool(Opening.model_validate_json(chat(QUESTION, **FORMATS["schema"])))

    return {
        "chat": lambda: bool(chat(QUESTION).strip()),
        "streaming": lambda: len(list(filter(None, stream()))) > 1,
        "JSON mode": mode,
        "JSON schema": schema,
        "grammar": lambda: chat(QUESTION, **FORMATS["grammar"]) in {"yes", "no"},
        "a cancelled call": lambda: _is_closed(endless, url),
        "context overflow": lambda: _status(chat, "At six. " * CONTEXT) == 400,
    }


def _is_closed(endless: Callable[[], Any], url: str) -> bool:
    """Leave a call that would not end; say whether the server stops working on it."""

    async def leave() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(endless(), 2)
        await asyncio.sleep(2)

    asyncio.run(leave())
    with urlopen(f"{url}/slots") as reply:  # noqa: S310 -- on loopback
        return not json.load(reply)[0]["is_processing"]


def _status(chat: Callable[..., str], text: str) -> int | None:
    """Return the status that comes through the client."""
    try:
        chat(text)
    except Exception as error:  # noqa: BLE001 -- each client's own
        return getattr(error, "status_code", None)
    return 200
