"""
Ingest: tasks over the documents of a framework, and over a corpus in a pool.

A `Transformer` reads the documents of a framework as passages, drives its task, and
writes documents again. A document without an id is given one, since what is remembered
of it is found by that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar
from uuid import uuid4

from sdrag.disclosure import Ingested, forget_document
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.progress import batched
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import HostError, UsageError, check_listed
from sdrag.knowledge_base import CorpusContradictions, scan_contradictions
from sdrag.linkage.fitting import Fitted, Update
from sdrag.parallel import Pool
from sdrag.pipeline import bind
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource, open_state
from sdrag.tasks import Bind, Mask, Passages, Task, Transformed
from sdrag.vocabulary import Passage, is_unnamed
from sdrag.wrapper import Unpickled

D = TypeVar("D")
R = TypeVar("R")
AT_ONCE = 1000
"""So many documents are read and bound together."""


class Transformer(Unpickled, Generic[D]):
    """A task over the documents of a framework."""

    _engine: Engine
    _task: Task

    # Not abstract: LlamaIndex puts what abstract methods are given into its spans.
    def _read(self, documents: Iterable[D]) -> Passages:
        """Return documents as passages."""
        raise NotImplementedError

    def _write(self, documents: Sequence[D], done: Transformed) -> list[D]:
        """Return the documents that leave."""
        raise NotImplementedError

    async def _enforce(self, do: Caller, steps: Steps[R]) -> R:
        """Drive steps out of the tracers' sight, and announce what was decided."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self._engine.policy_hash!r})"

    __str__ = __repr__

    async def _transform(self, do: Caller, documents: Sequence[D]) -> list[D]:
        return self._write(documents, await self._enforce(do, self._steps(documents)))

    def _steps(self, documents: Sequence[D]) -> Steps[Transformed]:
        passages = _with_ids(self._read(documents))
        return (yield from self._task.steps(passages, self._engine))


def _with_ids(passages: Iterable[Passage]) -> Passages:
    """Give an id to passages without one, and see that ids differ."""
    return _with_different_ids(
        replace(passage, id=str(uuid4())) if is_unnamed(passage) else passage
        for passage in passages
    )


def _with_different_ids(passages: Iterable[Passage]) -> Passages:
    checked = tuple(passages)
    ids = [passage.id for passage in checked if not is_unnamed(passage)]
    if len({*ids}) < len(ids):
        raise UsageError(
            "Two documents have the same id.", hint="Give each document its own id."
        )
    return checked


class CorpusScanner(Transformer[D]):
    """Scanning a corpus."""

    def find_contradictions(self, documents: Iterable[D]) -> CorpusContradictions:
        """
        Find the documents that contradict each other; they stay as they are.

        Args:
            documents: The whole corpus, with the ids by which pairs are named.

        Raises:
            UsageError: A document has no id.
        """
        passages = self._read(documents)
        if any(map(is_unnamed, passages)):
            raise UsageError("A document has no id.", hint="Give each document an id.")
        return scan_contradictions(passages, self._engine.policy)


class CorpusBinder(Transformer[D]):
    """
    Binding a corpus.

    Policies change while the index exists: a new or reworded constraint is bound when
    the corpus is bound again, and one that left the policy is not looked up any more.
    """

    _task: Bind

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
            UsageError: Two documents have the same id.
        """
        return run_sync(self._bind(call_sync, documents))

    async def abind_documents(self, documents: Iterable[D]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        return await self._bind(call_async, documents)

    def forget_document(self, chunks: Sequence[D]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: All of its chunks, as they were in the index.

        Raises:
            HostError: The state failed.
        """
        run_sync(self._forget(call_sync, chunks))

    async def aforget_document(self, chunks: Sequence[D]) -> None:
        """Forget a document without blocking the event loop."""
        await self._forget(call_async, chunks)

    async def _bind(self, do: Caller, documents: Iterable[D]) -> Ingested:
        check_listed(documents, "documents")
        done = Ingested()
        for batch in batched(documents, AT_ONCE):
            done += await self._enforce(do, self._binding(batch))
        return done

    def _binding(self, documents: Sequence[D]) -> Steps[Ingested]:
        passages = _with_different_ids(self._read(documents))
        return (yield from self._task.bind(passages, self._engine))

    async def _forget(self, do: Caller, chunks: Sequence[D]) -> None:
        steps = forget_document(self._read(chunks), self._engine.disclosure)
        await self._enforce(do, steps)


