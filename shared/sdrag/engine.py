"""
An engine: what a wrapper is set up with, and how the steps of a request run on it.

An `Engine` never changes; whatever belongs to one question is a `Request`. Of a changed
policy another engine is made, in which everything that was located stays located.

An error of this package names types and ids only, but Python attaches the original
exception and its frames to it. Tools that collect errors read both, so both are cut
off. A policy is named in audits, warnings and caches by a keyed hash, `policy_hash`:
whoever sees it cannot test a guess of the constraints against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any, Literal, TypeVar

from sdrag.detectors import Detector, detector_identity
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.models import UnionDetector
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.setup import DisclosureSetup, check_understood
from sdrag.disclosure.texts import name_documents
from sdrag.effects import steps as drivers
from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Failure, Search, Steps
from sdrag.errors import HostError, InternalError, SdragError, check_type, cut_off
from sdrag.framework import NO_FRAMEWORK, Framework, Model
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_passages
from sdrag.options import Options
from sdrag.policy import Policy, PolicySource, nearest_role
from sdrag.principals import current_session
from sdrag.privacy.audit import AuditEvent, emit
from sdrag.privacy.identities import pseudonymized
from sdrag.privacy.log_privacy import warn_without_filter
from sdrag.privacy.operator_warnings import (
    OperatorWarnings,
    warn_of_everything,
    warn_of_no_state,
    warn_of_unbound,
)
from sdrag.requirements import check_requirements, embeds
from sdrag.state import WAIT_SECONDS, State, StateSource, open_state
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

__all__ = [
    "Disclosure",
    "Engine",
    "HostSearch",
    "Request",
    "Stage",
    "strip_text",
]

T = TypeVar("T")
Stage = Literal[
    "retrieve",
    "disclose",
    "view",
    "bind",
    "summarize",
    "mask",
    "scan",
    "highlight",
    "answer",
]
"""What a wrapper does, by the name that audit events have for it."""
_RELEASING = frozenset({"retrieve", "disclose", "view"})
"""The stages at which passages leave, with the constraints enforced."""
_REMEMBERING = _RELEASING | {"bind"}
"""The stages that locate, and remember what they have located."""
_INGESTING = frozenset({"view", "bind", "summarize", "mask", "scan"})
"""The stages before a corpus is stored."""
_GUARDED: Mapping[Stage, tuple[str, ...]] = {
    "retrieve": ("retrieval", "release"),
    "disclose": ("retrieval", "release"),
    "answer": ("answer",),
}
"""The stages of the guards that run in a wrapper."""


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
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    tool: str | None = None


HostSearch = Port[Search, Sequence[Passage]]
"""The host's retriever, as one request may use it."""


