"""
Every stage of a graph from one object: what they share is said once.

Stages that read what another one wrote, such as a placeholder or what was withheld,
need the same policy and the same state. Made here they have them, one in memory too.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.response_synthesizers import BaseSynthesizer

from llamaindex_sdrag.answer_guard import AnswerGuard
from llamaindex_sdrag.highlight_and_summarize import HighlightAndSummarize
from llamaindex_sdrag.ingest import (
    ConstraintBinder,
    HierarchySummarizer,
    InjectionScanner,
    LinkageMasker,
    RedactingTransformer,
)
from llamaindex_sdrag.restore import Restore
from llamaindex_sdrag.searching import HostRetriever
from llamaindex_sdrag.selective_disclosure import (
    SelectiveDisclosurePostprocessor,
    SelectiveDisclosureRetriever,
)
from sdrag.highlight.exchange import Highlighter
from sdrag.linkage.fitting import Fitted
from sdrag.vocabulary import Principal
from sdrag.wrapper import StageBuilder


class DisclosureControl(StageBuilder[LLM, BaseEmbedding]):
    """
    Build the stages of a graph, under one policy and one state.

    Example:
        ```python
        control = DisclosureControl("policy.yaml", "sdrag.sqlite", llm)
        index = VectorStoreIndex(control.binder()(nodes))
        retriever = control.retriever(index.as_retriever())
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
        """Bind the constraints to nodes before they are stored."""
        return ConstraintBinder(**self._models, show_progress=show_progress)

    def redactor(self, audience: Principal | None = None) -> RedactingTransformer:
        """Redact nodes for an index of one audience."""
        return RedactingTransformer(**self._models, audience=audience)

    def summarizer(self, **settings: Any) -> HierarchySummarizer:
        """Add summaries before nodes are stored; `settings` as the class's."""
        return HierarchySummarizer(**self._models, **settings)

    def retriever(
        self, base_retriever: HostRetriever, k: int | None = None
    ) -> SelectiveDisclosureRetriever:
        """Wrap a retriever of the host."""
        return SelectiveDisclosureRetriever(base_retriever, **self._models, k=k)

    def postprocessor(self) -> SelectiveDisclosurePostprocessor:
        """Redact what the host has retrieved."""
        return SelectiveDisclosurePostprocessor(**self._models)

    def highlighter(
        self, highlighter: Highlighter | str | None = None, *, streaming: bool = False
    ) -> HighlightAndSummarize:
        """Answer from verified highlights, blind to the question."""
        return HighlightAndSummarize(
            **self._common, llm=self.llm, highlighter=highlighter, streaming=streaming
        )

    def guard(self, synthesizer: BaseSynthesizer) -> AnswerGuard:
        """Check a synthesizer's answers against what was released."""
        return AnswerGuard(synthesizer, **self._common, llm=self.llm)

    def restore(self, synthesizer: BaseSynthesizer) -> Restore:
        """Give whom the policy exempts the values back in a synthesizer's answers."""
        return Restore(synthesizer, **self._common)
