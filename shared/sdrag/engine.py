"""
An engine: how the steps of a request run on what a policy is enforced with.

An `Engine` never changes; whatever belongs to one question is a `Request`. Of a changed
policy another engine is made, in which everything that was located stays located. What
one is made with, and when that is refused, says `sdrag.configuration`.

An error of this package names types and ids only, but Python attaches the original
exception and its frames to it. Tools that collect errors read both, so both are cut
off. A policy is named in audits, warnings and caches by a keyed hash, `policy_hash`:
whoever sees it cannot test a guess of the constraints against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, TypeVar

from sdrag.configuration import INGESTING, Configuration
from sdrag.disclosure.texts import name_documents
from sdrag.effects import steps as drivers
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner
from sdrag.effects.steps import Search, Steps
from sdrag.errors import InternalError, SdragError, check_type, cut_off
from sdrag.policy import nearest_role
from sdrag.principals import (
    current_principal,
    current_request,
    current_session,
    new_request,
)
from sdrag.privacy.audit import AuditEvent, emit
from sdrag.privacy.identities import pseudonymized
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Request(Confidential):
    """
    One question.

    Args:
        query: The end user's words.
        principal: The end user; `None` where none is named.
        limit: How many passages are wanted, where the host knows.
        now: When it is asked, with its time zone.
        session_id: In which session; by default that of `acting_as`.
    """

    query: str
    principal: Principal | None = None
    limit: int | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    session_id: str | None = field(default_factory=current_session)

    def __post_init__(self) -> None:
        check_type(self.query, str, "question")
        if self.limit is not None:
            check_type(self.limit, int, "number of passages")


@dataclass(frozen=True, slots=True)
class Disclosure:
    """
    What may leave, in the order and under the ids it came in, and why.

    Args:
        passages: That may leave.
        decisions: Without content.
        tool: The name of the tool that returned the passages, where one did.
        principal: For whom.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    tool: str | None = None
    principal: Principal | None = field(default=None, repr=False)


HostSearch = Port[Search, Sequence[Passage]]
"""The host's retriever, as one request may use it."""


class Engine(Configuration):
    """
    Runs the steps of requests on a policy, and what enforces it.

    Example:
        ```python
        engine = Engine("policy.yaml", state="sdrag.sqlite")
        released, event = engine.run(disclose(passages, Request(question), engine))
        ```
    """

    def __repr__(self) -> str:
        return f"Engine({self.stage!r}, {self.policy_hash})"

    def replace(self, **arguments: Any) -> Engine:
        """Make an engine of other arguments; those that are not named stay."""
        names = ("policy", "llm", "embeddings", "state", "options")
        given = {name: getattr(self, name) for name in names} | arguments
        return Engine(**given, stage=self.stage, framework=self.framework)

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
            hidden: Entered meanwhile, in place of the framework's `hide`.
            search: The host's retriever, as this one request may use it.

        Returns:
            What the steps return, and the audit event of the request.

        Raises:
            SdragError: They failed; the error holds no text, nor does its traceback.
        """
        return run_sync(self._drive(call_sync, steps, hidden, search))

    async def arun(
        self,
        steps: Steps[T],
        hidden: AbstractContextManager[object] | None = None,
        search: HostSearch | None = None,
    ) -> tuple[T, AuditEvent]:
        """Drive the steps without blocking the event loop; as `run`."""
        return await self._drive(call_async, steps, hidden, search)

    async def _drive(
        self,
        do: Caller,
        steps: Steps[T],
        hidden: AbstractContextManager[object] | None,
        search: HostSearch | None,
    ) -> tuple[T, AuditEvent]:
        runner, start = self.runner(search), perf_counter()
        fault: SdragError | None = None
        with hidden or self.framework.hide(self.policy):
            try:
                result: T = await do(drivers.run, drivers.arun, steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = strip_text(error)
        if fault is not None:
            self._tell(runner, perf_counter() - start, None, error=fault.code)
            raise cut_off(fault)
        event = self._tell(runner, perf_counter() - start, result)
        nothing_left, tool = False, None
        if isinstance(result, Disclosure):
            nothing_left, tool = not result.passages, result.tool
        self.warnings.of_event(event, nothing_left=nothing_left, tool=tool)
        return result, event

    def public(self, event: AuditEvent) -> AuditEvent:
        """
        Return an event as a framework's handlers may hear it.

        At ingest the operator's sinks are given ids unchanged, and handlers an alias of
        each id that may tell something.
        """
        if self.stage not in INGESTING:
            return event
        key = self.disclosure.key
        return replace(event, decisions=pseudonymized(event.decisions, {}, key))

    def warn_of_corpus(self, passages: Sequence[Passage]) -> None:
        """Warn of what a corpus lacks: documents, and the keys that a `where` names."""
        self.warnings.of_keys(self.policy.rules, passages)
        keys = self.policy.disclosure.document_keys
        self.warnings.of_documents(name_documents(passages, keys))

    def warn_of_principal(self, principal: Principal | None) -> None:
        """Warn of a principal whose role is nearly one that the policy names."""
        if principal is not None and (near := nearest_role(self.policy, principal)):
            self.warnings.of_role(*near)

    def runner(self, search: HostSearch | None = None) -> PortRunner:
        """Return a runner for one request."""
        ports = self.ports if search is None else replace(self.ports, search=search)
        return PortRunner(ports, self.limits)

    def _tell(
        self, runner: PortRunner, seconds: float, result: object, error: str = ""
    ) -> AuditEvent:
        """Hand the event of a request to the sinks."""
        meter = runner.meter
        asked = getattr(result, "principal", current_principal())
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
            seconds_waited=meter.seconds,
            error=error,
            principal=self.disclosure.state.shared_keys.person(asked),
            request_id=current_request() or new_request(),
        )
        emit(event, self.options.sinks)
        return event


def strip_text(error: Exception) -> SdragError:
    """Keep an error of the tree; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    return InternalError(
        f"Disclosure control failed with {type(error).__name__}.",
        hint="Nothing was released. Please report it.",
    )
