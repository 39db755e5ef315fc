"""
Ingest: what is done with a corpus before it is stored, in any framework.

A task says what becomes of passages: their constraints are bound, what links people is
masked, injections are dropped, they are redacted for one audience, or summarized. A
`Transformer` reads the documents of a framework as passages, drives its task, and
writes documents again. The documents of one source come together, in their order. A
document without an id is given one, since what is remembered of it is found by that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar
from uuid import uuid4

from sdrag.corpus_binder import AT_ONCE
from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.disclose import DOCUMENT_KEY, control_keys, redact_for_audience
from sdrag.disclosure.hierarchy import HierarchySettings, add_summaries
from sdrag.disclosure.ingest import bind_constraint, named
from sdrag.disclosure.texts import LAYER_KEY
from sdrag.effects.modes import Mode, run_sync, sync, wait
from sdrag.effects.progress import batched, progress_bar
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch, Stage
from sdrag.errors import UsageError
from sdrag.guardrails.injection import screen
from sdrag.linkage.fitting import Fitted, Update, fit_steps
from sdrag.linkage.replacing import check_style
from sdrag.pipeline import bind
from sdrag.policy import InjectionSection, binds
from sdrag.vocabulary import Confidential, Decision, Passage, Principal, is_unnamed
from sdrag.wrapper import Unpickled

D = TypeVar("D")
R = TypeVar("R")
Passages = tuple[Passage, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Transformed(Confidential):
    """
    What a task made of passages.

    Args:
        given: What came in, in the order of the documents.
        passages: What leaves. One that equals what came in is the document as it was.
        decisions: Without content.
        hidden: Metadata keys that are in no vector and no prompt.
    """

    given: Passages
    passages: Passages
    decisions: tuple[Decision, ...] = ()
    hidden: tuple[str, ...] = ()


class Task(Confidential):
    """What is done with passages at ingest."""

    stage: ClassVar[Stage]
    rebuilds: ClassVar[bool] = False
    """Whether documents are built anew, since the old ones hold what was taken out."""

    def check(self, engine: Engine) -> None:
        """See that the engine has what the task needs, or raise a `UsageError`."""

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Transform passages, whose ids differ."""
        raise NotImplementedError

    def cache_key(self, engine: Engine) -> str:  # noqa: ARG002 -- for those that need it
        """Name what decides the result beside the policy and the models."""
        return ""


