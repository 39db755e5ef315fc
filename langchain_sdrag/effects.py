"""
How LangChain does things: the ports of its models and embeddings.

A chat model that can be held to a reply format is, by its own
`with_structured_output`, and what comes back is handed on as JSON text. Anything else
that takes messages, such as `model.bind(response_format=...)`, is asked for text; the
words of the prompt ask for the same JSON. Whether the text can be read is the core's
to judge. What the message says of its tokens is handed on with it.

A cache of LangChain's would store prompts with raw text in them, so a model is copied
with `cache=False` and without its handlers, which would hear them, also within
bindings, retries, fallbacks and sequences. Into any other runnable nobody can see: it
is refused while there is a global cache.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseLanguageModel
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import (
    Runnable,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import BaseModel

from sdrag.effects.prompts import Message, Prompt
from sdrag.effects.retrying import cannot
from sdrag.effects.runner import Port
from sdrag.effects.steps import Embed
from sdrag.effects.tokens import Completion
from sdrag.errors import UsageError
from sdrag.framework import local_embeddings

__all__ = ["completing", "detach", "embedding", "model_name"]

Model = Runnable[Any, Any]
_MESSAGES: dict[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}

_WHY_IT_STOPPED = ("finish_reason", "stop_reason", "done_reason")
_NO_ROOM = ("length", "max_tokens", "MAX_TOKENS")


def completing(llm: Model | None) -> Port[Prompt, Completion | str] | None:
    """
    Ask the host's model.

    Args:
        llm: A chat model, a completion model, or any runnable over messages.
    """
    if llm is None:
        return None
    if not isinstance(llm, Runnable):
        raise UsageError(f"A {type(llm).__name__} is no LangChain model.")
    copy, seen_through = detach(llm), _is_seen_through(llm)

    def model(prompt: Prompt) -> Model:
        if not seen_through and get_llm_cache() is not None:
            raise UsageError(
                "A global cache is set, and would keep the prompts of this model.",
                hint="Pass the model itself, or unset the cache.",
            )
        return _held(copy, prompt.reply_format)

    def call(prompt: Prompt) -> Completion | str:
        return _completion(_asked(model(prompt), copy, _messages(prompt)))

    async def acall(prompt: Prompt) -> Completion | str:
        return _completion(await _aasked(model(prompt), copy, _messages(prompt)))

    return Port(call, acall)


def embedding(
    embeddings: Embeddings | None,
) -> Port[Embed, Sequence[Sequence[float]]]:
    """Embed with the host's model; without one, with the packaged MiniLM."""
    if embeddings is None:
        return local_embeddings()
    if not isinstance(embeddings, Embeddings):
        raise UsageError(
            f"A {type(embeddings).__name__} is no LangChain embedding model."
        )

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        if effect.query:
            return [embeddings.embed_query(text) for text in effect.items]
        return embeddings.embed_documents(list(effect.items))

    async def acall(effect: Embed) -> Sequence[Sequence[float]]:
        if effect.query:
            return [await embeddings.aembed_query(text) for text in effect.items]
        return await embeddings.aembed_documents(list(effect.items))

    return Port(call, acall)


def model_name(llm: Model | None) -> str:
    """Name a model for caches and audits, without its keys."""
    inner: Any = llm
    while isinstance(inner, RunnableBindingBase):
        inner = inner.bound
    for attribute in ("model_name", "model", "model_id"):
        value = getattr(inner, attribute, None)
        if isinstance(value, str) and value:
            return f"{type(inner).__name__}:{value}"
    return type(inner).__name__ if inner is not None else ""


def detach(llm: Model) -> Model:
    """Return a copy in which no model that can be seen keeps or tells its prompts."""
    match llm:
        case BaseLanguageModel():
            return llm.model_copy(update={"cache": False, "callbacks": None})
        case RunnableBindingBase():
            config = {**llm.config, "callbacks": None}
            update = {"bound": detach(llm.bound), "config": config}
            return llm.model_copy(update={**update, "config_factories": []})
        case RunnableWithFallbacks():
            rest = [detach(fallback) for fallback in llm.fallbacks]
            first = detach(llm.runnable)
            return llm.model_copy(update={"runnable": first, "fallbacks": rest})
        case RunnableSequence():
            first, *middle, last = map(detach, llm.steps)
            steps = {"first": first, "middle": middle, "last": last}
            return llm.model_copy(update=steps)
    return llm


def _is_seen_through(llm: Model) -> bool:
    """Say whether every model that a runnable is made of can be seen."""
    match llm:
        case RunnableBindingBase():
            return _is_seen_through(llm.bound)
        case RunnableWithFallbacks():
            return all(map(_is_seen_through, (llm.runnable, *llm.fallbacks)))
        case RunnableSequence():
            return all(map(_is_seen_through, llm.steps))
    return isinstance(llm, BaseLanguageModel)


def _held(model: Model, reply_format: type[BaseModel] | None) -> Model:
    """Hold a chat model to the format, where it has a way of its own."""
    if reply_format is None or not isinstance(model, BaseChatModel):
        return model
    try:
        return model.with_structured_output(reply_format, include_raw=True)
    except (NotImplementedError, ValueError, TypeError):
        return model


def _asked(held: Model, plain: Model, messages: list[BaseMessage]) -> Any:
    """
    Ask a model that is held to a format; where that does not work, ask it in words.

    A server may know no formats, or heed none: then the client cannot read the reply.
    """
    try:
        return held.invoke(messages)
    except Exception as error:
        if held is plain or not (cannot(error) or isinstance(error, ValueError)):
            raise
    return plain.invoke(messages)


async def _aasked(held: Model, plain: Model, messages: list[BaseMessage]) -> Any:
    try:
        return await held.ainvoke(messages)
    except Exception as error:
        if held is plain or not (cannot(error) or isinstance(error, ValueError)):
            raise
    return await plain.ainvoke(messages)


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [_message(message) for message in prompt.messages]


def _message(message: Message) -> BaseMessage:
    return _MESSAGES[message.role](content=message.content.text)


def _completion(reply: Any) -> Completion | str:
    """Return what the model said, and what its message says of its tokens."""
    message = reply.get("raw") if isinstance(reply, dict) else reply
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    if not usage:
        return _text(reply)
    return Completion.of(
        _text(reply), usage.get("input_tokens"), usage.get("output_tokens")
    )


def _is_cut_off(message: AIMessage) -> bool:
    """Say whether the model had no room left; parsers have closed what it filled in."""
    metadata = message.response_metadata
    return any(metadata.get(name) in _NO_ROOM for name in _WHY_IT_STOPPED)


def _text(reply: Any) -> str:
    """
    Return what the model said: its words, or as JSON what it filled in.

    Parsers close what breaks off, so what they make of words is not taken for them.
    """
    if isinstance(reply, dict) and "raw" in reply:
        raw, parsed = reply["raw"], reply.get("parsed")
        if isinstance(raw, AIMessage) and raw.tool_calls and _is_cut_off(raw):
            return ""
        wrote = isinstance(raw, AIMessage) and raw.text and not raw.tool_calls
        reply = raw if wrote or parsed is None else parsed
    if isinstance(reply, BaseModel) and not isinstance(reply, BaseMessage):
        return reply.model_dump_json()
    if isinstance(reply, BaseMessage):
        return str(reply.text)
    return reply if isinstance(reply, str) else json.dumps(reply)
