"""What a guard at retrieval knows, and what a guard of passages returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sdrag.effects.limits import Limits
from sdrag.vocabulary import Confidential, Decision, Passage


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