@dataclass(frozen=True, slots=True, repr=False)
class Bind(Task):
    """Bind constraints, and locate what they withhold; passages leave as they are."""

    stage: ClassVar[Stage] = "bind"
    show_progress: bool = False

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Bind, and return the passages."""
        yield from self.bind(passages, engine)
        return Transformed(passages, passages)

    def bind(self, passages: Passages, engine: Engine) -> Steps[Ingested]:
        """Bind, and return how many there were."""
        with progress_bar("Binding", shown=self.show_progress) as progress:
            done = yield from bind(passages, engine, progress)
        engine.warn_of_corpus(passages)
        return done

    def cache_key(self, engine: Engine) -> str:
        """Name the state, which a cache of documents does not hold."""
        return engine.disclosure.state.name


@dataclass(frozen=True, slots=True, repr=False)
class Mask(Task):
    """
    Mask what links people, by a plan or as fitted on what comes.

    What links people is seen only in the whole corpus. A shard is never taken for the
    corpus silently.

    Args:
        fitted: The plan.
        whole_corpus: What comes at once is the whole corpus.
        key: For ids and pseudonyms that stay the same from run to run.
    """

    stage: ClassVar[Stage] = "mask"
    rebuilds: ClassVar[bool] = True
    fitted: Fitted | None = None
    whole_corpus: bool = False
    key: bytes | None = None

    def check(self, engine: Engine) -> None:
        """See that there is a plan or a corpus, and what is put in place of values."""
        if (self.fitted is None) != self.whole_corpus:
            raise UsageError(
                "A part of a corpus does not show what links people across it.",
                hint="Pass `fitted=`, or `whole_corpus=True` and all of it at once.",
            )
        in_force = engine.policy.linkage
        if self.fitted is None:
            check_style(in_force.replace, self.key)
        else:
            in_force = self.fitted.settings
        if in_force.replace == "rewrite" and engine.llm is None:
            raise UsageError(
                "`linkage.replace: rewrite` needs a model.", hint="Pass `llm=`."
            )

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Mask; a passage that could not be read to its end is left out."""
        decisions: tuple[Decision, ...] = ()
        if self.fitted is not None:
            masked = yield from self.fitted.applying(passages)
        else:
            fitted = yield from self.fit(passages, engine)
            masked, decisions = fitted.masked.documents, fitted.decisions
        return Transformed(passages, tuple(masked), decisions)

    def fit(self, passages: Sequence[Passage], engine: Engine) -> Steps[Fitted]:
        """Fit a plan on a whole corpus."""
        linkage = engine.policy.linkage
        return (yield from fit_steps(passages, linkage, engine.detector, key=self.key))

    def update(
        self, passages: Sequence[Passage], removed: Collection[str], engine: Engine
    ) -> Steps[Update]:
        """Follow a change of the corpus that the plan was fitted on."""
        if any(map(is_unnamed, passages)):
            raise UsageError(
                "A document has no id.", hint="Without ids none can be followed."
            )
        if self.fitted is None:
            raise UsageError(
                "Only a masker with a plan can follow a change.",
                hint="Pass `fitted=`: what `fit` returned, or `Fitted.open`.",
            )
        return (yield from self.fitted.updating(passages, removed, engine.detector))

    def cache_key(self, engine: Engine) -> str:  # noqa: ARG002 -- as above
        """Name the plan."""
        return (
            "whole" if self.fitted is None else f"plan-{self.fitted.masked.masker.name}"
        )


class Scan(Task):
    """Drop, strip or flag injections; a scan at retrieval follows."""

    stage: ClassVar[Stage] = "scan"

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Scan, as the policy's section `injection` says."""
        section = engine.policy.injection or InjectionSection()
        has_judge = "injection" in engine.options.judges
        screened = yield from screen(passages, section, classifier=has_judge)
        return Transformed(passages, screened.passages, screened.decisions)


