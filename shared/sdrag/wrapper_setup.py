"""
What every wrapper of either framework is built with.

A framework says in one `Framework` how its models are asked, and how its tracers are
kept out. All else is here: the arguments that wrappers take, what is made of them, and
how the file of a policy is read again. A `WrapperSetup` is valid once it is
made and never changes. Of a changed policy another one is made, in which everything
that was located stays located; each request takes one, at its start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from typing import Any, Literal, Required, Self, TypedDict, TypeVar, cast

from pydantic_core import CoreSchema
from pydantic_core.core_schema import is_instance_schema

from sdrag.detectors import Detector, detector_identity
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import Limits, Port, Ports
from sdrag.effects.steps import Authorize, Embed
from sdrag.effects.tokens import Completion
from sdrag.engine import (
    Audit,
    EmbedPort,
    audit_sinks,
    keyed_hash,
)
from sdrag.errors import UsageError, check_call, check_type, unknown_argument
from sdrag.judges import Judges, check_judges, scoring
from sdrag.local_extra import check_local_extra, embeds
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicySource
from sdrag.privacy.log_privacy import warn_without_filter
from sdrag.state import State, StateSource
from sdrag.vocabulary import Passage, Principal

__all__ = [
    "Arguments",
    "Authorizer",
    "Framework",
    "ReloadableWrapper",
    "WrapperSetup",
    "local_embeddings",
    "refuse_unknown",
]

T = TypeVar("T")
Authorizer = Callable[
    [Principal, Sequence[Passage]], Sequence[bool] | Awaitable[Sequence[bool]]
]
"""The host's own answer to who may see what: one boolean for each passage."""
Stage = Literal[
    "retrieve",
    "disclose",
    "view",
    "bind",
    "summarize",
    "mask",
    "scan",
    "inherit",
    "highlight",
    "answer",
]
"""What a wrapper does, by the name that audit events have for it."""
_RELEASING = frozenset({"retrieve", "disclose", "view"})
"""The stages at which passages leave, with the constraints enforced."""
_REMEMBERING = _RELEASING | {"bind"}
"""The stages that locate, and remember what they have located."""

_GUARDED: Mapping[Stage, tuple[str, ...]] = {
    "retrieve": ("retrieval", "release"),
    "disclose": ("retrieval", "release"),
    "answer": ("answer",),
}
"""The stages of the guards that run in a wrapper."""


class Arguments(TypedDict, total=False):
    """What every wrapper takes that keeps of passages what may be disclosed."""

    policy: Required[PolicySource]
    """A path, a mapping, a list of sentences or a `Policy`."""
    detector: Detector | None
    """Finds mentions in addition to the local detector, such as Presidio or GLiNER."""
    state: StateSource
    """What a `ConstraintBinder` wrote, or its path; in memory by default. A passage
    that was not located before is located when it is retrieved."""
    judges: Judges | None
    """Models that judge pairs of texts, by the name of what they judge: `relevance`,
    `injection`, `entailment` and `contradiction`. The policy says which are needed."""
    authorize: Authorizer | None
    """Takes a principal and passages, and returns for each whether it may be seen."""
    audit: Audit
    """Called with every audit event: one sink or several; by default the logger
    `sdrag.audit`."""
    limits: Limits | None
    """The bounds of model calls and of local work; by default the policy's."""


def refuse_unknown(
    wrapper: str, given: Collection[str], known: Collection[str]
) -> None:
    """
    Refuse arguments that nobody reads: one that is misspelt would protect nothing.

    Args:
        wrapper: The name of the class.
        given: The names of the arguments.
        known: The names that the class takes.

    Raises:
        UsageError: One of them is not known.
    """
    for name in sorted(set(given) - set(known)):
        raise unknown_argument(wrapper, name, known)


