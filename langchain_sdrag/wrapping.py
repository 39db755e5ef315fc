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
from typing import Any, ClassVar, Generic, Self, TypeVar

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from langchain_sdrag.effects import Model, completing, embedding, model_name
from langchain_sdrag.tracing import hide_from_tracers
from langchain_sdrag.windows import context_window
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, Stage
from sdrag.errors import UsageError
from sdrag.framework import Framework
from sdrag.options import Options
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import ReloadableWrapper, Unpickled

__all__ = [
    "LANGCHAIN",
    "DisclosingWrapper",
    "IngestWrapper",
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


_ARGUMENTS = frozenset({"policy", "llm", "embeddings", "state", "options"})


class Wrapper(Unpickled, BaseModel):
    """A runnable that is built with an engine."""

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    engine: Engine = Field(exclude=True, repr=False, frozen=True)

    _stage: ClassVar[Stage]

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        **fields: Any,
    ) -> None:
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage=self._stage,
            framework=LANGCHAIN,
        )
        super().__init__(engine=engine, **fields)
        self._derive()

    def _derive(self) -> None:
        """Make of the engine what the calls need."""

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.engine.policy

    @property
    def principal_resolver(self) -> Any:
        """What finds the principal of a call, if the application passed it."""
        return self.engine.options.principal_resolver

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self.engine.policy_hash

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; a copy with other arguments obeys these."""
        fields = dict(update or {})
        changed = {name: fields.pop(name) for name in _ARGUMENTS & fields.keys()}
        if changed:
            fields["engine"] = self._engine_now().replace(**changed)
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

    _made: Engine = PrivateAttr()
    _path: Path | None = PrivateAttr(default=None)

    def __init__(self, policy: PolicySource, *args: Any, **given: Any) -> None:
        super().__init__(policy, *args, **given)
        self._follow(self.engine, policy)

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Self:
        """Copy; a copy with another policy does not look at the file of this one."""
        made, changed = super().model_copy(update=update, deep=deep), {*(update or {})}
        if changed & _ARGUMENTS:
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
