"""
Over-fetching: ask the store for more until enough of it may be seen.

A store that cannot filter returns what others may see. "Over-retrieve to compensate
for filtering" (section 3.5): what is wanted, then twice that, and so on until enough is
kept, the store has no more, or the budget ends. A passage is checked once, however
often it is returned. Nothing that passed the check is cut off here: guards that follow
drop passages and rank them, and what is wanted is cut from what they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sdrag.effects.steps import Steps, search
from sdrag.guardrails.screened import Screened
from sdrag.vocabulary import Decision, Passage

__all__ = ["Fetched", "fetch"]

Check = Callable[[Sequence[Passage]], Steps[Screened]]
_SPENT = Decision("query", "withheld", "access", "budget-spent")


@dataclass(frozen=True, slots=True, repr=False)
class Fetched(Screened):
    """
    All that was found and passed the check, in the store's order.

    Args:
        wanted: How many of them are wanted in the end; None for all.
    """

    wanted: int | None = None


def fetch(
    query: str,
    *,
    wanted: int | None,
    budget: int,
    check: Check,
    filters: object = None,
    candidates: int = 1,
) -> Steps[Fetched]:
    """
    Search until enough passages pass the check, or nothing more can be had.

    Args:
        query: The question.
        wanted: How many allowed passages are wanted; as many as the host's retriever
            returns of its own accord, if None.
        budget: The most passages asked of the store in one search, or `wanted`.
        check: Access control, on passages not yet checked.
        filters: What the store is asked to hold to.
        candidates: How many times as many are enough, since they will be ranked anew.

    Returns:
        What may be seen. Where the budget ended before that was what is wanted, a
        decision says so, since the store may hold more.

    Raises:
        SdragError: The retriever failed; nothing is returned on a doubt.
    """
    seen: set[tuple[str, str]] = set()
    kept: list[Passage] = []
    decisions: list[Decision] = []
    limit = enough = None if wanted is None else wanted * candidates
    while True:
        found = yield from search(query, filters=filters, limit=limit)
        fresh = _unseen(found, seen)
        checked = yield from check(fresh)
        kept += checked.passages
        decisions += checked.decisions
        asked = limit or len(found)
        wanted, enough = wanted or len(found), enough or len(found)
        no_more = not fresh or len(found) < asked
        if len(kept) >= enough or no_more or asked >= budget:
            if len(kept) < wanted and not no_more:
                decisions.append(_SPENT)
            return Fetched(tuple(kept), tuple(decisions), wanted=wanted)
        limit = min(budget, asked * 2)


def _unseen(found: Sequence[Passage], seen: set[tuple[str, str]]) -> list[Passage]:
    fresh = []
    for passage in found:
        key = passage.id, passage.text
        if key not in seen:
            seen.add(key)
            fresh.append(passage)
    return fresh
