"""
What LlamaIndex wrappers share: the arguments they take, and how they are built.

LlamaIndex dumps the fields of its components, with the keys of the models in them, to
name what its caches hold. So a wrapper keeps its engine out of its fields, and its
fields name the policy and the models: a changed policy never finds an old result. A
wrapper refuses to be pickled, since its policy is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Required, TypedDict, TypeVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.effects import completing, embedding, model_name
from llamaindex_sdrag.principals import PrincipalResolver
from llamaindex_sdrag.tracing import hide_from_tracers
from llamaindex_sdrag.windows import context_window
from sdrag.effects.runner import Limits
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, Stage
from sdrag.framework import Framework
from sdrag.options import Audit, Judges
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import Arguments, Unpickled, build_engine, refuse_unknown

__all__ = [
    "LLAMAINDEX",
    "AnswerArguments",
    "DisclosureArguments",
    "HighlightArguments",
    "IngestWrapper",
    "SetupArguments",
    "disclosing_engine",
]

R = TypeVar("R")
LLAMAINDEX = Framework(
    completing, embedding, model_name, context_window, hide_from_tracers
)


class SetupArguments(Arguments, total=False):
    """The arguments of wrappers that keep of nodes what may be disclosed."""

    llm: LLM | None
    """Finds what the constraints mean; without one, the local engine does."""
    embeddings: BaseEmbedding | None
    """Compares constraints with nodes; the packaged MiniLM by default."""


class DisclosureArguments(SetupArguments, total=False):
    """The arguments of wrappers that act on behalf of a principal."""

    principal_resolver: PrincipalResolver | None
    """Finds the principal of a call."""


class AnswerArguments(TypedDict, total=False):
    """The arguments of a wrapper that checks answers."""

    policy: Required[PolicySource]
    """Each of its sections `grounding`, `citations`, `contradictions`, `monitoring` and
    `staleness` is a check, and so are its constraints."""
    llm: LLM | None
    """Judges, where a section says `method: llm`."""
    judges: Judges | None
    """Models that give pairs of premise and hypothesis a probability, under
    `entailment` and `contradiction`, where a section says `method: nli`."""
    state: StateSource
    """That the nodes were released with, or its path: the answer is searched for what
    was withheld from them."""
    audit: Audit
    """As `Arguments` says."""
    limits: Limits | None
    """As `Arguments` says."""


class HighlightArguments(TypedDict, total=False):
    """The arguments of Highlight & Summarize."""

    policy: PolicySource
    """Its section `highlight` is read; by default the section's own defaults hold."""
    llm: LLM | None
    """Highlights and summarizes; without one, both are done locally."""
    embeddings: BaseEmbedding | None
    """Measures divergence; the packaged MiniLM by default."""
    audit: Audit
    """As `Arguments` says."""
    limits: Limits | None
    """As `Arguments` says."""


def disclosing_engine(
    wrapper: str, stage: Stage, given: DisclosureArguments
) -> tuple[Engine, PrincipalResolver | None]:
    """
    Make the engine of a wrapper that acts on behalf of a principal.

    Args:
        wrapper: The name of the class or function.
        stage: What it does.
        given: Its arguments.

    Returns:
        The engine, and the principal resolver that was given with it.
    """
    refuse_unknown(wrapper, given, DisclosureArguments.__annotations__)
    taken: dict[str, Any] = {**given}
    resolver = taken.pop("principal_resolver", None)
    return build_engine(LLAMAINDEX, stage, **taken), resolver


class IngestWrapper(Unpickled, TransformComponent, Generic[R]):
    """
    A transformer of nodes that is built with an engine.

    Args:
        engine: What it is built with.
        engine_id: Names all but the policy that decides what it returns.
    """

    policy_hash: str
    engine_id: str

    _engine: Engine = PrivateAttr()

    def __init__(self, engine: Engine, engine_id: str, **fields: Any) -> None:
        fields |= {"policy_hash": engine.policy_hash, "engine_id": engine_id}
        super().__init__(**fields)
        self._engine = engine

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return cls.__name__

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Transform nodes; those of one document come together, in their order.

        Raises:
            SdragError: Nothing was transformed; the error holds no text.
        """
        found, _ = self._engine.run(self._steps(nodes))
        return self._nodes(nodes, found)

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Transform nodes without blocking the event loop."""
        found, _ = await self._engine.arun(self._steps(nodes))
        return self._nodes(nodes, found)

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[R]:
        """Return what is done; the nodes are read when the steps are driven."""
        raise NotImplementedError

    def _nodes(self, nodes: Sequence[BaseNode], found: R) -> Sequence[BaseNode]:
        """Return what leaves."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.class_name()}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__
