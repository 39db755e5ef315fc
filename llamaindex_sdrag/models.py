"""
How LlamaIndex's models are asked.

A model that is said to take JSON schemas (`should_use_structured_outputs`) is held to a
reply format by one; a model that calls functions by a tool of that shape, and what it
fills in is handed on as JSON text, unrepaired. `structured_predict` is not used: it
reads messages as templates, and braces in a passage would be placeholders. Any other
model is asked for text, and so is one whose server knows no tools; the words of the
prompt ask for the same JSON. Whether the text can be read is the core's to judge.

What LlamaIndex calls async is often the sync method, called on the event loop: such a
model is called on a thread, or no time limit could hold. An embedding model with a
cache would keep raw text in it, so the model is copied without one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from math import ceil
from typing import Any, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    ToolCallBlock,
)
from llama_index.core.callbacks.token_counting import get_tokens_from_response
from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.program.function_program import get_function_tool
from pydantic import BaseModel

from llamaindex_sdrag.tracing import mute
from sdrag.effects.callers import Caller, make_port
from sdrag.effects.calls import Port
from sdrag.effects.prompts import Prompt
from sdrag.effects.retrying import Abilities, cannot
from sdrag.effects.steps import Embed
from sdrag.effects.tokens import Completion, is_cut_off
from sdrag.errors import check_type

_STEP = 250
"""Tokens: limits are rounded up to such steps, so that few copies of a model differ."""


def complete(llm: LLM) -> Port[Prompt, Completion | str]:
    """Ask the application's model."""
    check_type(llm, LLM, "LlamaIndex model")
    abilities = Abilities()

    @cache  # each copy opens connections of its own
    def limit(steps: int) -> LLM:
        return _limit(llm, steps * _STEP)

    async def ask(do: Caller, prompt: Prompt) -> Completion | str:
        most = prompt.max_tokens if abilities.limits else None
        model = llm if most is None else limit(ceil(most / _STEP))
        completion = await _ask(do, model, prompt, abilities)
        if model is not llm and completion.is_cut_off and not completion.text.strip():
            abilities.limits = False  # it thinks first
            completion = await _ask(do, llm, prompt, abilities)
        return completion

    return _drop_blocking(make_port(ask), llm, "achat", cast("type[object]", CustomLLM))


async def _ask(
    do: Caller, model: LLM, prompt: Prompt, abilities: Abilities
) -> Completion:
    """Hold a model to the reply format where it has a way, or else ask in words."""
    mute(model.callback_manager)
    history = messages(prompt)
    is_unknown = False
    if prompt.reply_format and abilities.formats and _takes_formats(model):
        try:
            return await _fill_in(do, model, history, prompt.reply_format)
        except Exception as error:
            if not (is_unknown := cannot(error)):
                raise
    response = await do(model.chat, model.achat, history)
    if is_unknown:
        abilities.formats = False
    return _completion(response)


async def _fill_in(
    do: Caller, model: Any, history: list[ChatMessage], form: type[BaseModel]
) -> Completion:
    """Ask by a schema where the model takes one, else by a tool of that shape."""
    chat, achat = model.chat, model.achat
    if _takes_schemas(model):
        schema = {"name": form.__name__, "schema": form.model_json_schema()}
        asked = {"type": "json_schema", "json_schema": schema}
        return _completion(await do(chat, achat, history, response_format=asked))
    chat, achat = model.chat_with_tools, model.achat_with_tools
    tools = [get_function_tool(form)]
    response = await do(chat, achat, tools, chat_history=history, tool_required=True)
    return _completion(response, _read_arguments(model, response))


def _limit(model: LLM, tokens: int) -> LLM:
    """Limit the replies of a model, unless the application has."""
    has_limit = "max_tokens" in type(model).model_fields
    if not has_limit or _read(model, "max_tokens") is not None:
        return model
    return model.model_copy(update={"max_tokens": tokens})


def embed(embeddings: BaseEmbedding) -> Port[Embed, Sequence[Sequence[float]]]:
    """Embed with the application's model."""
    check_type(embeddings, BaseEmbedding, "LlamaIndex embedding model")
    model = embeddings.model_copy(update={"embeddings_cache": None})

    async def vectors(do: Caller, effect: Embed) -> Sequence[Sequence[float]]:
        mute(model.callback_manager)
        texts = list(effect.items)
        if not effect.query:
            batch = model.get_text_embedding_batch
            return await do(batch, model.aget_text_embedding_batch, texts)
        query, aquery = model.get_query_embedding, model.aget_query_embedding
        return [await do(query, aquery, text) for text in texts]

    port = make_port(vectors)
    return _drop_blocking(port, model, "_aget_text_embedding", BaseEmbedding)


def model_name(model: LLM | BaseEmbedding) -> str:
    """Name a model for caches and audits, without its keys."""
    name = model.metadata.model_name if isinstance(model, LLM) else model.model_name
    return f"{type(model).__name__}:{name}" if name else type(model).__name__


def context_window(llm: LLM) -> int | None:
    """
    Return how many tokens a model takes in; None where nobody has said it.

    LlamaIndex gives every model of which nobody has said it the same number.
    """
    metadata = llm.metadata
    window = metadata.context_window
    given = llm if "context_window" in type(llm).model_fields else metadata
    is_said = "context_window" in given.model_fields_set
    if window <= 0 or (window == DEFAULT_CONTEXT_WINDOW and not is_said):
        return None
    return window


def messages(prompt: Prompt) -> list[ChatMessage]:
    """Return the messages of a prompt."""
    return [
        ChatMessage(role=MessageRole(message.role), content=message.content.text)
        for message in prompt.messages
    ]


def _drop_blocking(
    port: Port[Any, Any], model: object, name: str, base: type[object]
) -> Port[Any, Any]:
    """Leave out an async method that is the base's, which runs the sync one."""
    definer = next(owner for owner in type(model).__mro__ if name in vars(owner))
    return replace(port, acall=None) if definer is base else port


def _takes_formats(llm: LLM) -> bool:
    calls = isinstance(llm, FunctionCallingLLM)
    return _takes_schemas(llm) or (calls and llm.metadata.is_function_calling_model)


def _takes_schemas(llm: LLM) -> bool:
    return bool(getattr(llm, "should_use_structured_outputs", False))


def _read_arguments(llm: FunctionCallingLLM, response: ChatResponse) -> str | None:
    """Return what the model filled in, as it wrote it; None where it said words."""
    for block in response.message.blocks:
        if isinstance(block, ToolCallBlock):
            return _as_json(block.tool_kwargs)
    calls = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    return _as_json(calls[0].tool_kwargs) if calls else None


def _completion(response: ChatResponse, filled: str | None = None) -> Completion:
    """Return what a model said, and how many tokens it took, where it says so."""
    text = str(response.message.content or "") if filled is None else filled
    counts: tuple[Any, Any] = (None, None)
    with suppress(Exception):  # of any provider
        counts = get_tokens_from_response(response)
    return Completion(text, *counts, _is_cut_off(response.raw))


def _is_cut_off(raw: Any) -> bool:
    """Say whether a provider's response says that it ended at a limit of tokens."""
    first, *_ = _read(raw, "choices") or [None]
    return any(is_cut_off(partial(_read, held)) for held in (raw, first))


def _read(held: Any, name: str) -> Any:
    """Read what a provider holds in a mapping or in an object of its own."""
    return held.get(name) if isinstance(held, Mapping) else getattr(held, name, None)


def _as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
