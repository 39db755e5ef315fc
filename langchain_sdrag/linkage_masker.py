"""
Ingest: mask what links people across the corpus, before it is split and indexed.

What links people is seen only in the whole corpus. So a masker either holds a plan
that was fitted on it, and applies that to whatever it is given; or it is told that what
it is given is the whole. A shard is never taken for the corpus silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model, completing, embedding
from langchain_sdrag.tracing import cover
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.linkage.fitting import Fitted, check_whole, fit_steps
from sdrag.linkage.model_extractor import Extractor
from sdrag.policy import Policy, PolicySource
from sdrag.wrapper_setup import Audit, GuardRunner

__all__ = ["LinkageMasker"]


class LinkageMasker(BaseDocumentTransformer):
    """
    Mask documents before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        store.add_documents(splitter.split_documents(masker.transform_documents(docs)))
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        fitted: A plan that `fit` made of the whole corpus.
        whole_corpus: What is given in one call is the whole corpus: fit on it.
        detector: Finds entities; the local one by default.
        llm: For rewriting and for `ModelExtractor`.
        embeddings: Compares forms by meaning; MiniLM by default.
        key: For ids and pseudonyms that stay the same from run to run.
        audit: Takes the audit events.
        limits: The bounds of model calls.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        detector: Detector | Extractor | None = None,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        key: bytes | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        check_whole(fitted, whole_corpus=whole_corpus)
        self._policy = Policy.read(policy)
        self._fitted, self._key = fitted, key
        self._detector = detector or LocalDetector()
        ports = Ports(complete=completing(llm), embed=embedding(embeddings))
        self._hook = GuardRunner.build(
            "mask", self._policy, ports, audit=audit, limits=limits or Limits()
        )

    def fit(self, documents: Sequence[Document]) -> Fitted:
        """Return the plan for a whole corpus, for other maskers to apply."""
        return self._hook.perform(self._steps(documents), cover(self._policy, None))[0]

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Mask the documents.

        Returns:
            New documents; those that could not be read to the end are left out.
        """
        if self._fitted is None:
            return documents_of(self.fit(documents).masked.documents)
        steps = self._fitted.applying(passages_of(documents))
        return documents_of(self._hook.perform(steps, cover(self._policy, None))[0])

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Mask the documents without blocking the event loop."""
        hidden = cover(self._policy, None)
        if self._fitted is None:
            fitted, _ = await self._hook.aperform(self._steps(documents), hidden)
            return documents_of(fitted.masked.documents)
        steps = self._fitted.applying(passages_of(documents))
        return documents_of((await self._hook.aperform(steps, hidden))[0])

    def _steps(self, documents: Sequence[Document]) -> Steps[Fitted]:
        passages = passages_of(documents)
        seen: dict[str, int] = {}
        for passage in passages:
            seen[passage.id] = seen.get(passage.id, 0) + 1
        told = [
            passage
            if seen[passage.id] == 1
            else replace(passage, id=f"{passage.id}-{n}")
            for n, passage in enumerate(passages)
        ]
        return fit_steps(told, self._policy.linkage, self._detector, key=self._key)

    def __repr__(self) -> str:
        return f"LinkageMasker(policy_hash={self._hook.policy_hash!r})"
