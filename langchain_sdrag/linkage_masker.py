"""
Ingest: mask what links people across the corpus, before it is split and indexed.

What links people is seen only in the whole corpus. So a masker either holds a plan
that was fitted on it, and applies that to whatever it is given; or the host says that
what it is given is the whole. A shard is never taken for the corpus silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.models import Model
from langchain_sdrag.wrapping import LANGCHAIN, IngestWrapper
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.linkage.extractor import Extractor
from sdrag.linkage.fitting import Fitted, Update, check_masker, fit_steps, plan_of
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.vocabulary import Passage, is_unnamed

__all__ = ["LinkageMasker"]


class LinkageMasker(IngestWrapper[Sequence[Passage]]):
    """
    Mask documents before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        store.add_documents(splitter.split_documents(masker.transform_documents(docs)))
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        fitted: A plan that `fit` made of the whole corpus. It is applied as it is: what
            `linkage` says in the policy is what it was fitted with.
        whole_corpus: What is given in one call is the whole corpus: fit on it. A worker
            of Ray is given batches, and refuses.
        detector: Finds entities; the local one by default.
        llm: For rewriting and for `ModelExtractor`.
        embeddings: Compares forms by meaning; MiniLM by default.
        key: For ids and pseudonyms that stay the same from run to run.
        options: A detector, sinks of audit events, and limits.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both; or what is to
            be put in place of values needs a key or a model that is missing.
    """

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        detector: Detector | Extractor | None = None,
        key: bytes | None = None,
    ) -> None:
        options = options or Options()
        if detector is not None:  # caches go by its name
            options = replace(options, detector=cast("Any", detector))
        engine = Engine(
            policy,
            llm,
            embeddings,
            options=options,
            stage="mask",
            framework=LANGCHAIN,
        )
        check_masker(
            fitted,
            engine.policy.linkage,
            key,
            whole_corpus=whole_corpus,
            has_model=llm is not None,
        )
        super().__init__(engine)
        self._fitted, self._key = fitted, key
        self._detector: Any = options.detector or LocalDetector()

    def fit(self, documents: Sequence[Document]) -> Fitted:
        """Return the plan for a whole corpus, for other maskers to apply."""
        return self._engine.run(self._fitting(documents))[0]

    def update(
        self, documents: Sequence[Document], removed: Collection[str] = ()
    ) -> tuple[Update, list[Document]]:
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
            UsageError: The masker has no plan, or a document no id.
        """
        update, _ = self._engine.run(self._updating(documents, removed))
        return update, documents_of(update.documents)

    async def aupdate(
        self, documents: Sequence[Document], removed: Collection[str] = ()
    ) -> tuple[Update, list[Document]]:
        """Follow a change without blocking the event loop; as `update`."""
        update, _ = await self._engine.arun(self._updating(documents, removed))
        return update, documents_of(update.documents)

    def _updating(
        self, documents: Sequence[Document], removed: Collection[str]
    ) -> Steps[Update]:
        passages = passages_of(documents)
        if any(map(is_unnamed, passages)):
            raise UsageError(
                "A document has no id.", hint="Without ids none can be followed."
            )
        plan = plan_of(self._fitted)
        return (yield from plan.updating(passages, removed, self._detector))

    def _steps(self, documents: Sequence[Document]) -> Steps[Sequence[Passage]]:
        if self._fitted is not None:
            return (yield from self._fitted.applying(passages_of(documents)))
        fitted = yield from self._fitting(documents)
        return fitted.masked.documents

    def _fitting(self, documents: Sequence[Document]) -> Steps[Fitted]:
        passages = passages_of(documents)
        times = Counter(passage.id for passage in passages)
        unique = [
            passage
            if times[passage.id] == 1
            else replace(passage, id=f"{passage.id}-{index}")
            for index, passage in enumerate(passages)
        ]
        linkage = self._engine.policy.linkage
        return (yield from fit_steps(unique, linkage, self._detector, key=self._key))

    def _documents(
        self, documents: Sequence[Document], found: Sequence[Passage]
    ) -> list[Document]:
        """Return new documents; those that could not be read whole are left out."""
        return documents_of(found)
