"""
What guards say of a released passage, to whoever handles it next.

The metadata that guards decide by (dates, topics, ranks) leaves only where the policy
allows it. What follows from it leaves under one key: codes, ids and dates, no content.
The guard after the answer reads it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sdrag.vocabulary import EVIDENCE_KEY, Passage

__all__ = ["evidence", "stamped"]


def evidence(passage: Passage) -> Mapping[str, Any]:
    """Return what was said of a passage."""
    held = passage.metadata.get(EVIDENCE_KEY)
    return held if isinstance(held, Mapping) else {}


def stamped(passage: Passage, facts: Mapping[str, Any]) -> Passage:
    """Say something of a passage, beside what was said before."""
    if not facts:
        return passage
    said = {**evidence(passage), **facts}
    return replace(passage, metadata={**passage.metadata, EVIDENCE_KEY: said})
