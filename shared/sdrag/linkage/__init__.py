"""
CLAM: find what links people across documents, and mask as little as breaks the links.

After "Improving and Benchmarking Privacy in RAG" (Zhou, TU München, 2025). Runs once
over a corpus, before it is indexed; retrieval does not change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdrag.linkage.assessment import Assessment, assess
    from sdrag.linkage.masking import Masked, mask_corpus
    from sdrag.linkage.mentions import Found
    from sdrag.linkage.originals import Originals

__all__ = ["Assessment", "Found", "Masked", "Originals", "assess", "mask_corpus"]

_HOMES = {
    "Assessment": "sdrag.linkage.assessment",
    "Found": "sdrag.linkage.mentions",
    "Masked": "sdrag.linkage.masking",
    "Originals": "sdrag.linkage.originals",
    "assess": "sdrag.linkage.assessment",
    "mask_corpus": "sdrag.linkage.masking",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sdrag.linkage' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
