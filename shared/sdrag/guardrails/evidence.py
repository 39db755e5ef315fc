"""
Evidence: what a released passage says of itself, under one key of its metadata.

The metadata by which guards decide (dates, topics, ranks) leaves only where the policy
allows it. What follows from it leaves under one key as codes, ids and dates. The guard
after the answer reads it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sdrag.vocabulary import EVIDENCE_KEY, Passage

RELEASE_STAMP = "mark"
"""Of the evidence: the keyed hash that shows that a text is as it was released."""


def evidence(passage: Passage) -> Mapping[str, Any]:
    """Return the evidence on a passage."""
    facts = passage.metadata.get(EVIDENCE_KEY)
    return facts if isinstance(facts, Mapping) else {}


def add_evidence(passage: Passage, facts: Mapping[str, Any]) -> Passage:
    """Return a passage with more evidence on it."""
    if not facts:
        return passage
    merged = {**evidence(passage), **facts}
    return replace(passage, metadata={**passage.metadata, EVIDENCE_KEY: merged})


def export_evidence(passage: Passage, key: str | None) -> Passage:
    """Return a passage with its evidence under the policy's key, or without it."""
    if key == EVIDENCE_KEY or EVIDENCE_KEY not in passage.metadata:
        return passage
    metadata = dict(passage.metadata)
    facts = metadata.pop(EVIDENCE_KEY)
    return replace(passage, metadata=metadata | ({key: facts} if key else {}))


def import_evidence(passage: Passage, key: str | None) -> Passage:
    """Return a passage that comes back with its evidence under the package's key."""
    if key in {None, EVIDENCE_KEY} or key not in passage.metadata:
        return passage
    facts = passage.metadata[key]
    return replace(passage, metadata={**passage.metadata, EVIDENCE_KEY: facts})
