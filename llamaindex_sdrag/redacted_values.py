"""
Rebuild the objects of LlamaIndex that a tool writes, redacted.

Events and messages keep their types. A message is built anew of its text and its tool
calls, and a node of its text: nothing else is copied with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeWithScore,
    QueryBundle,
    TextNode,
)
from llama_index.core.workflow import Event
from pydantic import ValidationError

from llamaindex_sdrag.auditing import announce
from llamaindex_sdrag.principals import PrincipalResolver, principal_of
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.text.values import Recurse
from sdrag.value_redactor import ValueRedactor

__all__ = ["value_redactor"]


def value_redactor(
    engine: Engine, question: str, resolver: PrincipalResolver | None
) -> ValueRedactor:
    """
    Return what redacts values for the principal of a call.

    Args:
        engine: What enforces the policy.
        question: Ranks constraints, and goes nowhere else.
        resolver: Finds the principal.
    """
    principal = principal_of(QueryBundle(question), resolver)
    return ValueRedactor(engine, _rebuild, principal, question, announce)


def _rebuild(value: Any, recurse: Recurse) -> Any:
    """Rebuild the objects of LlamaIndex."""
    for kind, build in _BUILDERS.items():
        if isinstance(value, kind):
            return build(value, recurse)
    return NotImplemented


def _event(event: Event, recurse: Recurse) -> Event:
    """Keep the type of an event, by which a workflow knows it."""
    kind = type(event)
    given = {name: recurse(getattr(event, name)) for name in kind.model_fields}
    try:
        return kind(**given, **recurse(dict(event.items())))
    except (ValidationError, TypeError):
        pass  # the error quotes what it was given
    raise UsageError(
        f"A guarded tool wrote a {kind.__name__}, which cannot be redacted.",
        hint="Give its fields types that take redacted text.",
    )


def _message(message: ChatMessage, recurse: Recurse) -> ChatMessage:
    text = "\n".join(
        block.text for block in message.blocks if isinstance(block, TextBlock)
    )
    blocks: list[Any] = [TextBlock(text=recurse(text))] if text else []
    blocks += [
        ToolCallBlock(
            tool_call_id=block.tool_call_id,
            tool_name=block.tool_name,
            tool_kwargs=recurse(block.tool_kwargs),
        )
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]
    call = message.additional_kwargs.get("tool_call_id")
    kept = {"tool_call_id": call} if isinstance(call, str) else {}
    return ChatMessage(role=message.role, blocks=blocks, additional_kwargs=kept)


def _node(node: BaseNode, recurse: Recurse) -> TextNode:
    return TextNode(text=recurse(node.get_content(MetadataMode.NONE)))


_BUILDERS: Mapping[type, Callable[[Any, Recurse], Any]] = {
    Event: _event,
    ChatMessage: _message,
    NodeWithScore: lambda value, recurse: NodeWithScore(
        node=_node(value.node, recurse), score=value.score
    ),
    BaseNode: _node,
}