@dataclass(frozen=True, slots=True, repr=False)
class View(Task):
    """
    Redact for an index of one audience, so that its vectors tell no more.

    Args:
        audience: A principal that represents it; without one, every constraint holds.
    """

    stage: ClassVar[Stage] = "view"
    rebuilds: ClassVar[bool] = True
    audience: Principal | None = None

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Redact; a passage that is withheld whole is left out."""
        view = yield from redact_for_audience(
            passages, self.audience, engine.disclosure
        )
        hidden = (*control_keys(engine.policy), DOCUMENT_KEY)
        return Transformed(passages, view.passages, view.decisions, hidden)

    def cache_key(self, engine: Engine) -> str:
        """Name what binds the audience."""
        rules = engine.policy.rules
        return "/".join(rule.id for rule in rules if binds(rule, self.audience))


@dataclass(frozen=True, slots=True, repr=False)
class Summarize(Task):
    """Add summaries, layer over layer; each passage names its layer."""

    stage: ClassVar[Stage] = "summarize"
    settings: HierarchySettings = field(default_factory=HierarchySettings)
    show_progress: bool = False

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Summarize; the passages leave first, then the lowest layer."""
        summaries, decisions = yield from add_summaries(
            passages,
            engine.policy,
            engine.disclosure.state,
            self.settings,
            show_progress=self.show_progress,
        )
        leaves = (
            replace(passage, metadata={LAYER_KEY: 0, **passage.metadata})
            for passage in passages
        )
        return Transformed(passages, (*leaves, *summaries), decisions, (LAYER_KEY,))

    def cache_key(self, engine: Engine) -> str:
        """Name the state, whose key makes ids, and the settings."""
        return f"{engine.disclosure.state.name}/{self.settings}"


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

    async def _enforce(
        self, mode: Mode, steps: Steps[R], search: HostSearch | None = None
    ) -> R:
        """Drive steps out of the tracers' sight, and announce what was decided."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self._engine.policy_hash!r})"

    __str__ = __repr__

    async def _transform(self, mode: Mode, documents: Sequence[D]) -> list[D]:
        return self._write(documents, await self._enforce(mode, self._steps(documents)))

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


class CorpusBinder(Transformer[D]):
    """
    Binding a corpus, and following its policy.

    Policies change while the index exists: a new or reworded constraint is bound with
    one query to the host's store; one that left the policy is not looked up any more.
    """

    _task: Bind

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
            UsageError: Two documents have the same id.
        """
        return run_sync(self._bind(sync, documents))

    async def abind_documents(self, documents: Iterable[D]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        return await self._bind(wait, documents)

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
        return run_sync(self._bind_constraint(sync, constraint_id, retriever))

    async def abind_constraint(self, constraint_id: str, retriever: Any) -> int:
        """Bind one constraint without blocking the event loop."""
        return await self._bind_constraint(wait, constraint_id, retriever)

    def forget_document(self, chunks: Sequence[D]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: All of its chunks, as they were in the index.

        Raises:
            HostError: The state failed.
        """
        run_sync(self._forget(sync, chunks))

    async def aforget_document(self, chunks: Sequence[D]) -> None:
        """Forget a document without blocking the event loop."""
        await self._forget(wait, chunks)

    async def _bind(self, mode: Mode, documents: Iterable[D]) -> Ingested:
        done = Ingested()
        for batch in batched(documents, AT_ONCE):
            done += await self._enforce(mode, self._binding(batch))
        return done

    def _binding(self, documents: Sequence[D]) -> Steps[Ingested]:
        passages = _with_different_ids(self._read(documents))
        return (yield from self._task.bind(passages, self._engine))

    async def _bind_constraint(
        self, mode: Mode, constraint_id: str, retriever: Any
    ) -> int:
        constraint = named(self._engine.policy, constraint_id)
        steps = bind_constraint(constraint, self._engine.disclosure)
        search = self._searching(retriever, constraint.text)
        return await self._enforce(mode, steps, search)

    async def _forget(self, mode: Mode, chunks: Sequence[D]) -> None:
        steps = forget_document(self._read(chunks), self._engine.disclosure)
        await self._enforce(mode, steps)


class CorpusMasker(Transformer[D]):
    """Fitting a plan on a corpus, and following its changes."""

    _task: Mask

    def fit(self, documents: Sequence[D]) -> Fitted:
        """
        Return the plan for a whole corpus, for other maskers to apply.

        Raises:
            UsageError: Two documents have the same id.
        """
        return run_sync(self._enforce(sync, self._fitting(documents)))

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
        return run_sync(self._update(sync, documents, removed))

    async def aupdate(
        self, documents: Sequence[D], removed: Collection[str] = ()
    ) -> tuple[Update, list[D]]:
        """Follow a change without blocking the event loop; as `update`."""
        return await self._update(wait, documents, removed)

    async def _update(
        self, mode: Mode, documents: Sequence[D], removed: Collection[str]
    ) -> tuple[Update, list[D]]:
        update = await self._enforce(mode, self._updating(documents, removed))
        return update, self._write((), Transformed((), update.documents))

    def _fitting(self, documents: Sequence[D]) -> Steps[Fitted]:
        passages = _with_ids(self._read(documents))
        return (yield from self._task.fit(passages, self._engine))

    def _updating(
        self, documents: Sequence[D], removed: Collection[str]
    ) -> Steps[Update]:
        passages = _with_different_ids(self._read(documents))
        return (yield from self._task.update(passages, removed, self._engine))
