"""
Binding a corpus, and following its policy, over the documents of any framework.

Policies change while the index exists: a new or reworded constraint is bound with one
query to the host's store, and one that left the policy is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.ingest import (
    bind_constraint,
    forget_constraint,
    is_ingested,
    named,
)
from sdrag.effects.progress import Progress, batched, progress_bar
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.parallel import Pool
from sdrag.pipeline import bind
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource, open_state
from sdrag.state.keys import Keys
from sdrag.vocabulary import Passage

__all__ = ["CorpusBinder", "bind_corpus"]

D = TypeVar("D")
_AT_ONCE = 1000


class CorpusBinder(Generic[D]):
    """What a `ConstraintBinder` can do, whatever a framework calls a document."""

    _engine: Engine
    _shows_progress: bool

    # Not abstract: LlamaIndex puts what abstract methods are given into its spans.
    def _passages(self, documents: Iterable[D]) -> Sequence[Passage]:
        """Return documents as passages."""
        raise NotImplementedError

    def _searching(self, retriever: Any, question: str) -> HostSearch:
        """Return how the host's retriever is asked."""
        raise NotImplementedError

    def bind_documents(self, documents: Iterable[D]) -> Ingested:
        """
        Bind the constraints to an index that exists already, from whatever store.

        Args:
            documents: Under the ids by which the store knows them; those of one source
                together, in their order. They are read some at a time.

        Returns:
            How many there were, and for how many every constraint could be judged.

        Raises:
            HostError: The embeddings or the state failed. What was bound before stays,
                and is not done again.
        """
        done = Ingested()
        for batch in batched(documents, _AT_ONCE):
            done += self._bind(batch)
        return done

    async def abind_documents(self, documents: Iterable[D]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        done = Ingested()
        for batch in batched(documents, _AT_ONCE):
            done += await self._abind(batch)
        return done

    def bind_constraint(self, constraint_id: str, retriever: Any) -> int:
        """
        Bind one new or reworded constraint; no document is embedded again.

        Args:
            constraint_id: Of a constraint of the binder's policy.
            retriever: The framework's retriever over the whole index, without a filter.

        Returns:
            To how many documents it was bound.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The store or the state failed; nothing was bound.
        """
        constraint = named(self._engine.policy, constraint_id)
        steps = bind_constraint(constraint, self._engine.disclosure)
        search = self._searching(retriever, constraint.text)
        return self._engine.run(steps, search=search)[0]

    async def abind_constraint(self, constraint_id: str, retriever: Any) -> int:
        """Bind one constraint without blocking the event loop."""
        constraint = named(self._engine.policy, constraint_id)
        steps = bind_constraint(constraint, self._engine.disclosure)
        search = self._searching(retriever, constraint.text)
        return (await self._engine.arun(steps, search=search))[0]

    def forget_constraint(self, constraint_id: str) -> None:
        """
        Delete what is stored of a constraint that is to leave the binder's policy.

        Raises:
            UsageError: The policy has no such constraint.
            HostError: The state failed.
        """
        self._engine.run(self._forgetting(constraint_id))

    async def aforget_constraint(self, constraint_id: str) -> None:
        """Forget one constraint without blocking the event loop."""
        await self._engine.arun(self._forgetting(constraint_id))

    def forget_document(self, chunks: Sequence[D]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: All of its chunks, as they were in the index.

        Raises:
            HostError: The state failed.
        """
        disclosure = self._engine.disclosure
        self._engine.run(forget_document(self._passages(chunks), disclosure))

    async def aforget_document(self, chunks: Sequence[D]) -> None:
        """Forget a document without blocking the event loop."""
        disclosure = self._engine.disclosure
        await self._engine.arun(forget_document(self._passages(chunks), disclosure))

    def _bind(self, documents: Iterable[D]) -> Ingested:
        passages = self._passages(documents)
        done, _ = self._engine.run(self._binding(passages))
        self._engine.warn_of_corpus(passages)
        return done

    async def _abind(self, documents: Iterable[D]) -> Ingested:
        passages = self._passages(documents)
        done, _ = await self._engine.arun(self._binding(passages))
        self._engine.warn_of_corpus(passages)
        return done

    def _binding(self, passages: Sequence[Passage]) -> Steps[Ingested]:
        with progress_bar("Binding", shown=self._shows_progress) as progress:
            return (yield from bind(passages, self._engine, progress))

    def _forgetting(self, constraint_id: str) -> Steps[None]:
        constraint = named(self._engine.policy, constraint_id)
        return forget_constraint(constraint, self._engine.disclosure.state)


def bind_corpus(
    read: Callable[[], Iterable[Passage]],
    policy: PolicySource,
    state: StateSource,
    pool: Pool,
    progress: Progress | None = None,
) -> Ingested:
    """
    Bind a policy to a corpus, as `sdrag.pipeline.bind` does, in a pool.

    Workers embed and locate, and the caller writes the state. Batches that the state
    knows are not sent to workers, so the next run goes on after them.

    Args:
        read: Yields the chunks. It is called several times, so the corpus is never held
            as a whole. Chunks of one document come together, in order.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Where it is kept, or its path.
        pool: Where chunks are embedded and located.
        progress: Is called with how many chunks are done, and how many there are.

    Raises:
        PolicyError: The policy cannot be read.
        HostError: Ray, a worker or the state failed. What was bound before stays.
    """
    rules, opened = Policy.read(policy), open_state(state)
    engine = Engine(rules, state=opened, stage="bind")
    known, count = list[bool](), 0
    for batch in batched(read(), _AT_ONCE):
        known.append(is_ingested(batch, engine.disclosure))
        count += len(batch)
    pairs = zip(batched(read(), _AT_ONCE), known, strict=True)
    new = (batch for batch, is_known in pairs if not is_known)
    answers = pool.map(_binding, (rules, opened.keys), new)
    done = Ingested()
    for batch, is_known in zip(batched(read(), _AT_ONCE), known, strict=True):
        if is_known:
            done += engine.run(bind(batch, engine))[0]
        else:
            writes, bound = next(answers)
            for part, args, options in writes:
                if part == "bindings":
                    opened.bindings.write(*args, **options)
                else:
                    opened.findings.add(*args, **options)
            done += bound
        if progress is not None:
            progress(done.passages, count)
    return done


_Write = tuple[str, tuple[Any, ...], dict[str, Any]]
"""What a state was told: bindings or findings, and the arguments."""


class _Recorded:
    """A part of a state in memory, and what is written to it."""

    def __init__(self, part: Any, name: str, writes: list[_Write]) -> None:
        self._part, self._name, self._writes = part, name, writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def write(self, *args: Any, **options: Any) -> None:
        """Bind passages."""
        self._writes.append((self._name, args, options))
        self._part.write(*args, **options)

    def add(self, *args: Any, **options: Any) -> None:
        """Keep findings."""
        self._writes.append((self._name, args, options))
        self._part.add(*args, **options)


def _binding(
    rules: Policy, keys: Keys
) -> Callable[[Sequence[Passage]], tuple[list[_Write], Ingested]]:
    """Make what binds a batch in memory, and returns what it wrote."""
    from sdrag.state.bindings import Bindings  # noqa: PLC0415 -- SQLAlchemy takes time
    from sdrag.state.findings import Findings  # noqa: PLC0415 -- as above

    def bound(batch: Sequence[Passage]) -> tuple[list[_Write], Ingested]:
        memory, writes = open_state(), list[_Write]()
        bindings: Any = _Recorded(Bindings(memory.database, keys), "bindings", writes)
        findings: Any = _Recorded(Findings(memory.database, keys), "findings", writes)
        state = replace(memory, keys=keys, bindings=bindings, findings=findings)
        engine = Engine(rules, state=state, stage="bind")
        return writes, engine.run(bind(batch, engine))[0]

    return bound
