"""
Ingest: what is done with documents before they are stored.

Their constraints are bound, injections are dropped, they are redacted for one audience,
or summarized; what links people is masked in `sdrag.masking`. `bind_corpus` binds a
corpus in a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Generic

from sdrag.disclosure import Ingested, forget_document
from sdrag.disclosure.hierarchy import HierarchySettings, add_summaries
from sdrag.disclosure.redacted_index import (
    DOCUMENT_KEY,
    control_keys,
    redact_for_audience,
)
from sdrag.disclosure.texts import LAYER_KEY
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.progress import batched, progress_bar
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import HostError, UsageError, check_listed
from sdrag.guardrails.contradictions.corpus import CorpusContradictions
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.screen import screen
from sdrag.knowledge_base import scan_contradictions
from sdrag.options import Options
from sdrag.parallel import Pool
from sdrag.pipeline import bind
from sdrag.policy import Policy, PolicySource, binds
from sdrag.state import StateSource, open_state
from sdrag.transformer import Document, Passages, Transformed, Transformer
from sdrag.vocabulary import Passage, Principal, is_unnamed
from sdrag.wrapper import Embeddings, Model

AT_ONCE = 1000
_FOR_WORKER = 50
"""So many documents are read and bound together."""


class ConstraintBinder(Transformer[Document], Generic[Document, Model, Embeddings]):
    """
    Binds constraints to documents; they leave as they came.

    Policies change while the index exists: a new or reworded constraint is bound when
    the corpus is bound again, and one that left the policy is not looked up any more.
    """

    _stage = "bind"
    _show_progress: bool

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
        show_progress: bool = False,
    ) -> None:
        """
        Set up a binder.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            state: Where it is kept, or its path; the retriever is given the same. In a
                worker of Ray it may not be left in memory.
            llm: Finds what the constraints mean, together with the local engine; then
                no model is asked when the chunks are retrieved.
            embeddings: The model that the retriever is given; MiniLM by default.
            options: Those of the retriever: its detector, above all.
            show_progress: Shows a bar.

        Raises:
            PolicyError: The policy cannot be read.
        """
        given = (policy, llm, embeddings, state, options)
        self._set_up(*given, show_progress=show_progress)

    def bind_documents(self, documents: Iterable[Document]) -> Ingested:
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

    async def abind_documents(self, documents: Iterable[Document]) -> Ingested:
        """Bind the constraints to an index without blocking the event loop."""
        return await self._bind(call_async, documents)

    def forget_document(self, chunks: Sequence[Document]) -> None:
        """
        Forget a document that left the index, with all that was located in it.

        Args:
            chunks: All of its chunks, as they were in the index.

        Raises:
            HostError: The state failed.
        """
        run_sync(self._forget(call_sync, chunks))

    async def aforget_document(self, chunks: Sequence[Document]) -> None:
        """Forget a document without blocking the event loop."""
        await self._forget(call_async, chunks)

    async def _bind(self, do: Caller, documents: Iterable[Document]) -> Ingested:
        check_listed(documents, "documents")
        done = Ingested()
        for batch in batched(documents, AT_ONCE):
            done += await self._enforce(do, self._read_and(self._locate, batch))
        return done

    async def _forget(self, do: Caller, chunks: Sequence[Document]) -> None:
        steps = forget_document(self._read(chunks), self._engine.disclosure)
        await self._enforce(do, steps)

    def _steps(self, passages: Passages) -> Steps[Transformed]:
        yield from self._locate(passages)
        return Transformed(passages, passages)

    def _locate(self, passages: Passages) -> Steps[Ingested]:
        """Bind, locate what is withheld, and return how many there were."""
        with progress_bar("Binding", shown=self._show_progress) as progress:
            done = yield from bind(passages, self._engine, progress)
        self._engine.warn_of_corpus(passages)
        return done

    def _cache_key(self) -> str:
        return self._engine.disclosure.state.name


class InjectionScanner(Transformer[Document]):
    """Drops, strips or flags injections; a scan at retrieval follows."""

    _stage = "scan"

    def __init__(self, policy: PolicySource, options: Options | None = None) -> None:
        """
        Set up a scanner.

        Args:
            policy: Its section `injection` says what becomes of a passage.
            options: A judge under `injection`, sinks of audit events, and limits.

        Raises:
            PolicyError: The policy cannot be read.
        """
        self._set_up(policy, None, None, None, options)

    def find_contradictions(
        self, documents: Iterable[Document]
    ) -> CorpusContradictions:
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

    def _steps(self, passages: Passages) -> Steps[Transformed]:
        section = self._engine.policy.injection or InjectionSection()
        has_judge = "injection" in self._engine.options.judges
        screened = yield from screen(passages, section, classifier=has_judge)
        return Transformed(passages, screened.passages, screened.decisions)


class RedactingTransformer(Transformer[Document], Generic[Document, Model, Embeddings]):
    """Redacts documents for an index of one audience, so that vectors tell no more."""

    _stage = "view"
    _rebuilds = True
    _audience: Principal | None

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        audience: Principal | None = None,
    ) -> None:
        """
        Set up a redactor.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            llm: Finds what the constraints mean; without one, the local engine does.
            embeddings: Compares constraints with passages; MiniLM by default.
            state: What a `ConstraintBinder` wrote, or its path; in memory by default.
                What nobody has located is located when it is retrieved. A worker of Ray
                is given batches, so it needs the state of a binding that is complete.
            options: A detector, sinks of audit events, and limits.
            audience: A principal that represents it; without one, every constraint
                holds.

        Raises:
            PolicyError: The policy cannot be read.
        """
        self._set_up(policy, llm, embeddings, state, options, audience=audience)

    def _steps(self, passages: Passages) -> Steps[Transformed]:
        """Redact; a passage that is withheld whole is left out."""
        setup = self._engine.disclosure
        view = yield from redact_for_audience(passages, self._audience, setup)
        hidden = (*control_keys(self._engine.policy), DOCUMENT_KEY)
        return Transformed(passages, view.passages, view.decisions, hidden)

    def _cache_key(self) -> str:
        rules = self._engine.policy.rules
        return "/".join(rule.id for rule in rules if binds(rule, self._audience))


class HierarchySummarizer(Transformer[Document], Generic[Document, Model, Embeddings]):
    """Adds summaries to documents, layer over layer; each document names its layer."""

    _stage = "summarize"
    _settings: HierarchySettings
    _show_progress: bool

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: Model,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
        settings: HierarchySettings | None = None,
        show_progress: bool = False,
    ) -> None:
        """
        Set up a summarizer.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            state: What a `ConstraintBinder` wrote, or its path; in memory by default.
                What nobody has located is located when it is retrieved.
            llm: Writes the summaries; it is given unredacted text.
            embeddings: Finds what belongs together, and binds; MiniLM by default.
            options: Sinks of audit events, and limits.
            settings: The depth of the tree, and how it is clustered.
            show_progress: Shows a bar.

        Raises:
            PolicyError: The policy cannot be read.
            UsageError: A setting makes no tree.
        """
        given = (policy, llm, embeddings, state, options)
        tree = settings or HierarchySettings()
        self._set_up(*given, settings=tree, show_progress=show_progress)

    def _steps(self, passages: Passages) -> Steps[Transformed]:
        """Summarize; the passages leave first, then the lowest layer."""
        engine = self._engine
        summaries, decisions = yield from add_summaries(
            passages,
            engine.policy,
            engine.disclosure.state,
            self._settings,
            show_progress=self._show_progress,
        )
        leaves = (
            replace(passage, metadata={LAYER_KEY: 0, **passage.metadata})
            for passage in passages
        )
        return Transformed(passages, (*leaves, *summaries), decisions, (LAYER_KEY,))

    def _cache_key(self) -> str:
        return f"{self._engine.disclosure.state.name}/{self._settings}"


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
    for bound in pool.map(_make_binder, common, _batch_documents(passages)):
        done += bound
        if progress is not None:
            progress(done.passages)
    return done


def _batch_documents(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """Yield passages by whole documents, few enough that all workers have some."""
    batch: list[Passage] = []
    for _, document in groupby(passages, key=lambda passage: passage.document_id):
        for some in batched(document, AT_ONCE):  # one of no known document, or vast
            batch += some
            if len(batch) >= _FOR_WORKER:
                yield batch
                batch = []
    if batch:
        yield batch


def _make_binder(
    policy: Policy, state: StateSource, key: str | Path | None, name: str
) -> Callable[[Sequence[Passage]], Ingested]:
    """Make what binds a batch, in a worker; it has to open the state of that name."""
    opened = open_state(state, key=key)
    if opened.name != name:
        raise HostError("A worker has opened another state.")
    engine = Engine(policy, state=opened, stage="bind")
    return lambda batch: engine.run(bind(batch, engine))[0]
