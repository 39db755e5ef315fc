"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

What is bound and what was located goes to the state, and the nodes to the host's store
as they are. The nodes of one document are read together, in the order in which they
come; a document whose nodes come in several batches is completed later. The state holds
the best bindings of everything ever written, so binding batch by batch, or shard by
shard in worker processes, ends where binding the whole corpus at once does.

The ingestion cache keeps what a transform returned, by the transform's fields. A binder
returns the nodes as they came, and what counts, the state, is not in the cache: its
fields name the policy, the models and the state, so another of these binds anew.

Policies change while the index stands: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, QueryBundle, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.searching import searching
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.wrapping import Setup
from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.policy_updates import bind_constraint, forget_constraint, named
from sdrag.engine.batches import batched
from sdrag.engine.calls import Limits
from sdrag.engine.progress import progress_bar
from sdrag.engine.steps import Steps
from sdrag.errors import UsageError
from sdrag.pipeline import bind
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Constraint
from sdrag.wrapper_setup import Audit

__all__ = ["ConstraintBinder"]

_AT_ONCE = 1000


class ConstraintBinder(TransformComponent):
    """
    Bind constraints to nodes before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.state.sqlite")
        IngestionPipeline(transformations=[splitter, binder, embed_model])
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        state: Where it is kept, or its path; the retriever is given the same.
        llm: Finds what the constraints mean, beside the local engine; then no model is
            asked when the nodes are retrieved.
        embeddings: The model that the retriever is given; MiniLM by default.
        show_progress: Shows a bar.
        audit: Takes the audit events.
        limits: The bounds of model calls.
    """

    policy_hash: str
    engine_id: str

    _setup: Setup = PrivateAttr()
    _shown: bool = PrivateAttr()
    _rebuild: tuple[Any, ...] = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        state: StateSource,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        show_progress: bool = False,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        setup = Setup.build(
            "bind",
            policy,
            llm=llm,
            embeddings=embeddings,
            state=state,
            audit=audit,
            limits=limits,
            releasing=False,
        )
        fields: dict[str, Any] = {
            "policy_hash": setup.policy_hash,
            "engine_id": f"{setup.engine_id}/{setup.engine.disclosure.state.name}",
        }
        super().__init__(**fields)
        self._setup = setup
        self._shown = show_progress
        self._rebuild = (policy, state, llm, embeddings, show_progress, audit, limits)

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
            HostError: The embeddings or the state failed; nothing was bound.
        """
        self._bound(nodes)
        return nodes

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Bind the constraints without blocking the event loop."""
        await self._abound(nodes)
        return nodes

    def bind_documents(self, nodes: Iterable[BaseNode]) -> Ingested:
        """
        Bind the constraints to an index that exists already, from whatever store.

        Args:
            nodes: Under the ids by which the store knows them; those of one document
                together, in their order. They are read some at a time.

        Returns:
            How many there were, and for how many every constraint could be judged.

        Raises:
            HostError: As for a call.
        """
        done = Ingested()
        for some in batched(nodes, _AT_ONCE):
            done += self._bound(some)
        return done

    async def abind_documents(self, nodes: Iterable[BaseNode]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        done = Ingested()
        for some in batched(nodes, _AT_ONCE):
            done += await self._abound(some)
        return done

    def _bound(self, nodes: Sequence[BaseNode]) -> Ingested:
        passages, setup = tuple(map(passage_of, nodes)), self._setup
        with progress_bar("Binding", shown=self._shown) as progress:
            steps = bind(passages, setup.engine, progress)
            done, _ = setup.hook.perform(steps, cover(setup.policy))
        setup.hook.warn_of_corpus(passages)
        return done

    async def _abound(self, nodes: Sequence[BaseNode]) -> Ingested:
        passages, setup = tuple(map(passage_of, nodes)), self._setup
        with progress_bar("Binding", shown=self._shown) as progress:
            steps = bind(passages, setup.engine, progress)
            done, _ = await setup.hook.aperform(steps, cover(setup.policy))
        setup.hook.warn_of_corpus(passages)
        return done

    def bind_constraint(self, constraint_id: str, retriever: BaseRetriever) -> int:
        """
        Bind one new or reworded constraint; no node is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: Over the whole index, without a filter.

        Returns:
            To how many nodes it was bound.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The store or the state failed; nothing was bound.
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
            UsageError: The policy has no such constraint.
            HostError: The state failed.
        """
        rule = named(self._setup.policy, constraint_id)
        steps = forget_constraint(rule, self._setup.engine.disclosure.state)
        self._setup.hook.perform(steps, cover(self._setup.policy))

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        rule = named(self._setup.policy, constraint_id)
        steps = forget_constraint(rule, self._setup.engine.disclosure.state)
        await self._setup.hook.aperform(steps, cover(self._setup.policy))

    def forget_document(self, nodes: Sequence[BaseNode]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            nodes: As they stood in the index.

        Raises:
            HostError: The state failed.
        """
        self._setup.hook.perform(self._forgotten(nodes), cover(self._setup.policy))

    async def aforget_document(self, nodes: Sequence[BaseNode]) -> None:
        """Forget a document without blocking the event loop."""
        steps = self._forgotten(nodes)
        await self._setup.hook.aperform(steps, cover(self._setup.policy))

    def _forgotten(self, nodes: Sequence[BaseNode]) -> Steps[None]:
        passages = tuple(map(passage_of, nodes))
        return forget_document(passages, self._setup.engine.disclosure)

    def _added(self, rule: Constraint) -> Steps[int]:
        return bind_constraint(rule, self._setup.engine.disclosure)

    def __reduce_ex__(
        self, protocol: Any
    ) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Let worker processes build their own, from the same files."""
        policy, state, *others = self._rebuild
        if not isinstance(state, (str, Path)) or not isinstance(policy, (str, Path)):
            raise UsageError(
                "A binder works in several processes over files only.",
                hint="Pass the paths of the policy and of the state.",
            )
        return _build, (str(policy), str(state), *others)

    def __repr__(self) -> str:
        return f"ConstraintBinder(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _build(  # noqa: PLR0917 -- as pickled
    policy: str,
    state: str,
    llm: LLM | None,
    embeddings: BaseEmbedding | None,
    show_progress: bool,  # noqa: FBT001 -- as pickled
    audit: Audit,
    limits: Limits | None,
) -> ConstraintBinder:
    return ConstraintBinder(
        policy=policy,
        state=state,
        llm=llm,
        embeddings=embeddings,
        show_progress=show_progress,
        audit=audit,
        limits=limits,
    )
