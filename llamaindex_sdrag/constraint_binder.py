"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

The bindings go to a sidecar, and the nodes to the host's store as they are. The sidecar
holds the best of everything ever written, so binding batch by batch, or shard by shard
in worker processes, ends where binding the whole corpus at once does.

The ingestion cache keeps what a transform returned, by the transform's fields. A binder
returns the nodes as they came, and what counts, the sidecar, is not in the cache: its
fields name the policy, the embeddings and the sidecar, so another of these binds anew.

Policies change while the index stands: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import BaseNode, QueryBundle, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.searching import searching
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.wrapping import Setup
from sdrag.calls import Limits
from sdrag.disclosure.binding_store import BindingStore
from sdrag.disclosure.living import bind_constraint, forget_constraint, named
from sdrag.errors import UsageError
from sdrag.hosting import Audit
from sdrag.pipeline import bind
from sdrag.policy import PolicySource
from sdrag.steps import Steps
from sdrag.vocabulary import Constraint

__all__ = ["ConstraintBinder"]


class ConstraintBinder(TransformComponent):
    """
    Bind constraints to nodes before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", bindings="bindings.sqlite")
        IngestionPipeline(transformations=[splitter, binder, embed_model])
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        bindings: The sidecar or its path; the retriever is given the same.
        embeddings: The model that the retriever is given; MiniLM by default.
        audit: Takes the audit events.
        limits: The bounds of embedding calls.
    """

    policy_hash: str
    engine_id: str

    _setup: Setup = PrivateAttr()
    _rebuild: tuple[Any, ...] = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        bindings: BindingStore | str | Path,
        embeddings: BaseEmbedding | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        setup = Setup.build(
            "bind",
            policy,
            embeddings=embeddings,
            bindings=bindings,
            audit=audit,
            limits=limits,
            releasing=False,
        )
        place = str(bindings) if isinstance(bindings, (str, Path)) else repr(bindings)
        fields: dict[str, Any] = {
            "policy_hash": setup.policy.hash,
            "engine_id": f"{setup.engine_id}/{place}",
        }
        super().__init__(**fields)
        self._setup = setup
        self._rebuild = (policy, bindings, embeddings, audit, limits)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "ConstraintBinder"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Bind the constraints.

        Returns:
            The nodes, unchanged.

        Raises:
            HostError: The embeddings or the sidecar failed; nothing was bound.
        """
        passages = tuple(map(passage_of, nodes))
        steps = bind(passages, self._setup.engine)
        self._setup.hook.perform(steps, cover(self._setup.policy))
        self._setup.hook.warn_of_keys(passages)
        return nodes

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Bind the constraints without blocking the event loop."""
        passages = tuple(map(passage_of, nodes))
        steps = bind(passages, self._setup.engine)
        await self._setup.hook.aperform(steps, cover(self._setup.policy))
        self._setup.hook.warn_of_keys(passages)
        return nodes

    def bind_constraint(self, constraint_id: str, retriever: BaseRetriever) -> int:
        """
        Bind one new or reworded constraint; no node is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: Over the whole index, without a filter.

        Returns:
            To how many nodes it was bound.

        Raises:
            UsageError: The policy or the sidecar has no such constraint.
            HostError: The store or the sidecar failed; nothing was bound.
        """
        rule, policy = named(self._setup.policy, constraint_id), self._setup.policy
        search = searching(retriever, None, QueryBundle(rule.text))
        count, _ = self._setup.hook.perform(self._added(rule), cover(policy), search)
        return count

    async def abind_constraint(
        self, constraint_id: str, retriever: BaseRetriever
    ) -> int:
        """Bind one constraint without blocking the event loop."""
        rule, policy = named(self._setup.policy, constraint_id), self._setup.policy
        search = searching(retriever, None, QueryBundle(rule.text))
        count, _ = await self._setup.hook.aperform(
            self._added(rule), cover(policy), search
        )
        return count

    def forget_constraint(self, constraint_id: str) -> None:
        """
        Free the room of a constraint that is to leave the binder's policy.

        Raises:
            UsageError: The policy or the sidecar has no such constraint.
            HostError: The sidecar failed.
        """
        rule = named(self._setup.policy, constraint_id)
        steps = forget_constraint(rule, self._setup.engine.disclosure.bindings)
        self._setup.hook.perform(steps, cover(self._setup.policy))

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        rule = named(self._setup.policy, constraint_id)
        steps = forget_constraint(rule, self._setup.engine.disclosure.bindings)
        await self._setup.hook.aperform(steps, cover(self._setup.policy))

    def _added(self, rule: Constraint) -> Steps[int]:
        setup = self._setup.engine.disclosure
        return bind_constraint(rule, setup.bindings, setup.policy.disclosure)

    def __reduce_ex__(
        self, protocol: Any
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Let worker processes build their own, from the same files."""
        policy, bindings, *others = self._rebuild
        if not isinstance(bindings, (str, Path)) or not isinstance(policy, (str, Path)):
            raise UsageError(
                "A binder works in several processes over files only.",
                hint="Pass the paths of the policy and of the sidecar.",
            )
        return _build, (str(policy), str(bindings), *others)

    def __repr__(self) -> str:
        return f"ConstraintBinder(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _build(
    policy: str,
    bindings: str,
    embeddings: BaseEmbedding | None,
    audit: Audit,
    limits: Limits | None,
) -> ConstraintBinder:
    return ConstraintBinder(
        policy=policy,
        bindings=bindings,
        embeddings=embeddings,
        audit=audit,
        limits=limits,
    )
