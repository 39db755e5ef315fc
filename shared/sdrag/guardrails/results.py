"""
What a guard of passages knows and returns, and what a passage says of itself.

The metadata by which guards decide (dates, topics, ranks) leaves only where the policy
allows it. What follows from it leaves as evidence, under one key: codes, ids and dates.
The guard after the answer reads it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sdrag.effects.limits import Limits
from sdrag.vocabulary import EVIDENCE_KEY, Confidential, Decision, Passage


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Confidential):
    """
    What a guard at retrieval knows of the request.

    Such a guard is a function `at_retrieval(passages, section, retrieval)` whose steps
    return a `Screened`.

    Args:
        now: With its time zone.
        has_judge: Whether a model was passed that judges injections.
        metadata_keys: The keys of metadata that may leave.
        limits: The bounds of the texts that are read.
    """

    query: str
    now: datetime
    has_judge: bool = False
    metadata_keys: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, repr=False)
class Screened(Confidential):
    """
    The passages a guard lets through, and what it decided on the others.

    Args:
        decisions: Without content; at most a few for each passage, and one with the
            subject `query` where the guard decided on the request as a whole.
        notices: What is said to the host's chain after the passages.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...] = ()
    notices: tuple[Passage, ...] = ()

    def then(self, later: Screened) -> Screened:
        """Return what a later guard let through, with the decisions of both."""
        return Screened(
            later.passages,
            (*self.decisions, *later.decisions),
            (*self.notices, *later.notices),
        )


def drop_by_reason(
    passages: Sequence[Passage], reasons: Iterable[str], rule: str
) -> Screened:
    """Keep the passages without a reason, and drop the others for theirs."""
    pairs = list(zip(passages, reasons, strict=True))
    return Screened(
        tuple(passage for passage, reason in pairs if not reason),
        tuple(
            Decision(passage.id, "dropped", rule, reason)
            for passage, reason in pairs
            if reason
        ),
    )


def drop_all(passages: Sequence[Passage], rule: str, reason: str) -> Screened:
    """Drop every passage for one reason: what a guard does when it cannot judge."""
    return drop_by_reason(passages, [reason] * len(passages), rule)


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
