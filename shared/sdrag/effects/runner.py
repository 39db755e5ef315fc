"""
Answering effects over ports: the runner of both frameworks.

A framework says how one thing is done, sync and async, as `Ports`. The runner says
which calls answer an effect, and what their outcomes are worth: a call of the host that
failed is the host's fault, and what is no text, no vector or no score is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdrag.effects.calls import Calls, Port
from sdrag.effects.limits import Limits
from sdrag.effects.prompts import Labelled, Prompt
from sdrag.effects.steps import (
    CUT_OFF,
    Authorize,
    Complete,
    Effect,
    Embed,
    Failure,
    Outcome,
    Reply,
    Score,
    Search,
)
from sdrag.effects.tokens import Completion, Meter, text_of
from sdrag.errors import (
    HostError,
    InternalError,
    ModelError,
    ModelReplyError,
    ModelTimeoutError,
    UsageError,
)
from sdrag.vocabulary import Passage


@dataclass(frozen=True, slots=True)
class Ports:
    """
    What a host passed; a missing port is an error at the effect that needs it.

    `complete` answers a prompt by text, or a `Completion` that says what it took;
    `embed` by one vector a text, of any length; `search` one query by its passages;
    `score` by one float a pair; `authorize` by one boolean a passage.
    """

    complete: Port[Prompt, Completion | str] | None = None
    embed: Port[Embed, Sequence[Sequence[float]]] | None = None
    search: Port[Search, Sequence[Passage]] | None = None
    score: Port[Score, Sequence[float]] | None = None
    authorize: Port[Authorize, Sequence[bool]] | None = None


@dataclass(frozen=True, slots=True)
class PortRunner:
    """
    A runner over ports, for one request.

    It embeds a question once. `meter` counts what it asks of the model.
    """

    ports: Ports
    limits: Limits = field(default_factory=Limits)
    meter: Meter = field(default_factory=Meter)
    _questions: dict[Embed, Sequence[Outcome[Any]]] = field(
        default_factory=dict, repr=False
    )

    def perform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect."""
        if known := self._known(effect):
            return known
        calls = self._calls(effect)
        with self._waiting(calls):
            outcomes = calls.make()
        return self._answer(effect, outcomes)

    async def aperform(self, effect: Effect) -> Sequence[Outcome[Any]]:
        """Answer the effect without blocking the event loop."""
        if known := self._known(effect):
            return known
        calls = self._calls(effect)
        with self._waiting(calls):
            outcomes = await calls.amake(self.limits.concurrency)
        return self._answer(effect, outcomes)

    def _waiting(self, calls: Calls) -> AbstractContextManager[None]:
        """Count how long others are waited for."""
        return nullcontext() if calls.port.local else self.meter.waiting()

    def _known(self, effect: Effect) -> Sequence[Outcome[Any]]:
        return self._questions.get(effect, ()) if isinstance(effect, Embed) else ()

    def _calls(self, effect: Effect) -> Calls:
        """
        Return the calls that answer an effect.

        The host's own retriever and authorizer are called once, without a limit, on the
        caller's thread: connections may belong to it, and its limits are its own.
        """
        ports, limits = self.ports, self.limits
        match effect:
            case Complete(items):
                model = _given(ports.complete, "The language model", "llm")
                prompts = [prompt.limited() for prompt in items]
                self.meter.round_trips += bool(prompts)
                port = self._metered(model)
                return Calls("The language model", port, prompts, limits)
            case Embed():
                port = _given(ports.embed, "The embedding model", "embeddings")
                bounds = None if port.local else limits
                return Calls("The embedding model", port, (effect,), bounds)
            case Search(items, filters, limit):
                port = _given(ports.search, "The retriever", "base_retriever")
                searches = [Search((query,), filters, limit) for query in items]
                return Calls("The retriever", port, searches, None)
            case Score():
                step = f"The judge of {effect.model}"
                port = _given(ports.score, step, effect.model)
                return Calls(step, port, (effect,), limits)
            case Authorize():
                port = _given(ports.authorize, "The authorizer", "authorize")
                return Calls("The authorizer", port, (effect,), None)
        raise InternalError(f"No runner answers {type(effect).__name__}.")

    def _metered(self, port: Port[Prompt, Any]) -> Port[Prompt, Any]:
        """Return a port that does the same, and is counted."""

        def call(prompt: Prompt) -> Any:
            with self.meter.call(prompt.texts) as count:
                return count(port.call(prompt))

        async def acall(prompt: Prompt) -> Any:
            assert port.acall is not None
            with self.meter.call(prompt.texts) as count:
                return count(await port.acall(prompt))

        return Port(call, port.acall and acall, local=port.local)

    def _answer(
        self, effect: Effect, outcomes: Sequence[Outcome[Any]]
    ) -> Sequence[Outcome[Any]]:
        if isinstance(effect, Complete):
            replies = list(map(_reply, effect.items, outcomes))
            self.meter.failures.update(filter(None, map(_failed_server, replies)))
            return replies
        outcomes = [_blame_host(outcome) for outcome in outcomes]
        if isinstance(effect, Search):
            return outcomes
        (outcome,), count = outcomes, len(effect.items)
        if isinstance(outcome, Failure):
            return [outcome] * count
        if isinstance(effect, Embed):
            vectors = _vectors(outcome.value, count)
            if effect.query:
                self._questions[effect] = vectors
            return vectors
        if len(outcome.value) != count:  # both ports answer by a list
            text = (
                f"`{type(effect).__name__.lower()}` gave not one value for each item."
            )
            return [Failure(HostError(text))] * count
        return [Reply(value) for value in outcome.value]


def _given(port: Port[Any, Any] | None, step: str, argument: str) -> Port[Any, Any]:
    if port is None:
        raise UsageError(f"{step} is missing.", hint=f"Pass `{argument}=`.")
    return port


def _failed_server(outcome: Outcome[Any]) -> str:
    """Return which server of the model failed, and how; empty where none did."""
    error = outcome.error if isinstance(outcome, Failure) else None
    if isinstance(error, ModelTimeoutError):
        return error.server or "timeout"
    return error.server if isinstance(error, ModelError) else ""


def _blame_host(outcome: Outcome[Any]) -> Outcome[Any]:
    """Blame the host, and not a model, where a call to the host has failed."""
    if isinstance(outcome, Failure) and isinstance(outcome.error, ModelError):
        return Failure(HostError(str(outcome.error)))
    return outcome


def _reply(prompt: Prompt, outcome: Outcome[Completion | str]) -> Outcome[Labelled]:
    """A reply inherits the labels of its prompt; what is no text is no reply."""
    if isinstance(outcome, Failure):
        return outcome
    needs_all = prompt.max_tokens is not None or prompt.reply_format is not None
    if needs_all and isinstance(outcome.value, Completion) and outcome.value.is_cut_off:
        message = "A reply was cut off at the limit of tokens."
        return Failure(ModelReplyError(message, server=CUT_OFF))
    text: object = text_of(outcome.value)
    if not isinstance(text, str):
        return Failure(ModelReplyError(f"A {type(text).__name__} is no reply."))
    return Reply(Labelled(text, prompt.labels))


def _vectors(rows: Sequence[Sequence[float]], count: int) -> Sequence[Outcome[Any]]:
    """Return rows as vectors of unit length, if there is one for each text."""
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count:
        text = f"{count} texts were not given one vector each."
        return [Failure(HostError(text))] * count
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        return [Failure(HostError("The embedding model gave no numbers."))] * count
    if not norms.all():
        return [Failure(HostError("The embedding model gave only zeros."))] * count
    return [Reply(row) for row in matrix / norms]