class CorpusMasker(Transformer[D]):
    """Fitting a plan on a corpus, and following its changes."""

    _task: Mask

    def fit(self, documents: Sequence[D]) -> Fitted:
        """
        Return the plan for a whole corpus, for other maskers to apply.

        Raises:
            UsageError: Two documents have the same id.
        """
        return run_sync(self._enforce(call_sync, self._fitting(documents)))

    def update(
        self, documents: Sequence[D], removed: Collection[str] = ()
    ) -> tuple[Update, list[D]]:
        """
        Follow a change of the corpus that the plan was fitted on.

        The masker stays as it is: build another one with `fitted=update.fitted`.

        Args:
            documents: What is new, or replaces what has its id.
            removed: Ids of what is gone.

        Returns:
            The update, and what is to be indexed now, masked: the new documents, and
            the earlier ones in which more is masked than before.

        Raises:
            UsageError: The masker has no plan, a document no id, or two the same.
        """
        return run_sync(self._update(call_sync, documents, removed))

    async def aupdate(
        self, documents: Sequence[D], removed: Collection[str] = ()
    ) -> tuple[Update, list[D]]:
        """Follow a change without blocking the event loop; as `update`."""
        return await self._update(call_async, documents, removed)

    async def _update(
        self, do: Caller, documents: Sequence[D], removed: Collection[str]
    ) -> tuple[Update, list[D]]:
        update = await self._enforce(do, self._updating(documents, removed))
        return update, self._write((), Transformed((), update.documents))

    def _fitting(self, documents: Sequence[D]) -> Steps[Fitted]:
        passages = _with_ids(self._read(documents))
        return (yield from self._task.fit(passages, self._engine))

    def _updating(
        self, documents: Sequence[D], removed: Collection[str]
    ) -> Steps[Update]:
        passages = _with_different_ids(self._read(documents))
        return (yield from self._task.update(passages, removed, self._engine))


def bind_corpus(
    passages: Iterable[Passage],
    policy: PolicySource,
    state: StateSource,
    pool: Pool,
    progress: Callable[[int], None] | None = None,
    *,
    key: str | Path | None = None,
) -> Ingested:
    """
    Bind a policy to a corpus, as `sdrag.pipeline.bind` does, in a pool.

    Workers write to the state themselves. What it knows is not done again, so the next
    run goes on where this one was interrupted.

    Args:
        passages: Read as they are bound; those of one document together, in order.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Its path or URL, which every worker opens.
        pool: Where passages are embedded and located.
        progress: Is called with how many passages are done.
        key: The file of the state's key; as in `open_state`.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: The state is in memory, where no worker sees it.
        HostError: Ray, a worker or the state failed. What was bound before stays.
    """
    opened, done = open_state(state, key=key), Ingested()
    if opened.is_in_memory:
        raise UsageError("Workers do not share a state in memory.", hint="Pass a path.")
    common = Policy.read(policy), state, key, opened.name
    for bound in pool.map(_binding, common, batched(passages, AT_ONCE)):
        done += bound
        if progress is not None:
            progress(done.passages)
    return done


def _binding(
    policy: Policy, state: StateSource, key: str | Path | None, name: str
) -> Callable[[Sequence[Passage]], Ingested]:
    """Make what binds a batch, in a worker; it has to open the state of that name."""
    opened = open_state(state, key=key)
    if opened.name != name:
        raise HostError("A worker has opened another state.")
    engine = Engine(policy, state=opened, stage="bind")
    return lambda batch: engine.run(bind(batch, engine))[0]
