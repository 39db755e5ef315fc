"""
What an engine is made with: checked when it is made, and never changed.

A policy that could not be enforced is refused here. A model that it asks for and nobody
passed is an error at the start; at the first question it would be silence. So is what
the extra `local` brings, packaged embeddings and trained networks, where it is not
installed; the host's `embeddings=` replace the former. Whether the constraints are
understood is asked of `sdrag.disclosure.setup`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from sdrag.detectors import Detector, detector_identity
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.models import UnionDetector
from sdrag.detectors.own_patterns import with_patterns
from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.enforceable import check_understood
from sdrag.disclosure.local import LocalLocator
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.effects.limits import Limits
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import Failure, Steps, replied, run
from sdrag.embeddings import embed_texts, installed
from sdrag.errors import HostError, MissingExtraError, UsageError, check_type
from sdrag.framework import NO_FRAMEWORK, Framework, Model, local_embeddings
from sdrag.guardrails.grounding import GroundingSection
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_passages
from sdrag.options import JudgeName, Options
from sdrag.policy import GUARDS, Policy, PolicySource, check_not_empty
from sdrag.privacy.log_privacy import warn_without_filter
from sdrag.privacy.operator_warnings import (
    OperatorWarnings,
    warn_of_everything,
    warn_of_no_state,
    warn_of_unbound,
)
from sdrag.state import WAIT_SECONDS, State, StateSource, open_state
from sdrag.vocabulary import Confidential, Constraint, Passage

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
    "restore",
]
"""What a wrapper does, by the name that audit events have for it."""
INGESTING = frozenset({"view", "bind", "summarize", "mask", "scan"})
"""The stages before a corpus is stored."""
RELEASING = frozenset({"retrieve", "disclose", "view"})
"""The stages at which passages leave, with the constraints enforced."""
_SHOWING = frozenset({"retrieve", "disclose"})
"""The stages at which an end user is shown passages."""
_LOCATING = RELEASING | {"bind"}
"""The stages that compare constraints with passages, and remember what they locate."""
_GUARDED: Mapping[Stage, tuple[str, ...]] = {
    "retrieve": ("retrieval", "release"),
    "disclose": ("retrieval", "release"),
    "answer": ("answer",),
}
"""The stages of the guards that run in a wrapper."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Configuration(Confidential):
    """
    A policy, and what enforces it.

    Args:
        state: What is remembered; None where this stage remembers nothing.
        warnings: Tells the operator once what the requests show.
    """

    policy: Policy
    llm: Any
    embeddings: Any
    options: Options
    stage: Stage
    framework: Framework
    disclosure: DisclosureSetup
    state: State | None
    warnings: OperatorWarnings

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
        """
        Read the policy, and refuse what could not be enforced.

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
            UsageError: An argument is not what it must be, or the policy asks for a
                model that was not passed.
            MissingExtraError: The policy asks for what the extra `local` brings.
        """
        if framework is not NO_FRAMEWORK:
            warn_without_filter()
        read, chosen = Policy.read(policy), options or Options()
        check_type(chosen, Options, "options")
        given = {"llm": llm, "embeddings": embeddings, "options": chosen}
        self.__dict__.update(given, policy=read, stage=stage, framework=framework)
        _check(self, has_state=state is not None)
        setup, warnings = self._make_setup(state), OperatorWarnings()
        kept = setup.state if stage in _LOCATING or state is not None else None
        self.__dict__.update(disclosure=setup, state=kept, warnings=warnings)
        self._warn()

    @cached_property
    def ports(self) -> Ports:
        """How the models and the host are asked."""
        framework, embeddings = self.framework, self.embeddings
        return Ports(
            complete=framework.complete(self.llm) if self.has_model else None,
            embed=(
                local_embeddings()
                if embeddings is None
                else framework.embed(embeddings)
            ),
            score=self.options.score,
            authorize=self.options.authorization,
        )

    @cached_property
    def limits(self) -> Limits:
        """The bounds of model calls and of local work."""
        limits = Limits(seconds=self.policy.disclosure.timeout_seconds)
        if isinstance(self.llm, Model):
            limits = self.llm.limit(limits)
        return self.options.limits or limits

    @property
    def has_model(self) -> bool:
        """Whether there is a language model."""
        return self.llm is not None

    def _make_setup(self, state: StateSource) -> DisclosureSetup:
        policy, framework, has_model = self.policy, self.framework, self.has_model
        window = framework.context_window(self.llm) if has_model else None
        seconds = min(WAIT_SECONDS, policy.disclosure.timeout_seconds)
        local = LocalDetector(off=policy.disclosure.recognisers_off)
        host = self.options.detector
        both = local if host is None else UnionDetector((local, host))
        setup = DisclosureSetup(
            # The rest of a window is for instructions, constraints and the reply.
            policy=policy if window is None else policy.limit_tokens(window // 2),
            # Its vectors are of these embeddings, so no other wrapper sees them.
            state=open_state(state, timeout_seconds=seconds).remembering(),
            locator=LocalLocator(both, policy.disclosure.sensitivity, off=local.off),
            has_model=has_model,
            has_embeddings=self.embeddings is not None or installed(),
            model_id=framework.model_name(self.llm) if has_model else "",
            suspects=partial(_find_suspects, policy=policy),
            limits=self.limits,
        )
        if policy.disclosure.restore:
            setup.state.values.cipher()  # a missing extra is an error now
        return setup

    def _warn(self) -> None:
        """Warn the operator of what is allowed, and seldom meant."""
        policy = self.policy
        if self.stage == "answer" and self.state is None and policy.constraints:
            warn_of_no_state()
        if policy.allow_empty and not policy.constraints:
            warn_of_everything(self.policy_hash)
        if self.state is None or self.stage not in RELEASING:
            return
        rules = [rule for rule in policy.rules if not rule.always]
        with suppress(HostError):  # whoever asks is told
            if unbound := self.state.bindings.find_unbound(rules):
                warn_of_unbound(self.policy_hash, unbound)

    @property
    def detector(self) -> Detector:
        """What finds in texts what links people: the host's detector or the local."""
        return with_patterns(self.options.detector or LocalDetector(), self.policy)

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
        names = [
            name(self.llm) if self.llm is not None else "local",
            name(self.embeddings) if self.embeddings is not None else "minilm",
        ]
        if options.detector is not None:
            detector = detector_identity(options.detector)  # its fields may be secret
            names.append(self._keyed_hash("detector", detector))
        for judge, model in options.judges.items():
            names.append(f"{judge}:{type(model).__qualname__}")
        return "/".join(names)


def _find_suspects(texts: Sequence[Passage], policy: Policy) -> Steps[Sequence[bool]]:
    """Say which texts speak to a model; one that cannot be scanned may."""
    section = policy.injection or InjectionSection()
    scans = yield from scan_passages(texts, section, classifier=False, metadata_keys=())
    return [isinstance(scan, Failure) or bool(scan.value.suspicions) for scan in scans]


def _check(given: Configuration, *, has_state: bool) -> None:
    """Refuse a policy that could not be enforced."""
    policy, stage = given.policy, given.stage
    has_model = given.ports.complete is not None  # a model of no kind is refused
    _check_models(given)
    if policy.session is not None and stage in _SHOWING and not has_state:
        raise UsageError(
            "The policy limits what a session is shown, and no state was passed.",
            hint='Pass `state="sdrag.sqlite"`, or a URL that all processes open.',
        )
    if stage == "restore" and not (policy.disclosure.restore and has_state):
        raise UsageError(
            "Nothing is restored without `disclosure.restore: true` in the policy"
            " and the state of the retriever.",
            hint="Pass `state=`: the object, or the path of both.",
        )
    if not installed():
        for feature in (*_need_networks(given), *_need_embeddings(given)):
            raise MissingExtraError(feature, "local")
    if stage in RELEASING:
        detector = given.options.detector
        check_understood(policy, has_model=has_model, detector=detector)


def _check_models(given: Configuration) -> None:
    """Refuse a policy that asks for a model that is not there."""
    policy, stage = given.policy, given.stage
    if stage in RELEASING:
        check_not_empty(policy)
    asked: list[tuple[str, JudgeName]] = [
        (section.asks, guard.judge)
        for guard in GUARDS
        if (section := guard.settings(policy)) is not None
        and guard.judge
        and guard.stage in _GUARDED.get(stage, ())
    ]
    if _checks_summaries(given):
        asked.append((_judging(policy), "entailment"))
    for method, name in asked:
        missing = ""
        if method == "nli" and name not in given.options.judges:
            missing = f'judges={{"{name}": ...}}'
        if method == "llm" and not given.has_model:
            missing = "llm=..."
        if missing:
            raise UsageError(
                f"The policy asks for a model that judges {name}, and there is none.",
                hint=f"Pass `{missing}`, or change the method in the policy.",
            )


def _judging(policy: Policy) -> str:
    return (policy.grounding or GroundingSection()).method


def _checks_summaries(given: Configuration) -> bool:
    grounded = given.policy.highlight.grounded
    return given.stage == "highlight" and given.has_model and grounded


def _need_networks(given: Configuration) -> Iterator[str]:
    """Yield what runs on the packaged networks, whatever the host's embeddings are."""
    policy, stage = given.policy, given.stage
    scanned = policy.injection if "retrieval" in _GUARDED.get(stage, ()) else None
    if stage == "scan":
        scanned = policy.injection or InjectionSection()
    if scanned and scanned.local_classifier:
        yield "`injection.local_classifier: true`"
    if _judging(policy) != "local":
        return
    if stage == "answer" and policy.grounding:
        yield "`grounding.method: local`"
    cited = policy.citations if stage == "answer" else None
    if cited and "accuracy" in cited.require:
        yield "`citations.require: [accuracy]` with `grounding.method: local`"
    if _checks_summaries(given):
        yield "A check of summaries (`highlight.grounded: false` omits it)"


def _need_embeddings(given: Configuration) -> Iterator[str]:
    """Yield what embeds texts, and works with the host's embeddings too."""
    policy, stage = given.policy, given.stage
    if given.embeddings is not None:
        return
    relevance, resolution = policy.relevance, policy.linkage.resolution
    if stage in _LOCATING and policy.disclosure.limited:
        yield "`disclosure.top_k` without `embeddings=`"
    if relevance and "retrieval" in _GUARDED.get(stage, ()) and relevance.measures:
        yield f"`relevance.scores: {relevance.scores}` without `embeddings=`"
    if stage == "highlight" and policy.highlight.min_similarity is not False:
        yield "`highlight.min_similarity`"
    if stage == "summarize":
        yield "A summary of what belongs together, without `embeddings=`,"
    by_meaning = not (resolution.meaning is False and resolution.terms is False)
    if stage == "mask" and by_meaning:
        yield "`linkage.resolution.meaning` without `embeddings=`"


_TEXT = "The witness left at noon. The door was open."
_CONSTRAINT = Constraint("warm-up", "Conceal how the door was opened")


def warm_up() -> None:
    """
    Load MiniLM, the scorer and the tagger, which all wrappers of the process share.

    An application calls it where it starts, so that its first question does not wait.
    It takes seconds; call it on a thread to start at once.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        SdragError: A network cannot be loaded.
    """
    if not installed():
        raise MissingExtraError("`warm_up`", "local")
    embed_texts([_TEXT])
    locator = LocalLocator(TaggerDetector())
    passages = [Passage("warm-up", _TEXT, document_id="warm-up")]
    for outcome in run(locator.locate(passages, [_CONSTRAINT]), PortRunner(Ports())):
        replied(outcome)
