"""
What one request asks of its model: calls, round trips, and tokens in and out.

Every call counts when it is made, also one that fails and is made again, and one that
nobody waits for any more. Tokens are those the provider reports, or else estimated from
the words. A call that was refused for now counts, and took no tokens: nobody read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from sdrag.engine.calls import Port
from sdrag.engine.prompts import Prompt
from sdrag.engine.retrying import refusal
from sdrag.engine.tokens import Completion, estimated

__all__ = ["Meter"]

_Reply = Completion | str


@dataclass(slots=True)
class Meter:
    """
    Counts of one request, over all of its threads.

    Args:
        calls: How many prompts were sent; one that was sent again counts again.
        tokens_in: What the model read.
        tokens_out: What it wrote.
        round_trips: How often it was waited for: prompts sent together are one.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    round_trips: int = 0
    _waiting: int = field(default=0, repr=False, compare=False)
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @contextmanager
    def round_trip(self) -> Iterator[None]:
        """Count prompts that are sent together, and while others are waited for."""
        with self._lock:
            self.round_trips += not self._waiting
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def metered(self, port: Port[Prompt, _Reply]) -> Port[Prompt, _Reply]:
        """Return a port that does the same, and is counted."""

        def call(prompt: Prompt) -> _Reply:
            with self._counted(prompt) as counted:
                return counted(port.call(prompt))

        if port.acall is None:
            return Port(call, local=port.local)
        awaited = port.acall

        async def acall(prompt: Prompt) -> _Reply:
            with self._counted(prompt) as counted:
                return counted(await awaited(prompt))

        return Port(call, acall, local=port.local)

    @contextmanager
    def _counted(self, prompt: Prompt) -> Iterator[Callable[[_Reply], _Reply]]:
        sent = estimated(message.content.text for message in prompt.messages)
        self._add(calls=1, tokens_in=sent)

        def counted(reply: _Reply) -> _Reply:
            said = reply if isinstance(reply, Completion) else Completion(reply)
            if isinstance(said.text, str):  # else it is no reply, and read as a failure
                self._add(
                    tokens_in=0 if said.tokens_in is None else said.tokens_in - sent,
                    tokens_out=(
                        estimated((said.text,))
                        if said.tokens_out is None
                        else said.tokens_out
                    ),
                )
            return reply

        try:
            yield counted
        except Exception as error:
            if refusal(error) is not None:
                self._add(tokens_in=-sent)
            raise

    def _add(self, *, calls: int = 0, tokens_in: int = 0, tokens_out: int = 0) -> None:
        with self._lock:
            self.calls += calls
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out
