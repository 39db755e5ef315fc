"""
Rebuild the objects of LangChain and LangGraph that a tool writes, redacted.

Messages, documents and commands keep their types. A message is built anew of its text
and its tool calls, and a document of its text: nothing else is copied with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from sdrag.errors import require_extra
from sdrag.text.values import Recurse

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphDrained, GraphInterrupt, ParentCommand
    from langgraph.types import Command, Interrupt, Overwrite, Send

__all__ = ["rebuild"]

_INTERRUPT_ID_LENGTH = 32


def rebuild(value: Any, recurse: Recurse) -> Any:
    """Rebuild the objects of LangChain and LangGraph."""
    for kind, build in _BUILDERS.items():
        if isinstance(value, kind):
            return build(value, recurse)
    return NotImplemented


def _message(message: BaseMessage, recurse: Recurse) -> BaseMessage:
    if isinstance(message, RemoveMessage):
        return message
    text = str(message.text)
    content = recurse(text) if text else ""
    if isinstance(message, ToolMessage):
        return ToolMessage(
            content,
            id=message.id,
            name=message.name,
            tool_call_id=message.tool_call_id,
            status=message.status,
        )
    if isinstance(message, AIMessage):
        calls = [{**call, "args": recurse(call["args"])} for call in message.tool_calls]
        name = message.name if recurse(message.name) == message.name else None
        return AIMessage(content, id=message.id, name=name, tool_calls=calls)
    for kind in (HumanMessage, SystemMessage):
        if isinstance(message, kind):
            return kind(content, id=message.id)
    return HumanMessage(content, id=message.id)


def _command(command: Command[Any], recurse: Recurse) -> Command[Any]:
    """Keep where a command goes, and redact what it writes."""
    goto: Any = command.goto
    if isinstance(goto, (list, tuple)):
        goto = [place if isinstance(place, str) else recurse(place) for place in goto]
    elif not isinstance(goto, str):
        goto = recurse(goto)
    return Command(
        graph=command.graph,
        update=_update(command.update, recurse),
        resume=recurse(command.resume),
        goto=goto,
    )


def _update(update: Any, recurse: Recurse) -> Any:
    """Keep the names of the state's channels, and redact what is written to them."""
    if isinstance(update, dict):
        return {channel: recurse(written) for channel, written in update.items()}
    if isinstance(update, (list, tuple)):
        return [
            (part[0], recurse(part[1])) if _is_write(part) else recurse(part)
            for part in update
        ]
    return recurse(update)


def _is_write(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)


def _interrupt(interrupt: Interrupt[Any], recurse: Recurse) -> Interrupt[Any]:
    """Keep what the graph resumes by; a schema stays if all of it is released."""
    schema: Any = interrupt.response_schema
    kept: dict[str, Any] = {}
    if recurse(schema) == schema:
        kept["response_schema"] = schema
    if _is_digest(interrupt.id):
        kept["id"] = interrupt.id
    return Interrupt(recurse(interrupt.value), **kept)


def _is_digest(identity: str) -> bool:
    """Say whether an id is one that LangGraph makes, which says nothing."""
    digits = set("0123456789abcdef")
    return len(identity) == _INTERRUPT_ID_LENGTH and set(identity) <= digits


_BUILDERS: Mapping[type, Callable[[Any, Recurse], Any]] = {
    BaseMessage: _message,
    Document: lambda value, recurse: Document(page_content=recurse(value.page_content)),
    Command: _command,
    Send: lambda value, recurse: Send(
        value.node, recurse(value.arg), timeout=value.timeout
    ),
    Overwrite: lambda value, recurse: Overwrite(recurse(value.value)),
    GraphInterrupt: lambda value, recurse: GraphInterrupt(
        tuple(_interrupt(one, recurse) for one in value.args[0])
    ),
    ParentCommand: lambda value, recurse: ParentCommand(
        _command(value.args[0], recurse)
    ),
    GraphDrained: lambda *_: GraphDrained(),  # its reason is a text
}
