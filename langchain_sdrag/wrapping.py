"""
What LangChain wrappers share: the arguments they take, and how they are built.

The objects of the host (models, stores, callables) are fields that are never dumped
and stand in no repr. A wrapper refuses to be pickled: its policy is confidential. What
is made of the fields is made again for a copy, so a copy with another policy obeys it.

A wrapper whose policy comes from a file can read it again. What it makes of the policy
is one object that never changes, `InForce`; each request takes it once, at its start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.configurable import RunnableConfigurableFields
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from langchain_sdrag.effects import completing, embedding, model_name
from langchain_sdrag.windows import context_window
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.errors import SdragError, UsageError
from sdrag.judges import Judge, Scorer, check_retrieving, scoring
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicyFile, PolicySource, ReloadingPolicy
from sdrag.state import StateSource
from sdrag.wrapper_setup import GuardRunner, Unpickled, authorizing

__all__ = ["DisclosingWrapper", "InForce", "Wrapper"]


class Wrapper(Unpickled, BaseModel):
    """The fields of a wrapper; `_stage` names it in audit events."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    policy: Policy = Field(exclude=True, repr=False, frozen=True)
    llm: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    embeddings: Embeddings | None = Field(
        default=None, exclude=True, repr=False, frozen=True
    )
    escalate: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    audit: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    limits: Limits | None = Field(default=None, exclude=True, repr=False, frozen=True)

    _stage: str = PrivateAttr(default="")
    _hook: GuardRunner = PrivateAttr()

    def __init__(self, **given: Any) -> None:
        unknown = sorted(given.keys() - type(self).model_fields.keys())
        if unknown:
            raise UsageError(
                f"A {type(self).__name__} takes no argument {', '.join(unknown)}.",
                hint="An argument that is misspelt would protect nothing.",
            )
        super().__init__(**given)

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self._hook.policy_hash

    def model_post_init(self, context: Any, /) -> None:
        """Make of the fields what the calls need."""
        super().model_post_init(context)
        self._build()

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; what was made of the fields is made again."""
        copy = super().model_copy(update=update, deep=deep)
        copy._build()  # noqa: SLF001 -- an object of this very class
        return copy

    def configurable_fields(self, **fields: Any) -> Any:
        """
        Let callers choose fields, but for those that protect.

        Raises:
            UsageError: A caller of the chain could choose its own protection, and would
                be shown the policy as the default.
        """
        own = type(self).model_fields
        kept = sorted(name for name in fields.keys() & own if own[name].exclude)
        if kept:
            raise UsageError(
                f"Callers do not choose {', '.join(kept)}.",
                hint="Build several wrappers, and offer `configurable_alternatives`.",
            )
        inherited: Any = super()
        return inherited.configurable_fields(**fields)

    def _build(self) -> None:
        self._hook = self._hook_under(self.policy)

    def _hook_under(self, policy: Policy) -> GuardRunner:
        ports = Ports(
            complete=completing(self.llm),
            embed=embedding(self.embeddings),
            score=scoring(self._judges()),
        )
        return GuardRunner.build(
            self._stage,
            policy,
            ports,
            audit=self.audit,
            escalate=self.escalate,
            limits=self.limits,
        )

    def _judges(self) -> dict[Judge, Scorer]:
        """Name the models that judge pairs of texts."""
        return {}

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return [("policy_hash", self.policy_hash)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


@dataclass(frozen=True, slots=True, repr=False)
class InForce:
    """
    What a wrapper has made of one policy.

    Args:
        policy: What must not be disclosed.
        engine: How it is enforced.
        hook: What drives the steps.
    """

    policy: Policy
    engine: Engine
    hook: GuardRunner

    def __repr__(self) -> str:
        return f"InForce({self.hook.policy_hash!r})"

    def warn(self, error: SdragError) -> None:
        """Warn that it stays in force, since its changed file is not taken."""
        self.hook.warnings.of_policy(self.hook.stage, self.hook.policy_hash, error)


class DisclosingWrapper(Wrapper):
    """The fields of a wrapper that keeps of passages what may be disclosed."""

    state: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    authorize: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    scorer: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    classifier: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    contradiction: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    principal_resolver: Any = Field(default=None, exclude=True, repr=False, frozen=True)

    _living: ReloadingPolicy[InForce] = PrivateAttr()

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._living.made.hook.policy_hash

    def reload(self) -> bool:
        """
        Read the policy's file again; requests that begin from now on are under it.

        A file that cannot be read, or whose policy is refused, changes nothing, and is
        warned of on the logger `sdrag`.

        Returns:
            Whether the file's policy is in force now.

        Raises:
            UsageError: The policy comes from no file.
        """
        taken = self._living.reload(self._renewed)
        self._tell()
        return taken

    def fixed(self) -> Self:
        """Return this wrapper as it is for a request that begins now."""
        return self._fixed_to(self._current())

    async def afixed(self) -> Self:
        """Return it without blocking the event loop."""
        return self._fixed_to(await self._acurrent())

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; a copy with another policy no longer looks at the file of this one."""
        given = dict(update or {})
        is_another = "policy" in given
        given.setdefault("policy", self._living.made.policy)
        copy = super().model_copy(update=given, deep=deep)
        if is_another:
            copy._follow(None)  # noqa: SLF001 -- an object of this very class
        return copy

    def configurable_fields(self, **fields: Any) -> Any:
        """
        Let callers choose fields, but for those that protect.

        Raises:
            UsageError: As for every wrapper.
        """
        made = super().configurable_fields(**fields)
        return _Configurable(default=made.default, fields=made.fields)

    def _build(self) -> None:
        copied: ReloadingPolicy[InForce] | None = getattr(self, "_living", None)
        state = self.state
        if state is None and copied is not None:
            # A copy shows nothing that what is copied withheld.
            state = copied.made.engine.disclosure.state
        made = self._under(self.policy, state)
        self._living = ReloadingPolicy(made, copied.file if copied else None)

    def _follow(self, source: PolicySource | None) -> None:
        """Look at the file that the policy comes from, if it comes from one."""
        self._living = ReloadingPolicy(self._living.made, PolicyFile.of(source))

    def _under(self, policy: Policy, state: StateSource) -> InForce:
        has_model = self.llm is not None
        check_retrieving(policy, self._judges(), has_model=has_model)
        engine = Engine.build(
            policy,
            has_model=has_model,
            model_id=model_name(self.llm),
            state=state,
            authorize=self.authorize is not None,
            classifier=self.classifier is not None,
            window=context_window(self.llm),
        )
        hook = self._hook_under(policy)
        ports = replace(hook.ports, authorize=authorizing(self.authorize))
        known = engine.disclosure.state
        return InForce(policy, engine, replace(hook, ports=ports, state=known))

    def _renewed(self, policy: Policy, last: InForce) -> InForce:
        """Keep the state of the last policy: what was located stays located."""
        return self._under(policy, last.engine.disclosure.state)

    def _current(self) -> InForce:
        """Return what a request that begins now is under, from its start to its end."""
        force = self._living.current(self._renewed)
        self._tell()
        return force

    async def _acurrent(self) -> InForce:
        force = await self._living.acurrent(self._renewed)
        self._tell()
        return force

    def _tell(self) -> None:
        """Have the field tell the policy in force; no request reads it."""
        while self.policy is not (policy := self._living.made.policy):
            self.__dict__["policy"] = policy

    def _fixed_to(self, force: InForce) -> Self:
        copy = self.__copy__()
        copy._living = ReloadingPolicy(force)  # noqa: SLF001 -- as above
        copy._tell()  # noqa: SLF001 -- as above
        return copy

    def _judges(self) -> dict[Judge, Scorer]:
        return {
            "relevance": self.scorer,
            "injection": self.classifier,
            "contradiction": self.contradiction,
        }


class _Configurable(RunnableConfigurableFields):  # type: ignore[type-arg]
    """Builds a wrapper of the policy in force, for one call."""

    def _prepare(
        self, config: RunnableConfig | None = None
    ) -> tuple[Runnable[Any, Any], RunnableConfig]:
        if isinstance(self.default, DisclosingWrapper):
            self.default._current()  # noqa: SLF001 -- of this very module
        return super()._prepare(config)
