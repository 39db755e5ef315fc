"""
An engine, and running the steps of a request on it: timed, counted and audited.

An `Engine` is what a wrapper was set up with; it never changes. Whatever belongs to one
question is a `Request`.

An error of this package names types and ids only, but Python attaches the original
exception and its frames to it. Tools that collect errors read both, so both are cut
off. A policy is named in audits, warnings and caches by a keyed hash, `policy_hash`:
whoever sees it cannot test a guess of the constraints against it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Self, TypeVar

from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.models import UnionDetector
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.setup import DisclosureSetup, Locator, check_understood
from sdrag.disclosure.texts import with_documents
from sdrag.effects import steps as drivers
from sdrag.effects.runner import Limits, Port, PortRunner, Ports
from sdrag.effects.steps import Embed, Failure, Search, Steps
from sdrag.errors import InternalError, SdragError, UsageError, cut_off
from sdrag.guardrails.injection.passage_scan import scanned
from sdrag.policy import InjectionSection, Policy, PolicySource
from sdrag.privacy.audit import AuditEvent, AuditSink, emit, log_event
from sdrag.privacy.operator_warnings import OperatorWarnings
from sdrag.state import State, StateSource, open_state
from sdrag.state.keys import PROCESS_KEYS
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

__all__ = [
    "Audit",
    "Disclosure",
    "Engine",
    "HostSearch",
    "Request",
    "asealed_stream",
    "audit_sinks",
    "keyed_hash",
    "policy_hash",
    "sealed_stream",
]

T = TypeVar("T")
EmbedPort = Port[Embed, Sequence[Sequence[float]]]
Audit = AuditSink | Iterable[AuditSink] | None
"""Where events go: a sink, several, or by default the logger `sdrag.audit`."""


@dataclass(frozen=True, slots=True, repr=False)
class Request(Confidential):
    """
    One question.

    Args:
        query: The asker's words.
        principal: On whose behalf; `None` when nobody said.
        limit: How many passages are wanted, where the host knows.
        now: When it is asked, with its time zone.
    """

    query: str
    principal: Principal | None = None
    limit: int | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Disclosure:
    """
    What may leave, in the order and under the ids it came in, and why.

    Args:
        passages: That may leave.
        decisions: Without content.
        tool: The name of the tool that returned the passages, where one did.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class HostSearch:
    """
    The host's retriever, as one request may use it.

    Args:
        port: Searches.
        vector: Returns the vector that a question was searched by, where the model
            that made it is the policy's too.
    """

    port: Port[Search, Sequence[Passage]]
    vector: Callable[[str], Sequence[float] | None] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Engine:
    """
    What a wrapper is set up with; build one with `Engine.build`.

    Args:
        disclosure: Constraints, their bindings and how they are enforced.
        authorize: Whether the runner can ask the host's authorizer.
        classifier: Whether the runner can score injections with a model.
        stage: The wrapper's name in audit events, such as `retrieve`.
        ports: How the framework does things.
        limits: The bounds of model calls, and of the texts that are read.
        sinks: Called with every audit event.
        hide: Surrounds a request, and hides its inner calls from tracers.
        warnings: What was warned of, once for all requests.
    """

    disclosure: DisclosureSetup
    authorize: bool = False
    classifier: bool = False
    stage: str = "disclose"
    ports: Ports = field(default_factory=Ports)
    limits: Limits = field(default_factory=Limits)
    sinks: tuple[AuditSink, ...] = (log_event,)
    hide: Callable[[], AbstractContextManager[object]] = nullcontext
    warnings: OperatorWarnings = field(default_factory=OperatorWarnings, compare=False)

    def __repr__(self) -> str:
        return f"Engine({self.stage!r}, {self.policy_hash})"

    @classmethod
    def build(  # noqa: PLR0913 -- what a wrapper was handed, by keyword
        cls,
        policy: PolicySource,
        *,
        has_model: bool = False,
        has_embeddings: bool = True,
        model_id: str = "",
        state: StateSource = None,
        locator: Locator | None = None,
        detector: Detector | None = None,
        authorize: bool = False,
        classifier: bool = False,
        releasing: bool = True,
        window: int | None = None,
        stage: str = "disclose",
        ports: Ports | None = None,
        limits: Limits | None = None,
        sinks: tuple[AuditSink, ...] = (log_event,),
        hide: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Self:
        """
        Put an engine together.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            has_model: Whether the runner can complete prompts.
            has_embeddings: Whether it can embed texts. If not, nothing is bound.
            model_id: Names the model in cache keys.
            state: What is remembered, or its path; in memory when missing.
            locator: In place of the local engine.
            detector: Finds mentions in addition to the local detector.
            authorize: As the class says, like all that is not named here.
            classifier: As the class says.
            releasing: Whether passages leave through it; a binder releases none.
            window: How many tokens the model takes in, where that is known; half of
                them are left to instructions, constraints and the reply.
            stage: As the class says.
            ports: As the class says.
            limits: By default with the policy's time limit for a call.
            sinks: As the class says.
            hide: As the class says.

        Raises:
            PolicyError: The policy cannot be read.
            ConstraintNotUnderstoodError: A constraint needs a model, and there is none.
            UsageError: The state is none.
        """
        read = Policy.read(policy)
        if releasing and locator is None:
            check_understood(read, has_model=has_model)
        bounds = limits or Limits(seconds=read.disclosure.timeout_seconds)
        setup = DisclosureSetup(
            policy=read if window is None else read.fitted(window // 2),
            state=open_state(state),
            locator=locator or _local(read, detector),
            has_model=has_model,
            has_embeddings=has_embeddings,
            model_id=model_id,
            suspects=partial(_suspects, policy=read),
            limits=bounds,
        )
        return cls(
            setup,
            authorize,
            classifier,
            stage,
            ports or Ports(),
            bounds,
            sinks,
            hide,
        )

    @property
    def policy(self) -> Policy:
        """What must not be disclosed."""
        return self.disclosure.policy

    @property
    def policy_hash(self) -> str:
        """The name of the policy in audits, warnings and caches."""
        return policy_hash(self.policy, self.disclosure.state)

    def run(
        self,
        steps: Steps[T],
        hidden: AbstractContextManager[object] | None = None,
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """
        Drive the steps of a request to their result.

        Args:
            steps: What the wrapper does.
            hidden: Entered meanwhile, in place of `hide`.
            search: The host's retriever, as this one request may use it.

        Raises:
            SdragError: They failed; the error holds no text, nor does its traceback.
        """
        runner, start = self._runner(search), perf_counter()
        fault: SdragError | None = None
        with hidden or self.hide():
            try:
                result = drivers.run(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._audit(result, runner, perf_counter() - start)

    async def arun(
        self,
        steps: Steps[T],
        hidden: AbstractContextManager[object] | None = None,
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """Drive the steps without blocking the event loop; as `run`."""
        runner, start = self._runner(search), perf_counter()
        fault: SdragError | None = None
        with hidden or self.hide():
            try:
                result = await drivers.arun(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = _without_text(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._audit(result, runner, perf_counter() - start)

    def warn_of_corpus(self, passages: Sequence[Passage]) -> None:
        """Warn of what a corpus lacks: documents, and the keys that a `where` names."""
        self.warnings.of_keys(self.policy.rules, passages)
        keys = self.policy.disclosure.document_keys
        self.warnings.of_documents(with_documents(passages, keys))

    def _runner(self, search: HostSearch | None) -> PortRunner:
        """Return a runner for one request, which embeds its question once."""
        ports, vector = self.ports, None
        if search is not None:
            ports, vector = replace(ports, search=search.port), search.vector
        if ports.embed is not None:
            ports = replace(ports, embed=_embedding_once(ports.embed, vector))
        return PortRunner(ports, self.limits)

    def _audit(self, result: object, runner: PortRunner, seconds: float) -> AuditEvent:
        meter = runner.meter
        event = AuditEvent(
            self.stage,
            self.policy_hash,
            tuple(getattr(result, "decisions", ())),
            seconds,
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


def _embedding_once(
    port: EmbedPort, vector: Callable[[str], Sequence[float] | None] | None
) -> EmbedPort:
    """Return a port that embeds each question once; `vector` may know it already."""
    made: dict[tuple[str, ...], Sequence[Sequence[float]]] = {}

    def known(effect: Embed) -> Sequence[Sequence[float]] | None:
        if not effect.query:
            return None
        vectors = [vector(text) if vector else None for text in effect.items]
        rows = [row for row in vectors if row is not None]
        return rows if len(rows) == len(vectors) else made.get(effect.items)

    def keep(
        effect: Embed, rows: Sequence[Sequence[float]]
    ) -> Sequence[Sequence[float]]:
        if effect.query:
            made[effect.items] = rows
        return rows

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        rows = known(effect)
        return keep(effect, port.call(effect)) if rows is None else rows

    inner = port.acall
    if inner is None:
        return replace(port, call=call)

    async def acall(effect: Embed) -> Sequence[Sequence[float]]:
        rows = known(effect)
        return keep(effect, await inner(effect)) if rows is None else rows

    return replace(port, call=call, acall=acall)


def _local(policy: Policy, detector: Detector | None) -> Locator:
    """Unite the host's detector with the local one: it only adds."""
    found_by: Detector = LocalDetector()
    if detector is not None:
        found_by = UnionDetector((found_by, detector))
    return LocalLocator(found_by, policy.disclosure.sensitivity)


def _suspects(texts: Sequence[Passage], policy: Policy) -> Steps[Sequence[bool]]:
    """Say which texts speak to a model; one that cannot be scanned may."""
    section = policy.injection or InjectionSection()
    scans = yield from scanned(texts, section, classifier=False, metadata_keys=())
    return [
        isinstance(scan, Failure) or bool(scan.value.text.suspicions) for scan in scans
    ]


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
