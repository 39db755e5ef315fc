"""
Every stage of a graph from one object: what they share is said once.

Stages that read what another one wrote, such as a placeholder or what was withheld,
need the same policy and the same state. Made here they have them, one in memory too.
"""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings

from langchain_sdrag.answer_guard import AnswerGuard
from langchain_sdrag.highlight_and_summarize import HighlightAndSummarize
from langchain_sdrag.ingest import (
    ConstraintBinder,
    HierarchySummarizer,
    InjectionScanner,
    LinkageMasker,
    RedactingTransformer,
)
from langchain_sdrag.models import Model
from langchain_sdrag.restore import Restore
from langchain_sdrag.searching import HostRetriever
from langchain_sdrag.selective_disclosure import (
    SelectiveDisclosureCompressor,
    SelectiveDisclosureRetriever,
)
from sdrag.highlight.exchange import Highlighter
from sdrag.linkage.fitting import Fitted
from sdrag.vocabulary import Principal
from sdrag.wrapper import StageBuilder


class DisclosureControl(StageBuilder[Model, Embeddings]):
    """
    Build the stages of a graph, under one policy and one state.

    Example:
        ```python
        control = DisclosureControl("policy.yaml", "sdrag.sqlite", llm)
        store.add_documents(control.binder().transform_documents(chunks))
        retriever = control.retriever(store.as_retriever())
        ```
    """

    def masker(
        self, fitted: Fitted | None = None, *, key: bytes | None = None
    ) -> LinkageMasker:
        """Mask what links people: by a plan, else by what comes, a whole corpus."""
        return LinkageMasker(
            **self._models, fitted=fitted, whole_corpus=fitted is None, key=key
        )

    def scanner(self) -> InjectionScanner:
        """Drop, strip or flag what injects prompts."""
        return InjectionScanner(self.policy, self.options)

    def binder(self, *, show_progress: bool = False) -> ConstraintBinder:
        """Bind the constraints to documents before they are stored."""
        return ConstraintBinder(**self._models, show_progress=show_progress)

    def redactor(self, audience: Principal | None = None) -> RedactingTransformer:
        """Redact documents for an index of one audience."""
        return RedactingTransformer(**self._models, audience=audience)

    def summarizer(self, **settings: Any) -> HierarchySummarizer:
        """Add summaries before documents are stored; `settings` as the class's."""
        return HierarchySummarizer(**self._models, **settings)

    def retriever(
        self, base_retriever: HostRetriever, k: int | None = None
    ) -> SelectiveDisclosureRetriever:
        """Wrap a retriever of the host."""
        return SelectiveDisclosureRetriever(base_retriever, **self._models, k=k)

    def compressor(self) -> SelectiveDisclosureCompressor:
        """Redact what the host has retrieved."""
        return SelectiveDisclosureCompressor(**self._models)

    def highlighter(
        self,
        highlighter: Highlighter | str | None = None,
        *,
        return_sources: bool = False,
    ) -> HighlightAndSummarize:
        """Answer from verified highlights, blind to the question."""
        return HighlightAndSummarize(
            **self._common,
            llm=self.llm,
            highlighter=highlighter,
            return_sources=return_sources,
        )

    def guard(self, *, return_report: bool = False) -> AnswerGuard:
        """Check answers against what was released."""
        return AnswerGuard(**self._common, llm=self.llm, return_report=return_report)

    def restore(self) -> Restore:
        """Give whom the policy exempts the values back."""
        return Restore(**self._common)
