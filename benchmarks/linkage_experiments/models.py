"""
Model calls of the linkage experiments: the thesis's prompts, filled and read.

The prompts are those of Appendix B, kept as text next to this file. What the thesis did
not print (the steps of SAGE, rules for its assessment) is written in its manner. A
model is any callable from a system and a user message to a reply; `from_langchain` and
`from_llamaindex` make one of a chat model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from sdrag.errors import ModelReplyError

__all__ = [
    "Ask",
    "ask_of",
    "asked",
    "from_langchain",
    "from_llamaindex",
    "prompt",
]

_PROMPTS = Path(__file__).with_name("prompts")

Ask = Callable[[str, str], str]
"""A model: system message and user message to reply."""


def from_langchain(model: Any) -> Ask:
    """Return a LangChain chat model as a callable; its temperature is its own."""

    def ask(system: str, user: str) -> str:
        turns = [("system", system)] if system else []
        return str(model.invoke([*turns, ("human", user)]).text)

    return ask


def from_llamaindex(model: Any) -> Ask:
    """Return a LlamaIndex LLM as a callable; its temperature is its own."""
    from llama_index.core.llms import ChatMessage  # noqa: PLC0415 -- only for one

    def ask(system: str, user: str) -> str:
        turns = [ChatMessage(role="system", content=system)] if system else []
        turns.append(ChatMessage(role="user", content=user))
        return str(model.chat(turns).message.content)

    return ask


def ask_of(model: Any) -> Ask:
    """Return a callable as it is, or a chat model of either framework as one."""
    if hasattr(model, "invoke"):
        return from_langchain(model)
    if hasattr(model, "chat"):
        return from_llamaindex(model)
    ask: Ask = model
    return ask


def prompt(name: str, **values: object) -> str:
    """Return a prompt by name; a value is put in once and never read as a template."""
    pieces = _template(name)
    return "".join(
        str(values[piece[1:-1]]) if piece[1:-1] in values else piece for piece in pieces
    )


def asked(ask: Ask, system: str, user: str) -> dict[str, Any]:
    """
    Ask for one JSON object.

    Raises:
        ModelReplyError: The reply holds none.
    """
    reply = ask(system, user)
    start, end = reply.find("{"), reply.rfind("}")
    try:
        found = json.loads(reply[start : end + 1])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ModelReplyError("A reply of an experiment's model cannot be read.")
    return found


@lru_cache(maxsize=32)
def _template(name: str) -> tuple[str, ...]:
    """Return a prompt cut at its fields."""
    text = (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8")
    pieces: list[str] = []
    while "{" in text:
        before, _, rest = text.partition("{")
        field = rest.partition("}")[0]
        pieces.append(before)
        if field.isidentifier():
            pieces.append("{" + field + "}")
            text = rest[len(field) + 1 :]
        else:
            pieces.append("{")
            text = rest
    return (*pieces, text)