class Engine:
    """
    A policy, and what enforces it.

    Example:
        ```python
        engine = Engine("policy.yaml", state="sdrag.sqlite")
        released, event = engine.run(disclose(passages, Request(question), engine))
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: The language model; without one, the local engine works alone.
        embeddings: The embedding model; the packaged MiniLM by default.
        state: What is remembered, or its path; in memory by default.
        options: What else the engine takes.
        stage: What the wrapper does that the engine is for.
        framework: How the models are asked; by default they are functions.

    Raises:
        PolicyError: The policy cannot be read, or a constraint is not understood.
        UsageError: An argument is not what it must be, or the policy asks for a model
            that was not passed.
        MissingExtraError: The policy asks for what the extra `local` brings.
    """

    def __init__(
        self,
        policy: PolicySource,
        llm: Any = None,
        embeddings: Any = None,
        state: StateSource = None,
        options: Options | None = None,
        *,
        stage: Stage = "disclose",
        framework: Framework = NO_FRAMEWORK,
    ) -> None:
        if framework is not NO_FRAMEWORK:
            warn_without_filter()
        self.policy = Policy.read(policy)
        self.llm, self.embeddings = llm, embeddings
        self.options = options or Options()
        check_type(self.options, Options, "options")
        self.stage, self.framework = stage, framework
        self.ports = Ports(
            complete=framework.complete(llm),
            embed=framework.embed(embeddings),
            score=self.options.score,
            authorize=self.options.authorization,
        )
        check_requirements(
            self.policy,
            stage,
            _GUARDED.get(stage, ()),
            self.options.judges,
            has_model=llm is not None,
            has_embeddings=embeds(embeddings),
            has_state=state is not None,
        )
        if stage in _RELEASING:
            check_understood(
                self.policy, has_model=llm is not None, detector=self.options.detector
            )
        limits = Limits(seconds=self.policy.disclosure.timeout_seconds)
        if isinstance(llm, Model):
            limits = llm.limit(limits)
        self.limits = self.options.limits or limits
        self.disclosure = self._set_up_disclosure(state)
        remembers = stage in _REMEMBERING or state is not None
        self.state = self.disclosure.state if remembers else None
        self.warnings = OperatorWarnings()
        if stage == "answer" and state is None and self.policy.constraints:
            warn_of_no_state()
        if self.policy.allow_empty and not self.policy.constraints:
            warn_of_everything(self.policy_hash)
        if self.state is not None and stage in _RELEASING:
            self._warn_of_unbound(self.state)

    def _warn_of_unbound(self, state: State) -> None:
        """Warn of a state that was bound under another policy, if it can be read."""
        rules = [rule for rule in self.policy.rules if not rule.always]
        with suppress(HostError):  # whoever asks is told
            if unbound := state.bindings.find_unbound(rules):
                warn_of_unbound(self.policy_hash, unbound)

    def _set_up_disclosure(self, state: StateSource) -> DisclosureSetup:
        policy, window = self.policy, self.framework.context_window(self.llm)
        if window is not None:  # the rest is for instructions, constraints, the reply
            policy = policy.limit_tokens(window // 2)
        seconds = min(WAIT_SECONDS, policy.disclosure.timeout_seconds)
        return DisclosureSetup(
            policy=policy,
            # Its vectors are of these embeddings, so no other wrapper sees them.
            state=open_state(state, timeout_seconds=seconds).remembering(),
            locator=_local(policy, self.options.detector),
            has_model=self.llm is not None,
            has_embeddings=embeds(self.embeddings),
            model_id=self.framework.model_name(self.llm),
            suspects=partial(_suspects, policy=policy),
            limits=self.limits,
        )

    def __repr__(self) -> str:
        return f"Engine({self.stage!r}, {self.policy_hash})"

    def replace(self, **arguments: Any) -> Engine:
        """Make an engine of other arguments; those that are not named stay."""
        names = ("policy", "llm", "embeddings", "state", "options")
        given = {name: getattr(self, name) for name in names} | arguments
        return Engine(**given, stage=self.stage, framework=self.framework)

    @property
    def detector(self) -> Detector:
        """What finds in texts what links people: the host's detector or the local."""
        return self.options.detector or LocalDetector()

    @property
    def authorizes(self) -> bool:
        """Whether the host is asked who may see what."""
        return self.ports.authorize is not None

    @property
    def policy_hash(self) -> str:
        """
        Sixteen digits that change with anything the policy says.

        They are keyed by the secret of a state on disk, so they are the same in every
        process that opens it. Otherwise they are keyed by a secret of this process.
        """
        return self._keyed_hash("policy", self.policy.hash)

    def _keyed_hash(self, *parts: str) -> str:
        return self.disclosure.state.shared_keys.of(*parts, size=8).hex()

    @property
    def identity(self) -> str:
        """The names of what was passed, without keys; a detector is hashed."""
        name, options = self.framework.model_name, self.options
        names = [name(self.llm) or "local", name(self.embeddings) or "minilm"]
        if options.detector is not None:
            detector = detector_identity(options.detector)  # its fields may be secret
            names.append(self._keyed_hash("detector", detector))
        for judge, model in options.judges.items():
            names.append(f"{judge}:{type(model).__qualname__}")
        return "/".join(names)

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
        runner, start = self.runner(search), perf_counter()
        fault: SdragError | None = None
        with hidden or self.framework.hide(self.policy):
            try:
                result = drivers.run(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = strip_text(error)
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
        runner, start = self.runner(search), perf_counter()
        fault: SdragError | None = None
        with hidden or self.framework.hide(self.policy):
            try:
                result = await drivers.arun(steps, runner)
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = strip_text(error)
        if fault is not None:
            raise cut_off(fault)
        return result, self._audit(result, runner, perf_counter() - start)

    def public(self, event: AuditEvent) -> AuditEvent:
        """
        Return an event as a framework's handlers may hear it.

        At ingest the operator's sinks are given ids unchanged, and handlers an alias of
        each id that may tell something.
        """
        if self.stage not in _INGESTING:
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
        emit(event, self.options.sinks)
        nothing_left, tool = False, None
        if isinstance(result, Disclosure):
            nothing_left, tool = not result.passages, result.tool
        self.warnings.of_event(event, nothing_left=nothing_left, tool=tool)
        return event


def _local(policy: Policy, detector: Detector | None) -> LocalLocator:
    """Unite the application's detector with the local one."""
    local = LocalDetector(off=policy.disclosure.recognisers_off)
    both = local if detector is None else UnionDetector((local, detector))
    return LocalLocator(both, policy.disclosure.sensitivity, off=local.off)


def _suspects(texts: Sequence[Passage], policy: Policy) -> Steps[Sequence[bool]]:
    """Say which texts speak to a model; one that cannot be scanned may."""
    section = policy.injection or InjectionSection()
    scans = yield from scan_passages(texts, section, classifier=False, metadata_keys=())
    return [isinstance(scan, Failure) or bool(scan.value.suspicions) for scan in scans]


def strip_text(error: Exception) -> SdragError:
    """Keep an error of the tree; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    return InternalError(
        f"Disclosure control failed with {type(error).__name__}.",
        hint="Nothing was released. Please report it.",
    )
