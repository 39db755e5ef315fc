"""
Which surface forms are one entity: one rule a file, put together by `resolve`.

The thesis names normalization across forms as its weak spot (section 6.2). Each rule
here is deterministic, works within one type, says its name in the report, and can be
switched off in the policy.
"""

from __future__ import annotations

from sdrag.linkage.resolution.resolve import Resolved, Vectors, resolve

__all__ = ["Resolved", "Vectors", "resolve"]
