"""
What a wrapper is built from, the same in every framework.

A framework's face says how its model, its retriever and its tracing work. That a hook
is timed, that its calls of the model are counted, that an event tells what it decided,
and that an error which leaves it drags no text along, stands here once for sync and
async.

An error of ours names types and ids only, but Python hangs the original exception and
the frames it passed on it. Tools that collect errors read both, so both are cut off. An
interrupt passes without its arguments.

A policy is named in audits, warnings and caches by a keyed hash, `policy_hash`. Whoever
sees it cannot test a guess of the constraints against it.
"""

from __future__ import annotations

import secrets
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from inspect import isawaitable, iscoroutinefunction
from time import perf_counter
from typing import Any, NoReturn, Self, TypeVar

from sdrag.arguments import check_type
from sdrag.disclosure.documents import with_documents
from sdrag.engine.calls import Limits, Port
from sdrag.engine.effect_runner import CountingRunner, PortRunner, Ports
from sdrag.engine.host_search import EmbedPort, HostSearch, embedding_once
from sdrag.engine.interrupts import bare_interrupt
from sdrag.engine.steps import Authorize, Embed, Steps, arun, run
from sdrag.errors import InternalError, SdragError, UsageError, cut_off
from sdrag.guardrails.contradictions import Escalate, escalates
from sdrag.pipeline import Disclosure
from sdrag.policy import Policy
from sdrag.privacy.audit import AuditEvent, AuditSink, emit, log_event
from sdrag.privacy.operator_warnings import OperatorWarnings
from sdrag.state import State
from sdrag.state.keys import Keys
from sdrag.state.sqlite import MEMORY
from sdrag.vocabulary import Decision, Passage, Principal

__all__ = [
    "Audit",
    "Authorizer",
    "Escalate",
    "GuardRunner",
    "Unpickled",
    "asealed_stream",
    "asks_again",
    "authorizing",
    "local_embeddings",
    "policy_hash",
    "sealed_stream",
]

T = TypeVar("T")
Authorizer = Callable[
    [Principal, Sequence[Passage]], Sequence[bool] | Awaitable[Sequence[bool]]
]
"""The host's own answer to who may see what: one boolean for each passage."""
Audit = AuditSink | Iterable[AuditSink] | None
"""Where events go: a sink, several, or by default the logger `sdrag.audit`."""
_keys = Keys(secrets.token_bytes(32))
"""Of this process, for policies that no state on disk knows."""


def policy_hash(policy: Policy, state: State | None = None) -> str:
    """
    Return sixteen hex digits that change with anything the policy says.

    They are keyed by the secret of a state on disk, so they are the same in every
    process that opens it. Otherwise they are keyed by a secret of this process.

    Args:
        policy: The policy.
        state: What a wrapper remembers in.
    """
    on_disk = state is not None and state.path != MEMORY
    keys = state.keys if state is not None and on_disk else _keys
    return keys.of("policy", policy.hash, size=8).hex()


class Unpickled:
    """A wrapper that refuses to be pickled: its policy is confidential."""

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise UsageError(
            f"A {type(self).__name__} holds a confidential policy, and is not pickled.",
            hint="Build it where it is used.",
        )


