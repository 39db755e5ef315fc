"""
Answering effects over ports: the runner of both frameworks.

A framework says how one thing is done, sync and async, as `Ports`. This module makes
calls of the items of an effect, and outcomes of their results. `sdrag.engine.calls`
makes the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sdrag.engine.call_meter import Meter
from sdrag.engine.calls import (
    Limits,
    Port,
    abounded,
    attempt,
    of_step,
    side_by_side,
)
from sdrag.engine.local_work import LocalWork
from sdrag.engine.prompts import Labelled, Prompt
from sdrag.engine.retrying import Retrying
from sdrag.engine.steps import (
    Authorize,
    Complete,
    Effect,
    Embed,
    Failure,
    Outcome,
    Reply,
    Reserve,
    Score,
    Search,
)
from sdrag.engine.tokens import Completion, text_of
from sdrag.errors import (
    HostError,
    InternalError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    UsageError,
)
from sdrag.vocabulary import Passage

__all__ = ["CountingRunner", "Limits", "Port", "PortRunner", "Ports"]


@dataclass(frozen=True, slots=True)
class Ports:
    """
    What a host passed; a missing port is an error at the effect that needs it.

    Args:
        complete: A prompt to the reply's text, or to a `Completion` that says what it
            took.
        embed: An `Embed` to one vector per text, of any length.
        search: A `Search` of one query to its passages.
        score: A `Score` to one float per pair.
        authorize: An `Authorize` to one boolean per passage.
    """

    complete: Port[Prompt, Completion | str] | None = None
    embed: Port[Embed, Sequence[Sequence[float]]] | None = None
    search: Port[Search, Sequence[Passage]] | None = None
    score: Port[Score, Sequence[float]] | None = None
    authorize: Port[Authorize, Sequence[bool]] | None = None


@dataclass(frozen=True, slots=True)
class PortRunner:
    """
    A runner over ports.

    Args:
        ports: How a framework does things.
        limits: The bounds of calls and of local work.
        local: What local work of this request may still take; where it is missing,
            every effect is a request of its own.
    """

    ports: Ports
    limits: Limits = field(default_factory=Limits)
    local: LocalWork | None = None

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        if isinstance(effect, Reserve):
            return self._local.reserve(effect.items)
        job = _job(effect, self.ports)
        if not job.bounded:
            return job.outcomes(
                [attempt(job.port.call, item, Retrying(1)) for item in job.items]
            )
        return job.outcomes(side_by_side(job.port.call, job.items, self.limits))

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        if isinstance(effect, Reserve):
            return self._local.reserve(effect.items)
        job = _job(effect, self.ports)
        gate = asyncio.Semaphore(self.limits.concurrency)
        limits = self.limits if job.bounded else None
        calls = (abounded(job.port, item, limits, gate) for item in job.items)
        return job.outcomes(await asyncio.gather(*calls))

    @property
    def _local(self) -> LocalWork:
        return self.local or LocalWork(self.limits)


@dataclass(slots=True)
class CountingRunner:
    """
    A runner over ports for one request.

    It counts what the request asks of its model, and what its local work takes. It
    notes how the model failed.
    """

    runner: PortRunner
    meter: Meter = field(default_factory=Meter)
    failures: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        ports, local = self.runner.ports, LocalWork(self.runner.limits)
        if ports.complete is not None:
            ports = replace(ports, complete=self.meter.metered(ports.complete))
        self.runner = replace(self.runner, ports=ports, local=local)

    @property
    def prompts(self) -> int:
        """How many prompts were sent; one that was sent again counts again."""
        return self.meter.calls

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        with self._counted(effect):
            return self._noted(effect, self.runner.perform(effect))

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        with self._counted(effect):
            return self._noted(effect, await self.runner.aperform(effect))

    def _noted(
        self, effect: Effect, outcomes: Sequence[Outcome[Any]]
    ) -> Sequence[Outcome[Any]]:
        """Note which server of the model failed, and how."""
        if isinstance(effect, Complete):
            for outcome in outcomes:
                error = outcome.error if isinstance(outcome, Failure) else None
                if isinstance(error, ModelTimeoutError):
                    self.failures.add(error.server or "timeout")
                elif isinstance(error, ModelError) and error.server:
                    self.failures.add(error.server)
        return outcomes

    def _counted(self, effect: Effect) -> AbstractContextManager[None]:
        if isinstance(effect, Complete) and effect.items:
            return self.meter.round_trip()
        return nullcontext()


@dataclass(frozen=True, slots=True)
class _Job:
    """
    Calls to make and how their results answer the effect.

    Args:
        port: How one call is made.
        items: What each call takes.
        read: Makes the effect's outcomes of the calls' outcomes.
        bounded: Made under the limits. The host's own retriever and authorizer are
            called on the caller's thread, as the host would: its connections may
            belong to that thread, and its time limits are its own.
        step: What is called, for errors.
    """

    step: str
    port: Port[Any, Any]
    items: Sequence[Any]
    read: Callable[[Sequence[Outcome[Any]]], Sequence[Outcome[Any]]]
    bounded: bool = True

    def outcomes(self, found: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
        """Make the effect's outcomes; errors of calls say what was called."""
        return self.read([of_step(outcome, self.step) for outcome in found])


