"""
Disclosure control for LangChain.

Wrap the retriever of a chain in `SelectiveDisclosureRetriever`. The names are
the same in `llamaindex_sdrag`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sdrag.errors import require_extra

if TYPE_CHECKING:
    from langchain_sdrag.answer_guard import AnswerGuard
    from langchain_sdrag.constraint_binder import ConstraintBinder
    from langchain_sdrag.hierarchy_summarizer import HierarchySummarizer
    from langchain_sdrag.highlight_and_summarize import HighlightAndSummarize
    from langchain_sdrag.injection_scanner import InjectionScanner
    from langchain_sdrag.linkage_masker import LinkageMasker
    from langchain_sdrag.redacting_transformer import RedactingTransformer
    from langchain_sdrag.searching import FilteredRetriever
    from langchain_sdrag.selective_disclosure_compressor import (
        SelectiveDisclosureCompressor,
    )
    from langchain_sdrag.selective_disclosure_middleware import (
        SelectiveDisclosureMiddleware,
    )
    from langchain_sdrag.selective_disclosure_retriever import (
        SelectiveDisclosureRetriever,
    )
    from langchain_sdrag.source_separation import separated_prompt, separated_sources

__all__ = [
    "AnswerGuard",
    "ConstraintBinder",
    "FilteredRetriever",
    "HierarchySummarizer",
    "HighlightAndSummarize",
    "InjectionScanner",
    "LinkageMasker",
    "RedactingTransformer",
    "SelectiveDisclosureCompressor",
    "SelectiveDisclosureMiddleware",
    "SelectiveDisclosureRetriever",
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
    "SelectiveDisclosureCompressor": "selective_disclosure_compressor",
    "SelectiveDisclosureMiddleware": "selective_disclosure_middleware",
    "SelectiveDisclosureRetriever": "selective_disclosure_retriever",
    "separated_prompt": "source_separation",
    "separated_sources": "source_separation",
}

with require_extra("langchain", "langchain_sdrag"):
    if find_spec("langchain_core") is None:
        raise ImportError


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'langchain_sdrag' has no attribute {name!r}")
    return getattr(import_module(f"langchain_sdrag.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
