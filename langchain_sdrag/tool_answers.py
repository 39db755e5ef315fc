"""
What a tool gave back, prepared for redaction.

A tool answers with a message, with a command, with several of both, or stops the graph
by an interrupt. It writes the messages itself, so it can put text into their ids, names
and the ids of calls. Only ids that the thread knows are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage

from sdrag.errors import UsageError, require_extra

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphDrained, GraphInterrupt, ParentCommand
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command

__all__ = ["checked", "named", "tool_messages"]

_JUDGED = (ToolMessage, Command, GraphInterrupt, ParentCommand, GraphDrained)


def checked(found: Any) -> Any:
    """
    Return what a tool gave back if it can be redacted.

    Raises:
        UsageError: It is of no kind that a tool of an agent gives back.
    """
    parts = found if isinstance(found, list) else [found]
    if all(isinstance(part, _JUDGED) for part in parts):
        return found
    raise UsageError("A guarded tool returned what cannot be redacted.")


def named(found: Any, request: ToolCallRequest) -> Any:
    """Replace the names and ids that the tool made up."""
    known = _messages_of(request.state)
    ids = {message.id for message in known}
    calls = {
        call["id"]
        for message in known
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }

    def rename(value: Any) -> Any:
        if isinstance(value, ParentCommand):
            return ParentCommand(rename(value.args[0]))
        if isinstance(value, Command):
            return replace(value, update=rename(value.update))
        if isinstance(value, dict):
            return {key: rename(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(rename, value))
        if not isinstance(value, BaseMessage) or isinstance(value, RemoveMessage):
            return value
        made: dict[str, Any] = {} if value.id in ids else {"id": None}
        if isinstance(value, ToolMessage):
            made["name"] = request.tool_call["name"]
            if value.tool_call_id not in calls:
                made["tool_call_id"] = request.tool_call["id"]
        return value.model_copy(update=made)

    return rename(found)


def tool_messages(found: Any) -> list[ToolMessage]:
    """Return the tool messages that are redacted like what a retriever found."""
    if isinstance(found, ToolMessage):
        return [found]
    if isinstance(found, ParentCommand):
        return tool_messages(found.args[0])
    if isinstance(found, Command):
        return tool_messages(found.update)
    if isinstance(found, dict):
        return [message for part in found.values() for message in tool_messages(part)]
    if isinstance(found, (list, tuple)):
        return [message for part in found for message in tool_messages(part)]
    return []


def _messages_of(state: Any) -> list[BaseMessage]:
    found = state.get("messages") if isinstance(state, Mapping) else state
    found = getattr(state, "messages", found)
    return [one for one in found or () if isinstance(one, BaseMessage)]
