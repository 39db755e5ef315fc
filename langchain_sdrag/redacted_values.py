"""
Redact values that a tool writes next to its answer: updates, events, items, questions.

All texts of one value are judged together, as parts of one document, so that a name
that is found in one of them is known in the others. A text without metadata is given
all that any constraint's `where` could ask for: every constraint holds for it.

Messages, documents and commands keep their types. A message is built anew of its text
and its tool calls, and a document of its text: nothing else rides along on them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType
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

from langchain_sdrag.selective_disclosure_compressor import (
    SelectiveDisclosureCompressor,
)
from langchain_sdrag.tool_messages import NOTHING
from sdrag.extras import require_extra
from sdrag.policy import metadata_of_any
from sdrag.principals import acting_as
from sdrag.text.value_rewriting import Rebuild, Recurse, rewrite_value, texts_in
from sdrag.vocabulary import Confidential, Principal

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphDrained, GraphInterrupt, ParentCommand
    from langgraph.types import Command, Interrupt, Overwrite, Send

__all__ = ["ValueRedactor"]

Done = Mapping[int, Any]
_NONE: Done = MappingProxyType({})
_KEY = secrets.token_bytes(32)
_INTERRUPT_ID_LENGTH = 32
_WHOLE = "value"


@dataclass(frozen=True, slots=True, repr=False)
class ValueRedactor(Confidential):
    """
    Redacts values for one principal under one policy.

    Args:
        redactor: Enforces the policy; it does not change during the call.
        principal: On whose behalf.
        question: Ranks constraints, and goes nowhere else.
    """

    redactor: SelectiveDisclosureCompressor
    principal: Principal | None
    question: str = ""

    def redact(self, value: Any, done: Done = _NONE) -> Any:
        """
        Return a copy of a value that holds what may be disclosed.

        Args:
            value: What a tool wrote; it is not changed.
            done: What was made of objects in the value already, by `id`.
        """
        rebuild = _rebuilding(done)
        documents = self._documents(value, rebuild)
        with acting_as(self.principal):
            released = self.redactor.compress_documents(documents, self.question)
        return _put_together(value, documents, released, rebuild)

    async def aredact(self, value: Any, done: Done = _NONE) -> Any:
        """Return the copy without blocking the event loop; as `redact`."""
        rebuild = _rebuilding(done)
        documents = self._documents(value, rebuild)
        with acting_as(self.principal):
            released = await self.redactor.acompress_documents(documents, self.question)
        return _put_together(value, documents, released, rebuild)

    def _documents(self, value: Any, rebuild: Rebuild) -> list[Document]:
        """Make one document of all texts of a value, and one of each."""
        texts = texts_in(value, rebuild)
        if not texts:
            return []
        whole = "\n".join(texts)
        digest = blake2b(whole.encode("utf-8", "surrogatepass"), key=_KEY)
        metadata = {
            "document_id": digest.hexdigest(),
            **metadata_of_any(self.redactor.policy),
        }
        ids = [_WHOLE, *(f"{_WHOLE}-{index}" for index in range(len(texts)))]
        return [
            Document(id=identity, page_content=text, metadata=metadata)
            for identity, text in zip(ids, (whole, *texts), strict=True)
        ]


def _put_together(
    value: Any,
    documents: list[Document],
    released: list[Document],
    rebuild: Rebuild,
) -> Any:
    """Build the copy; nothing is released where the texts together are not."""
    left = {document.id: document.page_content for document in released}
    texts = {document.page_content: left.get(document.id) for document in documents[1:]}
    rewrite: Callable[[str], str | None] = texts.get
    if _WHOLE not in left:
        rewrite = _nothing
    return rewrite_value(value, rewrite, withheld=NOTHING, rebuild=rebuild)


def _nothing(_: str) -> None:
    """Release nothing of a text."""


def _rebuilding(done: Done) -> Rebuild:
    def rebuild(value: Any, recurse: Recurse) -> Any:
        if id(value) in done:
            return done[id(value)]
        return _rebuild(value, recurse)

    return rebuild


def _rebuild(value: Any, recurse: Recurse) -> Any:
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
