"""
How LangChain's models are asked.

A chat model that can be held to a reply format is, by its own
`with_structured_output`, and what comes back is handed on as JSON text. Anything else
that takes messages, such as `model.bind(response_format=...)`, is asked for text; the
words of the prompt ask for the same JSON. Whether the text can be read is the core's
to judge.

A cache of LangChain's would store prompts with raw text in them, so a model is copied
with `cache=False` and without its handlers, which would hear them, also within
bindings, fallbacks, sequences and whatever else has models as its fields. Into any
other runnable nobody can see: it is refused while there is a global cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from langchain_core.embeddings import Embeddings
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseLanguageModel
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableSerializable
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import BaseModel

from sdrag.effects.callers import Caller, make_port
from sdrag.effects.calls import Port
from sdrag.effects.prompts import Prompt
from sdrag.effects.retrying import Abilities, cannot
from sdrag.effects.steps import Embed
from sdrag.effects.tokens import Completion, is_cut_off
from sdrag.errors import UsageError, check_type

Model = Runnable[Any, Any]
_LIMITS = ("max_tokens", "max_output_tokens", "num_predict")
"""What providers' classes call the most tokens of a reply."""


def complete(llm: Model) -> Port[Prompt, Completion | str]:
    """Ask a chat model, a completion model, or any runnable over messages."""
    check_type(llm, Runnable, "LangChain model")
    model, abilities = detach(llm), Abilities()
    is_seen = all(isinstance(part, BaseLanguageModel) for part in _parts(llm))

    async def ask(do: Caller, prompt: Prompt) -> Completion:
        if not is_seen and get_llm_cache() is not None:
            raise UsageError(
                "A global cache is set, and would keep the prompts of this model.",
                hint="Pass the model itself, or unset the cache.",
            )
        limited = _limit(model, prompt.max_tokens) if abilities.limits else model
        reply = await _ask(do, limited, prompt, abilities)
        if limited is not model and _thinks(reply):
            abilities.limits = False
            reply = await _ask(do, model, prompt, abilities)
        return _completion(reply)

    return make_port(ask)


def embed(embeddings: Embeddings) -> Port[Embed, Sequence[Sequence[float]]]:
    """Embed with the application's model."""
    check_type(embeddings, Embeddings, "LangChain embedding model")

    async def vectors(do: Caller, effect: Embed) -> Sequence[Sequence[float]]:
        texts = list(effect.items)
        if not effect.query:
            batch, abatch = embeddings.embed_documents, embeddings.aembed_documents
            return await do(batch, abatch, texts)
        query, aquery = embeddings.embed_query, embeddings.aembed_query
        return [await do(query, aquery, text) for text in texts]

    return make_port(vectors)


def model_name(llm: Model) -> str:
    """Name a model for caches and audits, without its keys."""
    parts = list(_parts(llm))
    for part in parts:
        for attribute in ("model_name", "model", "model_id"):
            value = getattr(part, attribute, None)
            if isinstance(value, str) and value:
                return f"{type(part).__name__}:{value}"
    return type(parts[0]).__name__ if parts else ""


def context_window(llm: Model) -> int | None:
    """
    Return how many tokens a model takes in, by its profile; None where none says it.

    Of several that may be asked in place of each other, it is the least.
    """
    profiles = (getattr(part, "profile", None) for part in _parts(llm))
    windows = (p.get("max_input_tokens") for p in profiles if isinstance(p, dict))
    return min((n for n in windows if isinstance(n, int) and n > 0), default=None)


def detach(llm: Any) -> Any:
    """Return a copy in which no model that can be seen keeps or tells its prompts."""
    if type(llm) in {list, tuple}:
        return type(llm)(map(detach, llm))
    if type(llm) is dict:
        return {key: detach(value) for key, value in llm.items()}
    if isinstance(llm, BaseLanguageModel):
        return llm.model_copy(update={"cache": False, "callbacks": None})
    if not isinstance(llm, RunnableSerializable):
        return llm
    update = {name: detach(getattr(llm, name)) for name in type(llm).model_fields}
    if isinstance(llm, RunnableBindingBase):
        update["config"] = {**llm.config, "callbacks": None}
        update["config_factories"] = []
    return llm.model_copy(update=update)


def messages(prompt: Prompt) -> list[BaseMessage]:
    """Return the messages of a prompt."""
    return convert_to_messages(
        [(message.role, message.content.text) for message in prompt.messages]
    )