@dataclass(frozen=True, slots=True)
class Framework:
    """
    How a framework does what every wrapper needs.

    Args:
        complete: Makes of a language model, or None, how a prompt is answered.
        embed: Makes of an embedding model, or None, how texts are embedded.
        model_name: Names a model for caches and audits, without its keys.
        context_window: Returns how many tokens a model takes in, where that is known.
        hide: Surrounds inner calls, and keeps them out of tracers and callbacks.
    """

    complete: Callable[[Any], Port[Prompt, Completion | str] | None]
    embed: Callable[[Any], EmbedPort]
    model_name: Callable[[Any], str]
    context_window: Callable[[Any], int | None]
    hide: Callable[[Policy], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WrapperSetup:
    """
    What a wrapper is built with, under one policy.

    Args:
        framework: How its models are asked.
        stage: What the wrapper does.
        policy: What must not be disclosed.
        llm: The framework's language model.
        embeddings: The framework's embedding model; the packaged MiniLM by default.
        detector: As `Arguments` says, like all that follow.
        state: What is remembered, or its path; then the opened state, or None.
        judges: Models that judge pairs of texts.
        authorize: The host's own answer to who may see what.
        audit: Who is handed the audit events; then a tuple of sinks.
        limits: The bounds of model calls and of local work.
        engine: Made of the above.

    Raises:
        PolicyError: The policy cannot be read, or a constraint is not understood.
        UsageError: An argument is not what it must be, or the policy asks for a model
            that was not handed in.
        MissingExtraError: It asks for what the extra `local` brings.
    """

    framework: Framework
    stage: Stage
    policy: Policy
    llm: Any = None
    embeddings: Any = None
    detector: Detector | None = None
    state: StateSource = None
    judges: Judges | None = None
    authorize: Authorizer | None = None
    audit: Audit = None
    limits: Limits | None = None
    engine: Engine = field(init=False)

    def __post_init__(self) -> None:
        warn_without_filter()
        judges, guarded = self.judges or {}, _GUARDED.get(self.stage, ())
        has_model, has_embeddings = self.llm is not None, embeds(self.embeddings)
        ports = Ports(
            complete=self.framework.complete(self.llm),
            embed=self.framework.embed(self.embeddings),
            score=scoring(judges),
            authorize=_authorizing(self.authorize),
        )
        check_judges(self.policy, guarded, judges, has_model=has_model)
        check_local_extra(
            self.policy, self.stage, guarded, has_embeddings=has_embeddings
        )
        if self.limits is not None:
            check_type(self.limits, Limits, "limits")
        sinks = audit_sinks(self.audit)
        engine = Engine.build(
            self.policy,
            has_model=has_model,
            has_embeddings=has_embeddings,
            model_id=self.framework.model_name(self.llm),
            state=self.state,
            detector=self.detector,
            authorize=self.authorize is not None,
            classifier=judges.get("injection") is not None,
            releasing=self.stage in _RELEASING,
            window=self.framework.context_window(self.llm),
            stage=self.stage,
            ports=ports,
            limits=self.limits,
            sinks=sinks,
            hide=partial(self.framework.hide, self.policy),
        )
        remembers = self.stage in _REMEMBERING or self.state is not None
        state = engine.disclosure.state if remembers else None
        made = {"state": state, "audit": sinks, "engine": engine}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"WrapperSetup({self.stage!r}, {self.policy_hash})"

    @classmethod
    def build(
        cls,
        framework: Framework,
        stage: Stage,
        *,
        policy: PolicySource | None = None,
        **given: Any,
    ) -> Self:
        """
        Read the policy, and make the setup.

        Args:
            framework: How its models are asked.
            stage: What the wrapper does.
            policy: A path, a mapping, a list or a `Policy`.
            given: The other arguments of the class.

        Raises:
            PolicyError: The policy cannot be read.
            UsageError: There is none.
        """
        if policy is None:
            raise UsageError(
                "A wrapper needs a `policy`.",
                hint="Pass a path, a mapping or a list of sentences.",
            )
        read = Policy.read(policy)
        return cls(framework=framework, stage=stage, policy=read, **given)

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self.engine.policy_hash

    @property
    def remembered(self) -> State | None:
        """The opened state, where the wrapper needs one or was given one."""
        return self.state if isinstance(self.state, State) else None

    @property
    def engine_id(self) -> str:
        """The names of what was handed in, without keys; a detector is hashed."""
        name = self.framework.model_name
        names = [name(self.llm) or "local", name(self.embeddings) or "minilm"]
        if self.detector is not None:
            found_by = detector_identity(self.detector)  # its fields may be secret
            names.append(keyed_hash("detector", found_by, state=self.remembered))
        for judge, model in (self.judges or {}).items():
            names.append(f"{judge}:{type(model).__qualname__}")
        return "/".join(names)

    def under(self, policy: Policy) -> WrapperSetup:
        """
        Make the same of another policy; what was located stays located.

        Raises:
            PolicyError: A constraint of it is not understood.
            UsageError: It asks for a model that was not handed in.
        """
        return replace(self, policy=policy)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Be a field of a pydantic model: it was checked when it was made."""
        return is_instance_schema(cls)


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


class ReloadableWrapper(Unpickled):
    """A wrapper that reads the file of its policy again."""

    _made: WrapperSetup
    _path: Path | None

    def _follow(self, setup: WrapperSetup, source: PolicySource | None) -> None:
        """Obey a setup, and know the file that the policy comes from, if any."""
        self._made = setup
        self._path = None
        if isinstance(source, (str, Path)):
            self._path = Path(source).absolute()

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._made.policy

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._made.policy_hash

    def reload(self) -> None:
        """
        Read the policy's file again; requests that begin from now on are under it.

        Raises:
            PolicyError: The file cannot be read; the last policy stays in force.
            UsageError: The policy comes from no file, or asks for a model that was not
                passed; the last policy stays in force.
        """
        if self._path is None:
            raise UsageError(
                "This policy was not read from a file.",
                hint="Give the wrapper the path of one.",
            )
        self._made = self._made.under(Policy.read(self._path))

    def in_force(self) -> WrapperSetup:
        """Return the setup of a request that begins now, from its start to its end."""
        return self._made

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def local_embeddings() -> EmbedPort:
    """Embed with the packaged MiniLM, loaded at the first call."""

    def call(effect: Embed) -> Sequence[Sequence[float]]:
        from sdrag.embeddings import embed_texts  # noqa: PLC0415 -- it loads numpy

        return cast("Sequence[Sequence[float]]", embed_texts(effect.items))

    return Port(call, local=True)


def _authorizing(
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
            f"`authorize` must be callable, got {type(authorizer).__name__}.",
            hint="It takes a principal and passages, and returns a boolean for each.",
        )

    def call(effect: Authorize) -> Sequence[bool]:
        if not iscoroutinefunction(authorizer):
            answers = authorizer(effect.principal, effect.items)
            if not isawaitable(answers):
                return list(answers)
        raise UsageError("`authorize` is async.", hint="Use the async methods.")

    async def acall(effect: Authorize) -> Sequence[bool]:
        answers = authorizer(effect.principal, effect.items)
        return list(await answers if isawaitable(answers) else answers)

    return Port(call, acall if iscoroutinefunction(authorizer) else None)
