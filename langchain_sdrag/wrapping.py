"""
What LangChain wrappers share: the arguments they take, and how they are built.

The engine of a wrapper is a field that is never dumped and is in no repr. A wrapper
refuses to be pickled, since its policy is confidential. A copy with another policy
obeys that policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Required, Self, TypedDict, TypeVar

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from langchain_sdrag.effects import Model, completing, embedding, model_name
from langchain_sdrag.principals import PrincipalResolver
from langchain_sdrag.tracing import hide_from_tracers
from langchain_sdrag.windows import context_window
from sdrag.effects.runner import Limits
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, Stage
from sdrag.errors import UsageError
from sdrag.framework import Framework
from sdrag.options import Audit, Judges
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import (
    Arguments,
    ReloadableWrapper,
    Unpickled,
    build_engine,
    refuse_unknown,
    replace_arguments,
)

__all__ = [
    "LANGCHAIN",
    "AnswerArguments",
    "DisclosingWrapper",
    "DisclosureArguments",
    "HighlightArguments",
    "IngestWrapper",
    "SetupArguments",
    "Wrapper",
]

R = TypeVar("R")
LANGCHAIN = Framework(
    completing,
    embedding,
    model_name,
    context_window,
    partial(hide_from_tracers, child=None),
)


class RunnableArguments(TypedDict, total=False):
    """LangChain's own, where the class has them."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class SetupArguments(Arguments, total=False):
    """The arguments of wrappers that keep of documents what may be disclosed."""

    llm: Model | None
    """Finds what the constraints mean; without one, the local engine does."""
    embeddings: Embeddings | None
    """Compares constraints with documents; the packaged MiniLM by default."""


class DisclosureArguments(SetupArguments, RunnableArguments, total=False):
    """The arguments of wrappers that act on behalf of a principal."""

    principal_resolver: PrincipalResolver | None
    """Finds the principal in the config of a call."""


class AnswerArguments(RunnableArguments, total=False):
    """The arguments of a wrapper that checks answers."""

    policy: Required[PolicySource]
    """Each of its sections `grounding`, `citations`, `contradictions`, `monitoring` and
    `staleness` is a check, and so are its constraints."""
    llm: Model | None
    """Judges, where a section says `method: llm`."""
    judges: Judges | None
    """Models that give pairs of premise and hypothesis a probability, under
    `entailment` and `contradiction`, where a section says `method: nli`."""
    state: StateSource
    """That the documents were released with, or its path: the answer is searched for
    what was withheld from them."""
    audit: Audit
    """As `Arguments` says."""
    limits: Limits | None
    """As `Arguments` says."""


class HighlightArguments(RunnableArguments, total=False):
    """The arguments of Highlight & Summarize."""

    policy: PolicySource
    """Its section `highlight` is read; by default the section's own defaults hold."""
    llm: Model | None
    """Highlights and summarizes; without one, both are done locally."""
    embeddings: Embeddings | None
    """Measures divergence; the packaged MiniLM by default."""
    audit: Audit
    """As `Arguments` says."""
    limits: Limits | None
    """As `Arguments` says."""


class Wrapper(Unpickled, BaseModel):
    """A runnable that is built with an engine."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    engine: Engine = Field(exclude=True, repr=False, frozen=True)

    _stage: ClassVar[Stage]
    _takes: ClassVar[tuple[str, ...]] = (*SetupArguments.__annotations__,)

    def __init__(self, **given: Any) -> None:
        own = type(self)
        fields = {name: given.pop(name) for name in own.model_fields if name in given}
        if "engine" not in fields:
            refuse_unknown(own.__name__, given, self._takes)
            fields["engine"] = build_engine(LANGCHAIN, self._stage, **given)
        elif given:  # an engine is whole: nobody would read them
            refuse_unknown(own.__name__, given, fields)
        super().__init__(**fields)
        self._derive()

    def _derive(self) -> None:
        """Make of the engine what the calls need."""

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.engine.policy

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self.engine.policy_hash

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; a copy with other arguments obeys these."""
        fields, changed = dict(update or {}), {}
        for name in self._takes:
            if name in fields:
                changed[name] = fields.pop(name)
        if "policy" in changed:
            changed["policy"] = Policy.read(changed["policy"])
        if changed:
            fields["engine"] = replace_arguments(self._engine_now(), changed)
        made = super().model_copy(update=fields, deep=deep)
        made._derive()  # noqa: SLF001 -- an object of this very class
        return made

    def configurable_fields(self, **fields: Any) -> Any:
        """
        Refuse: callers do not choose what protects, or keep a policy of before.

        Raises:
            UsageError: Always.
        """
        raise UsageError(
            f"Callers do not choose the fields of a {type(self).__name__}.",
            hint="Pass `k` at the call, or offer wrappers as"
            " `configurable_alternatives`.",
        )

    def _engine_now(self) -> Engine:
        return self.engine

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return [("policy_hash", self.policy_hash)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


class DisclosingWrapper(ReloadableWrapper, Wrapper):
    """A wrapper that keeps of documents what may be disclosed."""

    principal_resolver: Any = Field(default=None, exclude=True, repr=False, frozen=True)

    _made: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    def __init__(self, **given: Any) -> None:
        source = given.get("policy")
        super().__init__(**given)
        self._follow(self.engine, source)

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; a copy with another policy does not look at the file of this one."""
        made, changed = super().model_copy(update=update, deep=deep), {*(update or {})}
        if changed & {*self._takes}:
            file = None if "policy" in changed else self._path
            made._follow(made.engine, file)  # noqa: SLF001 -- an object of this very class
        return made

    def _engine_now(self) -> Engine:
        return self._made


class IngestWrapper(Unpickled, BaseDocumentTransformer, Generic[R]):
    """
    A transformer of documents that is built with an engine.

    Args:
        engine: What it is built with.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self._engine.policy_hash

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Transform documents; those of one source come together, in their order.

        Raises:
            SdragError: Nothing was transformed; the error holds no text.
        """
        found, _ = self._engine.run(self._steps(documents))
        return self._documents(documents, found)

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Transform documents without blocking the event loop."""
        found, _ = await self._engine.arun(self._steps(documents))
        return self._documents(documents, found)

    def _steps(self, documents: Sequence[Document]) -> Steps[R]:
        """Return what is done; the documents are read when the steps are driven."""
        raise NotImplementedError

    def _documents(self, documents: Sequence[Document], found: R) -> list[Document]:
        """Return what leaves."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy_hash!r})"
