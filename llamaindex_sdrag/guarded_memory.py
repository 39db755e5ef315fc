"""
A chat memory that several principals may share.

What an agent says to one principal, and what its tools found, is kept in its memory and
shown to the model at the next question. A guarded memory notes to whom each message was
released, and redacts it when it is read for another principal. The memory itself keeps
the messages as they are. What a user or the host says is not redacted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Self, Unpack

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory
from pydantic import PrivateAttr

from llamaindex_sdrag.principals import PrincipalResolver, principal_of
from llamaindex_sdrag.redacted_values import value_redactor
from llamaindex_sdrag.wrapping import DisclosureArguments, disclosing_engine
from sdrag.engine import Engine, release_mark
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.wrapper import ReloadableWrapper

__all__ = ["GuardedMemory", "guard_memory"]

_MARK = "sdrag"
_NOT_RELEASED = (MessageRole.USER, MessageRole.SYSTEM, MessageRole.DEVELOPER)


def guard_memory(
    memory: BaseMemory, **given: Unpack[DisclosureArguments]
) -> GuardedMemory:
    """
    Return a memory that shows each principal what the policy lets be disclosed.

    Args:
        memory: The host's own.
        **given: As for `SelectiveDisclosurePostprocessor`.

    Example:
        ```python
        memory = guard_memory(ChatMemoryBuffer.from_defaults(), policy="policy.yaml")
        agent.run(user_msg=question, memory=memory)
        ```

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: What was given is no memory.
    """
    if not isinstance(memory, BaseMemory):
        raise UsageError(
            f"`memory` must be a LlamaIndex memory, got {type(memory).__name__}.",
            hint="Make one, by `ChatMemoryBuffer.from_defaults` say.",
        )
    engine, resolver = disclosing_engine("guard_memory", "disclose", given)
    guarded = GuardedMemory(memory, resolver)
    guarded._follow(engine, given["policy"])  # noqa: SLF001 -- of this very module
    return guarded


class GuardedMemory(ReloadableWrapper, BaseMemory):
    """A memory whose messages are redacted for whom they were not released to."""

    _inner: BaseMemory = PrivateAttr()
    _resolver: PrincipalResolver | None = PrivateAttr()
    _made: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    def __init__(self, inner: BaseMemory, resolver: PrincipalResolver | None) -> None:
        super().__init__()
        self._inner = inner
        self._resolver = resolver

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "GuardedMemory"

    @classmethod
    def from_defaults(cls, **_: Any) -> NoReturn:
        """Refuse to make a memory without a policy."""
        raise UsageError(
            "A guarded memory is made of another one.", hint="Use `guard_memory`."
        )

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return what the principal may see of the memory."""
        return self._released(self._inner.get(input=input, **kwargs))

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return it without blocking the event loop."""
        return await self._areleased(await self._inner.aget(input=input, **kwargs))

    def get_all(self) -> list[ChatMessage]:
        """Return what the principal may see of the whole memory."""
        return self._released(self._inner.get_all())

    async def aget_all(self) -> list[ChatMessage]:
        """Return it without blocking the event loop."""
        return await self._areleased(await self._inner.aget_all())

    def put(self, message: ChatMessage) -> None:
        """Keep a message, with a mark of whom it was released to."""
        self._inner.put(self._marked(message))

    async def aput(self, message: ChatMessage) -> None:
        """Keep it without blocking the event loop."""
        await self._inner.aput(self._marked(message))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Keep messages without blocking the event loop."""
        await self._inner.aput_messages([self._marked(one) for one in messages])

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the memory; the messages count as released to nobody."""
        self._inner.set([_unmarked(one) for one in messages])

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace it without blocking the event loop."""
        await self._inner.aset([_unmarked(one) for one in messages])

    def reset(self) -> None:
        """Empty the memory."""
        self._inner.reset()

    async def areset(self) -> None:
        """Empty it without blocking the event loop."""
        await self._inner.areset()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        raise UsageError(
            "A guarded memory is not copied: the copy would be kept apart.",
            hint="Guard another memory.",
        )

    def _released(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        engine = self.in_force()
        values = value_redactor(engine, "", self._resolver)
        return [
            _unmarked(one) if self._stands(one, engine.policy) else values.redact(one)
            for one in messages
        ]

    async def _areleased(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        engine = self.in_force()
        values = value_redactor(engine, "", self._resolver)
        return [
            _unmarked(one)
            if self._stands(one, engine.policy)
            else await values.aredact(one)
            for one in messages
        ]

    def _stands(self, message: ChatMessage, policy: Policy) -> bool:
        """Say whether a message may be shown as it is."""
        if message.role in _NOT_RELEASED:
            return True
        found = message.additional_kwargs.get(_MARK)
        return found is not None and found == self._mark(message, policy)

    def _marked(self, message: ChatMessage) -> ChatMessage:
        if message.role in _NOT_RELEASED:
            return message
        mark = self._mark(message, self.policy)
        kept = {**message.additional_kwargs, _MARK: mark}
        return message.model_copy(update={"additional_kwargs": kept})

    def _mark(self, message: ChatMessage, policy: Policy) -> str:
        principal = principal_of(None, self._resolver)
        texts = (message.role.value, message.content or "")
        state = self._made.disclosure.state
        return release_mark(state, policy, principal, texts)


def _unmarked(message: ChatMessage) -> ChatMessage:
    """Return a message without its mark, which a provider would be sent."""
    kept = {k: v for k, v in message.additional_kwargs.items() if k != _MARK}
    return message.model_copy(update={"additional_kwargs": kept})
