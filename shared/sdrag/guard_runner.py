"""
Driving the steps of one wrapper: timed, counted, audited, and without a word of text.

An error of ours names types and ids only, but Python attaches the original exception
and its frames to it. Tools that collect errors read both, so both are cut off. An
interrupt passes without its arguments.

A policy is named in audits, warnings and caches by a keyed hash, `policy_hash`. Whoever
sees it cannot test a guess of the constraints against it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from sdrag.arguments import check_call
from sdrag.disclosure.documents import with_documents
from sdrag.effects.host_search import HostSearch, embedding_once
from sdrag.effects.runner import Limits, PortRunner, Ports
from sdrag.effects.steps import Steps, arun, run
from sdrag.errors import InternalError, SdragError, UsageError, cut_off
from sdrag.pipeline import Disclosure
from sdrag.policy import Policy
from sdrag.privacy.audit import AuditEvent, AuditSink, emit, log_event
from sdrag.privacy.operator_warnings import OperatorWarnings
from sdrag.state import State
from sdrag.state.keys import PROCESS_KEYS
from sdrag.vocabulary import Decision, Passage

__all__ = [
    "Audit",
    "GuardRunner",
    "Unpickled",
    "asealed_stream",
    "audit_sinks",
    "keyed_hash",
    "policy_hash",
    "sealed_stream",
]

T = TypeVar("T")
Audit = AuditSink | Iterable[AuditSink] | None
"""Where events go: a sink, several, or by default the logger `sdrag.audit`."""


def policy_hash(policy: Policy, state: State | None = None) -> str:
    """
    Return sixteen hex digits that change with anything the policy says.

    They are keyed by the secret of a state on disk, so they are the same in every
    process that opens it. Otherwise they are keyed by a secret of this process.

    Args:
        policy: The policy.
        state: What a wrapper remembers in.
    """
    return keyed_hash("policy", policy.hash, state=state)


def keyed_hash(*parts: str, state: State | None = None) -> str:
    """
    Return sixteen hex digits that confirm no guess of what they were made from.

    Args:
        parts: What is hashed.
        state: Its secret is the key where it is on disk, else one of this process.
    """
    keys = state.shared_keys if state is not None else PROCESS_KEYS
    return keys.of(*parts, size=8).hex()


class Unpickled:
    """A wrapper that refuses to be pickled: its policy is confidential."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "__init__" in vars(cls):
            setattr(cls, "__init__", check_call(vars(cls)["__init__"]))  # noqa: B010 -- mypy

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UsageError(
            f"A {type(self).__name__} holds a confidential policy, and is not pickled.",
            hint="Build it where it is used.",
        )


@dataclass(frozen=True, slots=True, repr=False)
class GuardRunner:
    """
    Runs the steps of one wrapper.

    Args:
        stage: The wrapper's name in audit events, such as `retrieve`.
        policy: The policy in force.
        ports: How the framework does things.
        limits: The bounds of model calls and of local work.
        sinks: Called with every audit event.
        state: What the wrapper remembers in; its secret is the key of `policy_hash`.
        warnings: What was warned of, once for all requests.
    """

    stage: str
    policy: Policy
    ports: Ports
    limits: Limits
    sinks: tuple[AuditSink, ...] = (log_event,)
    state: State | None = None
    warnings: OperatorWarnings = field(default_factory=OperatorWarnings, compare=False)

    def __repr__(self) -> str:
        return f"GuardRunner({self.stage!r}, {self.policy_hash})"

    @property
    def policy_hash(self) -> str:
        """The name of the policy in audits, warnings and caches."""
        return policy_hash(self.policy, self.state)

    def perform(
        self,
        steps: Steps[T],
        hidden: AbstractContextManager[object],
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """
        Drive the steps to their result.

        Args:
            steps: What the wrapper does.
            hidden: Entered meanwhile: hides the inner calls from tracers.
            search: The host's retriever, as this one request may use it.

        Raises:
            SdragError: They failed; the error holds no text, nor does its traceback.
        """
        runner, start = self._request(search), perf_counter()
        fault: SdragError | None = None
        with hidden:
            try:
                result = run(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._audited(result, runner, start)

    async def aperform(
        self,
        steps: Steps[T],
        hidden: AbstractContextManager[object],
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """Drive the steps without blocking the event loop; as `perform`."""
        runner, start = self._request(search), perf_counter()
        fault: SdragError | None = None
        with hidden:
            try:
                result = await arun(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._audited(result, runner, start)

    def warn_of_corpus(self, passages: Sequence[Passage]) -> None:
        """Warn of what a corpus lacks: documents, and the keys that a `where` names."""
        self.warnings.of_keys(self.policy.rules, passages)
        keys = self.policy.disclosure.document_keys
        self.warnings.of_documents(with_documents(passages, keys))

    def warn_of_policy(self, error: SdragError) -> None:
        """Warn that the policy stays in force, since its changed file is refused."""
        self.warnings.of_policy(self.stage, self.policy_hash, error)

    def _request(self, search: HostSearch | None) -> PortRunner:
        ports = self.ports
        if search is not None:
            ports = replace(ports, search=search.port)
        if ports.embed is not None:
            vector = search.vector if search else None
            ports = replace(ports, embed=embedding_once(ports.embed, vector))
        return PortRunner(ports, self.limits)

    def _audited(self, result: object, runner: PortRunner, start: float) -> AuditEvent:
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
            model_failures=tuple(sorted(meter.failures)),
        )
        emit(event, self.sinks)
        nothing_left, tool = False, None
        if isinstance(result, Disclosure):
            nothing_left, tool = not result.passages, result.tool
        self.warnings.of_event(event, nothing_left=nothing_left, tool=tool)
        return event


def sealed_stream(pieces: Iterator[T]) -> Iterator[T]:
    """
    Yield what is streamed.

    Raises:
        SdragError: It failed; the error holds no text.
    """
    while True:
        fault: SdragError | None = None
        try:
            piece = next(pieces)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 -- none leaves with text
            fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        yield piece


async def asealed_stream(pieces: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield what is streamed without blocking the event loop; as `sealed_stream`."""
    while True:
        fault: SdragError | None = None
        try:
            piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except Exception as error:  # noqa: BLE001 -- none leaves with text
            fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        yield piece


def audit_sinks(audit: Audit) -> tuple[AuditSink, ...]:
    """
    Return the sinks that a wrapper's `audit` argument means.

    Raises:
        UsageError: One of them cannot be called.
    """
    if audit is None:
        return (log_event,)
    sinks = (audit,) if callable(audit) or not isinstance(audit, Iterable) else audit
    listed = tuple(sinks)
    for sink in listed:
        if not callable(sink):
            raise UsageError(
                f"`audit` must be callable, got {type(sink).__name__}.",
                hint="A sink is a callable that takes an `AuditEvent`.",
            )
    return listed


def _without_text(error: Exception) -> SdragError:
    """Keep an error of the tree; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    return InternalError(
        f"Disclosure control failed with {type(error).__name__}.",
        hint="Nothing was released. Please report it.",
    )
