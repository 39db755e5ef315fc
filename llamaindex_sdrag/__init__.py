"""
Disclosure control for LlamaIndex.

Wrap the retriever of a query engine in `SelectiveDisclosureRetriever`. The names are
the same in `langchain_sdrag`.
"""

from __future__ import annotations

from sdrag.errors import require_extra

with require_extra("llamaindex", "llamaindex_sdrag"):
    from llamaindex_sdrag.answer_guard import AnswerGuard
    from llamaindex_sdrag.disclosure_control import DisclosureControl
    from llamaindex_sdrag.guarded_tool import guard_tool
    from llamaindex_sdrag.highlight_and_summarize import HighlightAndSummarize
    from llamaindex_sdrag.ingest import (
        ConstraintBinder,
        HierarchySummarizer,
        InjectionScanner,
        LinkageMasker,
        RedactingTransformer,
    )
    from llamaindex_sdrag.restore import Restore
    from llamaindex_sdrag.searching import FilteredRetriever
    from llamaindex_sdrag.selective_disclosure import (
        SelectiveDisclosurePostprocessor,
        SelectiveDisclosureRetriever,
    )
    from llamaindex_sdrag.source_separation import (
        SourceSeparator,
        separated_prompt,
        separated_sources,
    )

__all__ = [
    "AnswerGuard",
    "ConstraintBinder",
    "DisclosureControl",
    "FilteredRetriever",
    "HierarchySummarizer",
    "HighlightAndSummarize",
    "InjectionScanner",
    "LinkageMasker",
    "RedactingTransformer",
    "Restore",
    "SelectiveDisclosurePostprocessor",
    "SelectiveDisclosureRetriever",
    "SourceSeparator",
    "guard_tool",
    "separated_prompt",
    "separated_sources",
]
