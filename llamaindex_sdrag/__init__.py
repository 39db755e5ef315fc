"""
Disclosure control for LlamaIndex.

Wrap the retriever of a query engine in `SelectiveDisclosureRetriever`. The names are
the same in `langchain_sdrag`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sdrag.errors import require_extra

if TYPE_CHECKING:
    from llamaindex_sdrag.answer_guard import AnswerGuard
    from llamaindex_sdrag.constraint_binder import ConstraintBinder
    from llamaindex_sdrag.guarded_tool import guard_tool
    from llamaindex_sdrag.hierarchy_summarizer import HierarchySummarizer
    from llamaindex_sdrag.highlight_and_summarize import HighlightAndSummarize
    from llamaindex_sdrag.injection_scanner import InjectionScanner
    from llamaindex_sdrag.linkage_masker import LinkageMasker
    from llamaindex_sdrag.redacting_transformer import RedactingTransformer
    from llamaindex_sdrag.searching import FilteredRetriever
    from llamaindex_sdrag.selective_disclosure_postprocessor import (
        SelectiveDisclosurePostprocessor,
    )
    from llamaindex_sdrag.selective_disclosure_retriever import (
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
    "FilteredRetriever",
    "HierarchySummarizer",
    "HighlightAndSummarize",
    "InjectionScanner",
    "LinkageMasker",
    "RedactingTransformer",
    "SelectiveDisclosurePostprocessor",
    "SelectiveDisclosureRetriever",
    "SourceSeparator",
    "guard_tool",
    "separated_prompt",
    "separated_sources",
]

_HOMES = {
    "AnswerGuard": "answer_guard",
    "ConstraintBinder": "constraint_binder",
    "FilteredRetriever": "searching",
    "HierarchySummarizer": "hierarchy_summarizer",
    "HighlightAndSummarize": "highlight_and_summarize",
    "InjectionScanner": "injection_scanner",
    "LinkageMasker": "linkage_masker",
    "RedactingTransformer": "redacting_transformer",
    "SelectiveDisclosurePostprocessor": "selective_disclosure_postprocessor",
    "SelectiveDisclosureRetriever": "selective_disclosure_retriever",
    "SourceSeparator": "source_separation",
    "guard_tool": "guarded_tool",
    "separated_prompt": "source_separation",
    "separated_sources": "source_separation",
}

with require_extra("llamaindex", "llamaindex_sdrag"):
    if find_spec("llama_index") is None:
        raise ImportError


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'llamaindex_sdrag' has no attribute {name!r}")
    return getattr(import_module(f"llamaindex_sdrag.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