def _parts(llm: Any) -> Iterator[Model]:
    """Yield what a runnable is made of, as far as it can be seen."""
    if type(llm) in {list, tuple, dict}:
        for each in llm.values() if isinstance(llm, dict) else llm:
            yield from _parts(each)
    elif isinstance(llm, BaseLanguageModel):
        yield llm
    elif isinstance(llm, RunnableSerializable):
        fields = [getattr(llm, name) for name in type(llm).model_fields]
        yield from [*_parts(fields)] or [llm]
    elif isinstance(llm, Runnable):
        yield llm


async def _ask(do: Caller, model: Model, prompt: Prompt, abilities: Abilities) -> Any:
    """
    Ask a model in its own way for the reply format; where that fails, in words.

    A server may know no formats, or heed none: then the client cannot read the reply.
    """
    given = messages(prompt)
    formatted = (
        _hold_to_format(model, prompt.reply_format) if abilities.formats else model
    )
    try:
        return await do(formatted.invoke, formatted.ainvoke, given)
    except Exception as error:
        if type(error).__name__ == "LengthFinishReasonError":
            return _cut_off(error)
        is_unknown = cannot(error)
        if formatted is model or not (is_unknown or isinstance(error, ValueError)):
            raise
    reply = await do(model.invoke, model.ainvoke, given)
    abilities.formats = not is_unknown
    return reply


def _limit(model: Model, tokens: int | None) -> Model:
    """Limit the replies of a chat model, unless the application has."""
    fields = type(model).model_fields if isinstance(model, BaseChatModel) else ()
    name = next((name for name in _LIMITS if name in fields), None)
    if tokens is None or name is None or getattr(model, name) is not None:
        return model
    return cast("BaseChatModel", model).model_copy(update={name: tokens})


def _cut_off(error: Any) -> AIMessage:
    """Return the reply that OpenAI's client raises, since it was cut off."""
    usage = error.completion.usage
    details = getattr(usage, "completion_tokens_details", None)
    counts = usage.prompt_tokens, usage.completion_tokens
    return AIMessage(
        error.completion.choices[0].message.content or "",
        response_metadata={"finish_reason": "length"},
        usage_metadata={
            "input_tokens": counts[0],
            "output_tokens": counts[1],
            "total_tokens": sum(counts),
            "output_token_details": {
                "reasoning": getattr(details, "reasoning_tokens", None) or 0
            },
        },
    )


def _message(reply: Any) -> Any:
    return reply.get("raw") if isinstance(reply, dict) else reply


def _is_cut_off(reply: Any) -> bool:
    metadata = getattr(_message(reply), "response_metadata", None) or {}
    return is_cut_off(metadata.get)


def _thinks(reply: Any) -> bool:
    """Say whether a reply was cut off while the model was still thinking."""
    message = _message(reply)
    if not _is_cut_off(reply):
        return False
    usage = message.usage_metadata or {}
    thought = usage.get("output_token_details", {}).get("reasoning")
    wrote = bool(message.text.strip() or message.tool_calls)
    return bool(thought) or not wrote or message.text.startswith("<think>")


def _hold_to_format(model: Model, reply_format: type[BaseModel] | None) -> Model:
    """Hold a chat model to the format, where it has a way of its own."""
    if reply_format is None or not isinstance(model, BaseChatModel):
        return model
    try:
        return model.with_structured_output(reply_format, include_raw=True)
    except (NotImplementedError, ValueError, TypeError):
        return model


def _completion(reply: Any) -> Completion:
    """Return what the model said, and what its message says of its tokens."""
    usage: Any = getattr(_message(reply), "usage_metadata", None) or {}
    counts = usage.get("input_tokens"), usage.get("output_tokens")
    return Completion(_text(reply), *counts, _is_cut_off(reply))


def _text(reply: Any) -> str:
    """
    Return what the model said: its words, or as JSON what it filled in.

    Parsers close what breaks off, so what they make of words is not taken for them.
    """
    if isinstance(reply, dict) and "raw" in reply:
        raw, parsed = reply["raw"], reply.get("parsed")
        wrote = isinstance(raw, AIMessage) and raw.text and not raw.tool_calls
        reply = raw if wrote or parsed is None else parsed
    if isinstance(reply, BaseMessage):
        return str(reply.text)
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply)
