"""
CLAM: find what links people across documents, and mask as little as breaks the links.

After "Improving and Benchmarking Privacy in RAG" (Zhou, TU München, 2025). Runs once
over a corpus, before it is indexed; retrieval does not change. In reading order:
`mentions`, `resolve`, `incidence`, `graph`, `plan`, `replacing`, `masking`, `fitting`.
"""

from __future__ import annotations

from sdrag.linkage.assessment import Assessment, assess
from sdrag.linkage.fitting import Fitted, fit
from sdrag.linkage.masking import Masked
from sdrag.linkage.mentions import Occurrence

__all__ = ["Assessment", "Fitted", "Masked", "Occurrence", "assess", "fit"]
