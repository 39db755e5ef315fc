"""
Messages of an agent: taken apart for redaction, made anew, stamped.

Documents in the artifact of a tool's message are redacted with their metadata, and the
content is made anew of those that are released. A text without documents has no
metadata, so it is given all that any constraint's `where` could ask for: every
constraint holds for it. Whatever else a message holds is dropped, and so are the
arguments of tool calls, which the model wrote for another principal.

A stamp says to whom a message was released; see `Keys.mark_release` of the core. It is
kept in the response metadata of a message, which is sent to no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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

from langchain_sdrag.convert import documents_of, passages_of
from sdrag.effects.callers import Caller
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError, require_extra
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import metadata_of_any
from sdrag.principals import acting_as
from sdrag.vocabulary import Confidential
from sdrag.wrapper import NOTHING_RELEASED

with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command


_STAMP_KEY = "sdrag"


def needs_release(message: BaseMessage) -> bool:
    """
    Say whether a message is one that disclosure control releases.

    What a human or the application says is not. A summary of the thread is, though
    LangChain gives it to the model as a human's message.
    """
    if isinstance(message, HumanMessage):
        return "lc_source" in message.additional_kwargs
    return not isinstance(message, SystemMessage | RemoveMessage)


@dataclass(frozen=True, slots=True, repr=False)
class Release(Confidential):
    """Redacts messages for one principal under one policy, and stamps them."""

    engine: Engine
    request: Request

    def stamp(self, message: BaseMessage) -> BaseMessage:
        """Return the message with its release stamp."""
        metadata = {**message.response_metadata, _STAMP_KEY: self._make_stamp(message)}
        return message.model_copy(update={"response_metadata": metadata})

    def is_stamped(self, message: BaseMessage) -> bool:
        """Say whether the message, with the text it has now, carries this stamp."""
        stamp: object = message.response_metadata.get(_STAMP_KEY)
        return stamp is not None and stamp == self._make_stamp(message)

    async def redact(
        self, do: Caller, message: BaseMessage, **names: Any
    ) -> BaseMessage:
        """Return what may be disclosed of a message, under its names or others."""
        engine, steps = self.engine, self._steps(message)
        with acting_as(self.request.principal, self.request.session_id):
            disclosure, _ = await do(engine.run, engine.arun, steps)
        released = documents_of(disclosure.passages)
        return self.stamp(_rebuild(message, released, **names))

    async def redact_answer(
        self, do: Caller, call: ToolCallRequest, answer: object
    ) -> Any:
        """
        Redact what a tool answers, under the ids and names of its call.

        What carries the stamp was redacted for this principal already.
        """
        if isinstance(answer, list):
            return [await self.redact_answer(do, call, part) for part in answer]
        names = {"name": call.tool_call["name"], "tool_call_id": call.tool_call["id"]}
        if isinstance(answer, ToolMessage):
            if self.is_stamped(answer):
                return answer
            return await self.redact(do, answer, id=None, **names)
        if not isinstance(answer, Command):
            raise UsageError("A guarded tool returned what cannot be redacted.")
        if answer.update is None:
            return answer
        messages, thread = _messages_in(answer, call), _thread(call)
        released = [
            message
            if message in thread or self.is_stamped(message)
            else await self.redact(do, message, id=None, **names)
            for message in messages
        ]
        update = {**answer.update, "messages": released}
        return Command(graph=answer.graph, goto=answer.goto, update=update)

    def _make_stamp(self, message: BaseMessage) -> str:
        documents = _artifact(message) or ()
        texts = (message.type, str(message.text), *(d.page_content for d in documents))
        keys, policy = self.engine.disclosure.state.keys, self.engine.policy
        return keys.mark_release(self.request.principal, policy.hash, texts)

    def _steps(self, message: BaseMessage) -> Steps[Disclosure]:
        documents, text = _artifact(message), str(message.text)
        if documents is None:
            metadata = metadata_of_any(self.engine.policy)
            documents = [Document(text, metadata=metadata)] if text else []
        passages = passages_of(documents)
        disclosure = yield from disclose(passages, self.request, self.engine)
        tool = message.name or "" if isinstance(message, ToolMessage) else None
        return replace(disclosure, tool=tool)


def _rebuild(
    message: BaseMessage, released: Sequence[Document], **names: Any
) -> BaseMessage:
    """Build the message that model, state and checkpointer see."""
    text = "\n\n".join(document.page_content for document in released)
    if isinstance(message, ToolMessage):
        kept = ("id", "name", "tool_call_id", "status")
        fields = {name: getattr(message, name) for name in kept} | names
        artifact = None if _artifact(message) is None else list(released)
        return ToolMessage(text or NOTHING_RELEASED, artifact=artifact, **fields)
    identity = names.get("id", message.id)
    if isinstance(message, AIMessage):
        calls = [{**call, "args": {}} for call in message.tool_calls]
        text = text or ("" if calls else NOTHING_RELEASED)
        return AIMessage(text, id=identity, tool_calls=calls)
    return HumanMessage(text or NOTHING_RELEASED, id=identity)


def _messages_in(command: Command[Any], call: ToolCallRequest) -> list[BaseMessage]:
    """Return the messages of a command that writes nothing else, or refuse it."""
    update, goto = command.update, command.goto
    nodes = goto if isinstance(goto, list | tuple) else [goto]
    state = call.state if isinstance(call.state, dict) else {}
    if (
        not isinstance(update, dict)
        or command.resume is not None
        or not all(isinstance(node, str) for node in nodes)
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


def _thread(call: ToolCallRequest) -> list[BaseMessage]:
    state = call.state
    messages = state.get("messages") if isinstance(state, dict) else state
    return list(getattr(state, "messages", messages) or ())


def _artifact(message: BaseMessage) -> list[Document] | None:
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    if not isinstance(artifact, list | tuple) or not artifact:
        return None
    return list(artifact) if all(isinstance(d, Document) for d in artifact) else None
