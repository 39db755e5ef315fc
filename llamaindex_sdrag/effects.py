"""
How LlamaIndex does things: the ports of its models and embeddings.

A model that calls functions is held to a reply format by a tool of that shape, and what
it fills in is handed on as JSON text, unrepaired. `structured_predict` is not used: it
reads messages as templates, and braces in a passage would be placeholders. Any other
model is asked for text, and so is one whose server knows no tools; the words of the
prompt ask for the same JSON. Whether the text can be read is the core's to judge. What
the response says of its tokens is handed on with it; each provider has a place and a
name of its own for that.

What LlamaIndex calls async is often the sync method, called on the event loop: such a
model is called on a thread, or no time limit could hold.

An embedding model with a cache would keep raw text in it, so the model is copied
without one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    ToolCallBlock,
)
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from llamaindex_sdrag.tracing import mute
from sdrag.effects.prompts import Prompt
from sdrag.effects.retrying import cannot
from sdrag.effects.runner import Port
from sdrag.effects.steps import Embed
from sdrag.effects.tokens import Completion
from sdrag.errors import UsageError
from sdrag.framework import local_embeddings

__all__ = ["completing", "embedding", "model_name"]

_ROLES = {
    "system": MessageRole.SYSTEM,
    "user": MessageRole.USER,
    "assistant": MessageRole.ASSISTANT,
}
_USAGES = ("usage", "usage_metadata")
_TOKENS_IN = (
    "input_tokens",
    "prompt_tokens",
    "prompt_token_count",
    "prompt_eval_count",
)
_TOKENS_OUT = (
    "output_tokens",
    "completion_tokens",
    "candidates_token_count",
    "eval_count",
)


def completing(llm: LLM | None) -> Port[Prompt, Completion | str] | None:
    """Ask the host's model."""
    if llm is None:
        return None
    if not isinstance(llm, LLM):
        raise UsageError(f"A {type(llm).__name__} is no LlamaIndex model.")

    def call(prompt: Prompt) -> Completion:
        mute(llm.callback_manager)
        history, tool = _messages(prompt), _tool(llm, prompt.reply_format)
        filled = None if tool is None else _tool_filled(llm, tool, history)
        return _said(llm.chat(history)) if filled is None else filled

    async def acall(prompt: Prompt) -> Completion:
        mute(llm.callback_manager)
        history, tool = _messages(prompt), _tool(llm, prompt.reply_format)
        filled = None if tool is None else await _atool_filled(llm, tool, history)
        return _said(await llm.achat(history)) if filled is None else filled

    return Port(call, None if _blocks(llm) else acall)


def embedding(
    embeddings: BaseEmbedding | None,
) -> Port[Embed, Sequence[Sequence[float]]]:
    """Embed with the host's model; without one, with the packaged MiniLM."""
    if embeddings is None:
        return local_embeddings()
    if not isinstance(embeddings, BaseEmbedding):
        raise UsageError(
            f"A {type(embeddings).__name__} is no LlamaIndex embedding model."
        )
    model = embeddings.model_copy(update={"embeddings_cache": None})

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        mute(model.callback_manager)
        if effect.query:
            return [model.get_query_embedding(text) for text in effect.items]
        return model.get_text_embedding_batch(list(effect.items))

    async def acall(effect: Embed) -> Sequence[Sequence[float]]:
        mute(model.callback_manager)
        if effect.query:
            return [await model.aget_query_embedding(text) for text in effect.items]
        return await model.aget_text_embedding_batch(list(effect.items))

    return Port(call, None if _blocks(model) else acall)


def model_name(model: LLM | BaseEmbedding | None) -> str:
    """Name a model for caches and audits, without its keys."""
    if model is None:
        return ""
    name = model.model_name if isinstance(model, BaseEmbedding) else ""
    if isinstance(model, LLM):
        name = model.metadata.model_name
    return f"{type(model).__name__}:{name}" if name else type(model).__name__


def _blocks(model: LLM | BaseEmbedding) -> bool:
    """Say whether its async methods are the sync ones, run on the event loop."""
    name, base = "achat", cast("type[object]", CustomLLM)
    if isinstance(model, BaseEmbedding):
        name, base = "_aget_text_embedding", BaseEmbedding
    definer = next(owner for owner in type(model).__mro__ if name in vars(owner))
    return definer is base


def _tool(llm: LLM, reply_format: type[BaseModel] | None) -> FunctionTool | None:
    """Make a tool of the format, for a model that calls functions."""
    if reply_format is None or not isinstance(llm, FunctionCallingLLM):
        return None
    if not llm.metadata.is_function_calling_model:
        return None
    return get_function_tool(reply_format)


def _tool_filled(
    llm: LLM, tool: FunctionTool, history: list[ChatMessage]
) -> Completion | None:
    """Have a model fill in a tool; none where its server knows no tools."""
    assert isinstance(llm, FunctionCallingLLM)
    try:
        response = llm.chat_with_tools([tool], chat_history=history, tool_required=True)
    except Exception as error:
        if cannot(error):
            return None
        raise
    return _filled(llm, response)


async def _atool_filled(
    llm: LLM, tool: FunctionTool, history: list[ChatMessage]
) -> Completion | None:
    assert isinstance(llm, FunctionCallingLLM)
    try:
        response = await llm.achat_with_tools(
            [tool], chat_history=history, tool_required=True
        )
    except Exception as error:
        if cannot(error):
            return None
        raise
    return _filled(llm, response)


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [
        ChatMessage(role=_ROLES[message.role], content=message.content.text)
        for message in prompt.messages
    ]


def _filled(llm: FunctionCallingLLM, response: ChatResponse) -> Completion:
    """Return what the model filled in, as it wrote it; else its words."""
    for block in response.message.blocks:
        if isinstance(block, ToolCallBlock):
            return _counted(_as_json(block.tool_kwargs), response)
    calls = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    if calls:
        return _counted(_as_json(calls[0].tool_kwargs), response)
    return _said(response)


def _said(response: ChatResponse) -> Completion:
    """Return the model's words."""
    return _counted(str(response.message.content or ""), response)


def _counted(text: str, response: ChatResponse) -> Completion:
    """Add what the response says of its tokens, wherever it says so."""
    usages = list(_usages(response))
    counts = (_first(usages, _TOKENS_IN), _first(usages, _TOKENS_OUT))
    return Completion.of(text, *counts)


def _usages(response: ChatResponse) -> Iterator[Any]:
    for held in (response.raw, response.additional_kwargs):
        yield from (_read(held, name) for name in _USAGES)
        yield held


def _first(usages: Sequence[Any], names: Sequence[str]) -> Any:
    counts = (_read(one, name) for one in usages for name in names)
    return next((count for count in counts if count), None)


def _read(held: Any, name: str) -> Any:
    """Read what a provider holds in a mapping or in an object of its own."""
    return held.get(name) if isinstance(held, Mapping) else getattr(held, name, None)


def _as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
