"""What a guard that stands between the store and the prompt hands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdrag.vocabulary import Confidential, Decision, Passage

__all__ = ["Screened", "dropped"]


@dataclass(frozen=True, slots=True, repr=False)
class Screened(Confidential):
    """
    The passages a guard lets through, and what it decided on the others.

    Args:
        passages: In the order in which they are to be used.
        decisions: Without content; at most a few for each passage, and one with the
            subject `query` where the guard decided on the request as a whole.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...] = ()

    def __repr__(self) -> str:
        return f"Screened({len(self.passages)} passages, {len(self.decisions)})"


def dropped(passages: Iterable[Passage], rule: str, reason: str) -> Screened:
    """Drop every passage for one reason: what a guard does when it cannot judge."""
    return Screened(
        (), tuple(Decision(one.id, "dropped", rule, reason) for one in passages)
    )
