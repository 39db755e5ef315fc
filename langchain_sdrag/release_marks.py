"""
Messages of a thread, marked with whom they were released to.

`sdrag.engine.release_mark` says what a mark is and who can make one. It is kept in the
response metadata of a message, which is sent to no provider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from langchain_core.documents import Document
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from sdrag.engine import release_mark
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.vocabulary import Confidential, Principal

__all__ = ["ReleaseMark", "needs_release"]

M = TypeVar("M", bound=BaseMessage)
_MARK = "sdrag"
_NOT_RELEASED = (HumanMessage, SystemMessage, RemoveMessage)


def needs_release(message: BaseMessage) -> bool:
    """
    Say whether a message is one that disclosure control releases.

    What a human or the host says is not. A summary of the thread is, though LangChain
    gives it to the model as a human's message.
    """
    if isinstance(message, HumanMessage):
        return "lc_source" in message.additional_kwargs
    return not isinstance(message, _NOT_RELEASED)


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseMark(Confidential):
    """
    The mark of what is released to one principal under one policy.

    Args:
        state: Holds the secret.
        policy: The policy in force.
        principal: To whom messages are released; `None` is nobody in particular.
    """

    state: State
    policy: Policy
    principal: Principal | None

    def put_on(self, message: M) -> M:
        """Return the message with the mark."""
        metadata = {**message.response_metadata, _MARK: self._of(message)}
        return message.model_copy(update={"response_metadata": metadata})

    def stands_on(self, message: BaseMessage) -> bool:
        """Say whether the message, with the text it has now, carries this mark."""
        found: object = message.response_metadata.get(_MARK)
        return found is not None and found == self._of(message)

    def _of(self, message: BaseMessage) -> str:
        texts = (message.type, str(message.text), *_artifact_texts(message))
        return release_mark(self.state, self.policy, self.principal, texts)


def _artifact_texts(message: BaseMessage) -> list[str]:
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    if not isinstance(artifact, (list, tuple)):
        return []
    return [one.page_content for one in artifact if isinstance(one, Document)]
