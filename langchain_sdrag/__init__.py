"""
Disclosure control for LangChain.

Wrap the retriever of a chain in `SelectiveDisclosureRetriever`. The names are
the same in `llamaindex_sdrag`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdrag.errors import require_extra

with require_extra("langchain", "langchain_sdrag"):
    from langchain_sdrag.answer_guard import AnswerGuard
    from langchain_sdrag.disclosure_control import DisclosureControl
    from langchain_sdrag.highlight_and_summarize import HighlightAndSummarize
    from langchain_sdrag.ingest import (
        ConstraintBinder,
        HierarchySummarizer,
        InjectionScanner,
        LinkageMasker,
        RedactingTransformer,
    )
    from langchain_sdrag.restore import Restore
    from langchain_sdrag.searching import FilteredRetriever
    from langchain_sdrag.selective_disclosure import (
        SelectiveDisclosureCompressor,
        SelectiveDisclosureRetriever,
    )
    from langchain_sdrag.source_separation import separated_prompt, separated_sources

if TYPE_CHECKING:
    from langchain_sdrag.agent_middleware import SelectiveDisclosureMiddleware

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
    "SelectiveDisclosureCompressor",
    "SelectiveDisclosureMiddleware",
    "SelectiveDisclosureRetriever",
    "separated_prompt",
    "separated_sources",
]


def __getattr__(name: str) -> Any:
    """Import the middleware when it is asked for: it needs LangGraph."""
    if name != "SelectiveDisclosureMiddleware":
        raise AttributeError(f"module 'langchain_sdrag' has no attribute {name!r}")
    from langchain_sdrag import agent_middleware  # noqa: PLC0415

    return agent_middleware.SelectiveDisclosureMiddleware
