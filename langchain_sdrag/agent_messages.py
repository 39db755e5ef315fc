"""
Messages of an agent: taken apart for redaction, made anew, marked.

Documents in the artifact of a tool's message are redacted with their metadata, and the
content is made anew of those that are released. A text without documents has no
metadata, so it is given all that any constraint's `where` could ask for: every
constraint holds for it. Whatever else a message holds is dropped, and so are the
arguments of tool calls, which the model wrote for another principal.

A mark says to whom a message was released; see `release_mark` of the core. It is kept
in the response metadata of a message, which is sent to no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

from sdrag.engine import Engine, release_mark
from sdrag.errors import UsageError, require_extra
from sdrag.policy import Policy, metadata_of_any
from sdrag.vocabulary import Confidential, Principal

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command

__all__ = [
    "NOTHING",
    "ReleaseMark",
    "answer_with",
    "documents_in",
    "messages_in",
    "needs_release",
    "rebuild",
]

NOTHING = "Nothing was found that may be disclosed."
"""Replaces a text that may not be disclosed."""
Answer = ToolMessage | Command[Any]
_MARK = "sdrag"


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseMark(Confidential):
    """
    The mark of what is released to one principal under one policy.

    Args:
        engine: Enforces the policy; its state holds the secret.
        principal: To whom messages are released; `None` is nobody in particular.
    """

    engine: Engine
    principal: Principal | None

    def put_on(self, message: BaseMessage) -> BaseMessage:
        """Return the message with the mark."""
        metadata = {**message.response_metadata, _MARK: self._of(message)}
        return message.model_copy(update={"response_metadata": metadata})

    def stands_on(self, message: BaseMessage) -> bool:
        """Say whether the message, with the text it has now, carries this mark."""
        mark: object = message.response_metadata.get(_MARK)
        return mark is not None and mark == self._of(message)

    def _of(self, message: BaseMessage) -> str:
        documents = _artifact(message) or ()
        texts = (message.type, str(message.text), *(d.page_content for d in documents))
        state, policy = self.engine.disclosure.state, self.engine.policy
        return release_mark(state, policy, self.principal, texts)


def needs_release(message: BaseMessage) -> bool:
    """
    Say whether a message is one that disclosure control releases.

    What a human or the host says is not. A summary of the thread is, though LangChain
    gives it to the model as a human's message.
    """
    if isinstance(message, HumanMessage):
        return "lc_source" in message.additional_kwargs
    return not isinstance(message, SystemMessage | RemoveMessage)


def documents_in(message: BaseMessage, policy: Policy) -> list[Document]:
    """Return the documents of the artifact, or the text as one document."""
    documents, text = _artifact(message), str(message.text)
    if documents is not None:
        return documents
    return [Document(text, metadata=metadata_of_any(policy))] if text else []


def rebuild(
    message: BaseMessage, released: Sequence[Document], **names: Any
) -> BaseMessage:
    """
    Build the message that model, state and checkpointer see.

    Args:
        message: What it is built of; it is not changed.
        released: What is left of its documents.
        names: Ids and names that replace those of the message.
    """
    text = "\n\n".join(document.page_content for document in released)
    if isinstance(message, ToolMessage):
        kept = ("id", "name", "tool_call_id", "status")
        fields = {name: getattr(message, name) for name in kept} | names
        artifact = None if _artifact(message) is None else list(released)
        return ToolMessage(content=text or NOTHING, artifact=artifact, **fields)
    if isinstance(message, AIMessage):
        calls = [{**call, "args": {}} for call in message.tool_calls]
        text = text or ("" if calls else NOTHING)
        return AIMessage(text, id=names.get("id", message.id), tool_calls=calls)
    return HumanMessage(text or NOTHING, id=names.get("id", message.id))


def messages_in(answer: object, request: ToolCallRequest) -> list[BaseMessage]:
    """
    Return the messages of a tool's answer that are not in the thread already.

    Raises:
        UsageError: The answer holds what cannot be redacted.
    """
    return [m for m in _written(answer, request) if m not in _thread(request)]


def answer_with(
    answer: Any, request: ToolCallRequest, released: dict[int, BaseMessage]
) -> Any:
    """
    Rebuild a tool's answer of released messages.

    Args:
        answer: What `messages_in` has admitted.
        request: The call of the tool.
        released: By the `id()` of the message that each replaces.
    """
    if isinstance(answer, list):
        return [answer_with(part, request, released) for part in answer]
    if isinstance(answer, ToolMessage):
        return released.get(id(answer), answer)
    if answer.update is None:
        return answer
    messages = [released.get(id(m), m) for m in _written(answer, request)]
    return Command(
        graph=answer.graph,
        goto=answer.goto,
        update={**answer.update, "messages": messages},
    )


def _written(answer: object, request: ToolCallRequest) -> list[BaseMessage]:
    """Return the messages of an answer, or refuse it."""
    if isinstance(answer, list):
        return [m for part in answer for m in _written(part, request)]
    if isinstance(answer, ToolMessage):
        return [answer]
    if not isinstance(answer, Command):
        raise UsageError("A guarded tool returned what cannot be redacted.")
    update = {} if answer.update is None else answer.update
    goto = answer.goto if isinstance(answer.goto, list | tuple) else [answer.goto]
    state = request.state if isinstance(request.state, dict) else {}
    if (
        not isinstance(update, dict)
        or answer.resume is not None
        or not all(isinstance(node, str) for node in goto)
        or any(update[key] != state.get(key) for key in update if key != "messages")
    ):
        raise UsageError(
            "A guarded tool returned a `Command` that writes more than messages.",
            hint="Write state in a node of the graph, or leave a tool that retrieves"
            " nothing out of `tools=[...]` of `SelectiveDisclosureMiddleware`.",
        )
    messages = update.get("messages", [])
    listed = messages if isinstance(messages, list) else [messages]
    if not all(isinstance(m, AIMessage | HumanMessage | ToolMessage) for m in listed):
        raise UsageError("A guarded tool returned a message that cannot be redacted.")
    return listed


def _thread(request: ToolCallRequest) -> list[BaseMessage]:
    state = request.state
    messages = state.get("messages") if isinstance(state, dict) else state
    return list(getattr(state, "messages", messages) or ())


def _artifact(message: BaseMessage) -> list[Document] | None:
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    if not isinstance(artifact, list | tuple) or not artifact:
        return None
    return list(artifact) if all(isinstance(d, Document) for d in artifact) else None