def _job(effect: Effect, ports: Ports) -> _Job:
    match effect:
        case Complete():
            step, items = "The language model", effect.items
            port = _given(ports.complete, step, "llm")
            return _Job(step, port, items, partial(_labelled, effect))
        case Embed():
            step = "The embedding model"
            port = _given(ports.embed, step, "embeddings")
            read = partial(_vectors, len(effect.items))
            return _Job(step, port, (effect,), read, bounded=not port.local)
        case Search():
            step = "The retriever"
            port = _given(ports.search, step, "base_retriever")
            searches = [
                Search((query,), effect.filters, effect.limit) for query in effect.items
            ]
            return _Job(step, port, searches, _host_faults, bounded=False)
        case Score():
            step = f"The judge of {effect.model}"
            port = _given(ports.score, step, effect.model)
            return _Job(step, port, (effect,), partial(_each, len(effect.items)))
        case Authorize():
            step = "The authorizer"
            port = _given(ports.authorize, step, "authorize")
            read = partial(_each, len(effect.items))
            return _Job(step, port, (effect,), read, bounded=False)
    raise InternalError(f"No runner answers {type(effect).__name__}.")


def _given(port: Port[Any, Any] | None, what: str, argument: str) -> Port[Any, Any]:
    if port is None:
        raise UsageError(f"{what} is missing.", hint=f"Pass `{argument}=`.")
    return port


def _labelled(
    effect: Complete, outcomes: Sequence[Outcome[Completion | str]]
) -> Sequence[Outcome[Labelled]]:
    """A reply inherits the labels of its prompt; what is no text is no reply."""
    return list(map(_reply, effect.items, outcomes))


def _reply(prompt: Prompt, outcome: Outcome[Completion | str]) -> Outcome[Labelled]:
    if isinstance(outcome, Failure):
        return outcome
    text: object = text_of(outcome.value)
    if not isinstance(text, str):
        return Failure(ModelReplyError(f"A {type(text).__name__} is no reply."))
    return Reply(Labelled(text, prompt.labels))


def _host_faults(outcomes: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
    """Name the host, and not a model, where a call to the host has failed."""
    return [
        Failure(HostError(str(outcome.error)))
        if isinstance(outcome, Failure) and isinstance(outcome.error, ModelError)
        else outcome
        for outcome in outcomes
    ]


def _each(count: int, outcomes: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
    """Read the answer of one call for all items."""
    (outcome,) = _host_faults(outcomes)
    if isinstance(outcome, Failure):
        return [outcome] * count
    return [Reply(value) for value in outcome.value]


def _vectors(count: int, outcomes: Sequence[Outcome[Any]]) -> Sequence[Outcome[Any]]:
    """Read the answer of one call as vectors of unit length."""
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    (outcome,) = _host_faults(outcomes)
    if isinstance(outcome, Failure):
        return [outcome] * count
    try:
        matrix = np.asarray(outcome.value, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count:
        fault = HostError(f"{count} texts were not given one vector each.")
        return [Failure(fault)] * count
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        return [Failure(HostError("The embedding model gave no numbers."))] * count
    return [Reply(row) for row in matrix / np.maximum(norms, 1e-12)]
