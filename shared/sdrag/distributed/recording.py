"""
What workers found, under keyed hashes of what they were asked.

A worker binds a batch as the caller would, and keeps each answer of the embedding
model and of the local engine. The caller then binds the same batch with these answers
at hand, and writes its state. Asked for anything else, it works that out itself. So an
answer that is missing costs time, and the result is always that of one process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from sdrag.disclosure.setup import Locator
from sdrag.distributed.plain import plain_passages
from sdrag.effects.steps import (
    Effect,
    EffectRunner,
    Embed,
    Outcome,
    Reply,
    Steps,
    run,
)
from sdrag.vocabulary import Constraint, Finding, Passage

__all__ = ["Recorder", "Recording", "ReplayingLocator", "ReplayingRunner"]

Recording = dict[bytes, Sequence[Any]]
"""The answers to each item that was asked together, under the hash of them all."""


@dataclass(slots=True)
class Recorder:
    """
    Answers as a runner and as a locator do, and keeps the answers.

    Args:
        runner: Answers effects.
        locator: The local engine.
        key: Of the hashes.
    """

    runner: EffectRunner
    locator: Locator
    key: bytes
    recording: Recording = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """As of the local engine."""
        return self.locator.identity

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """Return the findings, and keep them."""
        yield from ()
        # The runner is asked here, so what the engine embeds is not kept.
        outcomes = run(self.locator.locate(passages, constraints), self.runner)
        self._keep(_asked(self.key, passages, constraints), outcomes)
        return outcomes

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect, and keep what was embedded."""
        outcomes = self.runner.perform(effect)
        if isinstance(effect, Embed):
            self._keep(_embedded(self.key, effect), outcomes)
        return outcomes

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        return await self.runner.aperform(effect)

    def _keep(self, key: bytes, outcomes: Sequence[Outcome[Any]]) -> None:
        values = [one.value for one in outcomes if isinstance(one, Reply)]
        if len(values) == len(outcomes):
            self.recording[key] = values


@dataclass(slots=True)
class ReplayingRunner:
    """
    A runner that has some embeddings already.

    Args:
        runner: Answers everything else.
        key: Of the hashes.
        recording: What is at hand.
    """

    runner: EffectRunner
    key: bytes
    recording: Mapping[bytes, Sequence[Any]] = field(default_factory=dict)

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        if isinstance(effect, Embed):
            known = self.recording.get(_embedded(self.key, effect))
            if known is not None:
                return [Reply(value) for value in known]
        return self.runner.perform(effect)

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        return await self.runner.aperform(effect)


@dataclass(slots=True)
class ReplayingLocator:
    """
    A locator that has some findings already.

    Args:
        locator: The local engine, for everything else.
        key: Of the hashes.
        recording: What is at hand.
    """

    locator: Locator
    key: bytes
    recording: Mapping[bytes, Sequence[Any]] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """As of the local engine."""
        return self.locator.identity

    def locate(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
        """Return the findings that are known, or find them."""
        known = self.recording.get(_asked(self.key, passages, constraints))
        if known is None:
            return (yield from self.locator.locate(passages, constraints))
        return [Reply(value) for value in known]


def _asked(
    key: bytes, passages: Sequence[Passage], constraints: Sequence[Constraint]
) -> bytes:
    rules = [[getattr(one, item.name) for item in fields(one)] for one in constraints]
    return _hash(key, ("locate", plain_passages(passages), rules))


def _embedded(key: bytes, effect: Embed) -> bytes:
    return _hash(key, ("embed", effect.items, effect.query))


def _hash(key: bytes, said: Any) -> bytes:
    return hashlib.blake2b(
        repr(said).encode("utf-8", "surrogatepass"), key=key
    ).digest()