@dataclass(frozen=True, slots=True, repr=False)
class GuardRunner:
    """
    One hook of one wrapper: its steps, performed under the framework's cover.

    Args:
        stage: The hook's name in audit events.
        policy: The policy in force.
        ports: How the framework does things.
        limits: The bounds of its model calls.
        sinks: Who is told what was decided.
        escalate: Called where a contradiction has withheld the answer.
        warnings: What it has warned of, once for all requests.
        state: What it remembers in, where it does; its secret keys the policy's hash.
    """

    stage: str
    policy: Policy
    ports: Ports
    limits: Limits
    sinks: tuple[AuditSink, ...] = (log_event,)
    escalate: Escalate | None = None
    warnings: OperatorWarnings = field(default_factory=OperatorWarnings, compare=False)
    state: State | None = None

    def __repr__(self) -> str:
        return f"GuardRunner({self.stage!r}, {self.policy_hash})"

    @property
    def policy_hash(self) -> str:
        """What the policy is named by in audits, warnings and caches."""
        return policy_hash(self.policy, self.state)

    @classmethod
    def build(
        cls,
        stage: str,
        policy: Policy,
        ports: Ports,
        *,
        audit: Audit = None,
        escalate: Escalate | None = None,
        limits: Limits | None = None,
        state: State | None = None,
    ) -> Self:
        """
        Make a hook; without limits, a call may take what the policy allows.

        Args:
            stage: The hook's name in audit events.
            policy: The policy in force.
            ports: How the framework does things.
            audit: Who is told what was decided.
            escalate: Called where a contradiction has withheld the answer.
            limits: The bounds of its model calls.
            state: What it remembers in, where it does.

        Raises:
            UsageError: An argument is not what it must be.
        """
        if limits is None:
            limits = Limits(seconds=policy.disclosure.timeout_seconds)
        check_type(limits, Limits, "bounds of model calls")
        sinks, told = _sinks(audit), _told_of(escalate)
        return cls(stage, policy, ports, limits, sinks, told, state=state)

    def perform(
        self,
        steps: Steps[T],
        cover: AbstractContextManager[object],
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """
        Drive the steps to their result.

        Args:
            steps: What the hook does.
            cover: Held while it is done: hides the inner calls from tracers.
            search: The host's retriever, as this one request may use it.

        Raises:
            SdragError: They failed; the error holds no text, nor does its traceback.
        """
        runner, start = self._runner(search), perf_counter()
        fault: BaseException | None = None
        with cover:
            try:
                result = run(steps, runner)
            except BaseException as error:  # noqa: BLE001 -- none leaves with text
                fault = _ours(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._told(result, runner, start)

    async def aperform(
        self,
        steps: Steps[T],
        cover: AbstractContextManager[object],
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """Drive the steps without blocking the event loop; as `perform`."""
        runner, start = self._runner(search), perf_counter()
        fault: BaseException | None = None
        with cover:
            try:
                result = await arun(steps, runner)
            except BaseException as error:  # noqa: BLE001 -- none leaves with text
                fault = _ours(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._told(result, runner, start)

    def warn_of_corpus(self, passages: Sequence[Passage]) -> None:
        """Warn of what a corpus lacks: documents, and the keys that a `where` names."""
        self.warnings.of_keys(self.policy.rules, passages)
        keys = self.policy.disclosure.document_keys
        self.warnings.of_documents(with_documents(passages, keys))

    def _runner(self, search: HostSearch | None) -> CountingRunner:
        ports = self.ports
        given: dict[str, Any] = {}
        if search is not None:
            given["search"] = search.port
        if ports.embed is not None:
            given["embed"] = embedding_once(
                ports.embed, search.vector if search else None
            )
        return CountingRunner(PortRunner(replace(ports, **given), self.limits))

    def _told(self, result: object, runner: CountingRunner, start: float) -> AuditEvent:
        decisions: tuple[Decision, ...] = tuple(getattr(result, "decisions", ()))
        meter = runner.meter
        event = AuditEvent(
            self.stage,
            self.policy_hash,
            decisions,
            perf_counter() - start,
            model_calls=meter.calls,
            tokens_in=meter.tokens_in,
            tokens_out=meter.tokens_out,
            round_trips=meter.round_trips,
        )
        emit(event, self.sinks)
        nothing_left = isinstance(result, Disclosure) and not result.passages
        self.warnings.of_event(event, nothing_left=nothing_left)
        if self.escalate is not None and escalates(decisions):
            self.escalate(decisions)
        return event


def sealed_stream(pieces: Iterator[T]) -> Iterator[T]:
    """
    Yield what is streamed.

    Raises:
        SdragError: It failed; neither this nor an interrupt of it holds text.
    """
    while True:
        fault: BaseException | None = None
        try:
            piece = next(pieces)
        except StopIteration:
            return
        except BaseException as error:  # noqa: BLE001 -- none leaves with text
            fault = _ours(error)
        if fault is not None:
            raise cut_off(fault)
        yield piece


async def asealed_stream(pieces: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield what is streamed without blocking the event loop; as `sealed_stream`."""
    while True:
        fault: BaseException | None = None
        try:
            piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except BaseException as error:  # noqa: BLE001 -- none leaves with text
            fault = _ours(error)
        if fault is not None:
            raise cut_off(fault)
        yield piece


def asks_again(policy: Policy) -> bool:
    """Say whether the question's vector may be needed beside the host's one search."""
    return (
        policy.access is not None
        or policy.relevance is not None
        or policy.disclosure.top_k is not None
    )


def local_embeddings() -> EmbedPort:
    """Embed with the packaged MiniLM, loaded at the first call."""

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        from sdrag.minilm import embed_texts  # noqa: PLC0415 -- it loads numpy

        return embed_texts(effect.items)  # type: ignore[return-value]

    return Port(call, local=True)


def authorizing(
    authorizer: Authorizer | None,
) -> Port[Authorize, Sequence[bool]] | None:
    """
    Ask the host's authorizer.

    A coroutine function serves the async face only; the sync one then fails, and what
    cannot be authorized is not shown.
    """
    if authorizer is None:
        return None
    if not callable(authorizer):
        raise UsageError(
            f"A {type(authorizer).__name__} is no authorizer.",
            hint="It takes a principal and passages, and returns a boolean for each.",
        )

    def call(effect: Authorize) -> Sequence[bool]:
        if iscoroutinefunction(authorizer):
            raise UsageError("The authorizer is async.", hint="Use the async methods.")
        answers = authorizer(effect.principal, effect.items)
        if isawaitable(answers):
            raise UsageError("The authorizer is async.", hint="Use the async methods.")
        return list(answers)

    async def acall(effect: Authorize) -> Sequence[bool]:
        answers = authorizer(effect.principal, effect.items)
        return list(await answers if isawaitable(answers) else answers)

    return Port(call, acall if iscoroutinefunction(authorizer) else None)


def _sinks(audit: Audit) -> tuple[AuditSink, ...]:
    """Return the sinks that a wrapper's `audit` argument means."""
    if audit is None:
        return (log_event,)
    sinks = (audit,) if callable(audit) or not isinstance(audit, Iterable) else audit
    listed = tuple(sinks)
    for sink in listed:
        if not callable(sink):
            raise UsageError(
                f"A {type(sink).__name__} takes no audit events.",
                hint="A sink is a callable that takes an `AuditEvent`.",
            )
    return listed


def _told_of(escalate: Escalate | None) -> Escalate | None:
    if escalate is not None and not callable(escalate):
        raise UsageError(
            f"A {type(escalate).__name__} cannot be told of contradictions.",
            hint="Pass a callable that takes decisions.",
        )
    return escalate


def _ours(error: BaseException) -> BaseException:
    """Keep an error of the tree; any other may quote text, and so may an interrupt."""
    if isinstance(error, SdragError) or not isinstance(error, Exception):
        return bare_interrupt(error)
    return InternalError(
        f"Disclosure control failed with {type(error).__name__}.",
        hint="Nothing was released. Please report it.",
    )
