"""
What LangChain wrappers share: the arguments they take, and how they are built.

The objects of the host (models, stores, callables) are fields that are never dumped
and stand in no repr. A wrapper refuses to be pickled: its policy is confidential. What
is made of the fields is made again for a copy, so a copy with another policy obeys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from langchain_sdrag.effects import completing, embedding, model_name
from sdrag.calls import Limits
from sdrag.errors import UsageError
from sdrag.hosting import Hook, Unpickled, authorizing
from sdrag.judges import Judge, Scorer, check_retrieving, scoring
from sdrag.performing import Ports
from sdrag.pipeline import Engine
from sdrag.policy import Policy

__all__ = ["DisclosingWrapper", "Wrapper"]


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
    _hook: Hook = PrivateAttr()

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
        """Sixteen digits that change with anything the policy says."""
        return self.policy.hash

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
        ports = Ports(
            complete=completing(self.llm),
            embed=embedding(self.embeddings),
            score=scoring(self._judges()),
        )
        self._hook = Hook.build(
            self._stage,
            self.policy,
            ports,
            audit=self.audit,
            escalate=self.escalate,
            limits=self.limits,
        )

    def _judges(self) -> dict[Judge, Scorer]:
        """Name the models that judge pairs of texts."""
        return {}

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return [("policy_hash", self.policy.hash)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy.hash!r})"

    __str__ = __repr__


class DisclosingWrapper(Wrapper):
    """The fields of a wrapper that keeps of passages what may be disclosed."""

    bindings: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    cache: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    history: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    authorize: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    scorer: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    classifier: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    contradiction: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    withheld: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    principal_resolver: Any = Field(default=None, exclude=True, repr=False, frozen=True)

    _engine: Engine = PrivateAttr()

    def _build(self) -> None:
        super()._build()
        has_model = self.llm is not None
        check_retrieving(self.policy, self._judges(), has_model=has_model)
        self._engine = Engine.build(
            self.policy,
            has_model=has_model,
            model_id=model_name(self.llm),
            bindings=self.bindings,
            cache=self.cache,
            history=self._kept(),
            authorize=self.authorize is not None,
            classifier=self.classifier is not None,
            withheld=self.withheld,
        )
        ports = replace(self._hook.ports, authorize=authorizing(self.authorize))
        self._hook = replace(self._hook, ports=ports)

    def _kept(self) -> Any:
        """Keep the history of what is copied: a copy shows nothing it withheld."""
        copied: Engine | None = getattr(self, "_engine", None)
        if copied is None or not self.policy.disclosure.monotone:
            return self.history
        return self.history or copied.disclosure.history

    def _judges(self) -> dict[Judge, Scorer]:
        return {
            "relevance": self.scorer,
            "injection": self.classifier,
            "contradiction": self.contradiction,
        }
