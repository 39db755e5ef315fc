"""
Over-fetching: ask the store for more until enough of it may be seen.

A store that cannot filter returns what others may see. "Over-retrieve to compensate
for filtering" (section 3.5): what is wanted, then twice that, and so on until enough is
kept, the store has no more, or the budget ends. A passage is checked once, however
often it is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdrag.engine.steps import Steps, search
from sdrag.guardrails.screened import Screened
from sdrag.vocabulary import Decision, Passage

__all__ = ["fetch"]

Check = Callable[[Sequence[Passage]], Steps[Screened]]


def fetch(
    query: str, *, wanted: int | None, budget: int, check: Check, filters: object = None
) -> Steps[Screened]:
    """
    Search until `wanted` passages pass the check, or nothing more can be had.

    Args:
        query: The question.
        wanted: How many allowed passages are enough; as many as the host's retriever
            returns of its own accord, if None.
        budget: The most passages asked of the store in one search, or `wanted`.
        check: Access control, on passages not yet checked.
        filters: What the store is asked to hold to.

    Raises:
        SdragError: The retriever failed; nothing is returned on a doubt.
    """
    seen: set[tuple[str, str]] = set()
    kept: list[Passage] = []
    decisions: list[Decision] = []
    limit = wanted
    while True:
        found = yield from search(query, filters=filters, limit=limit)
        fresh = _unseen(found, seen)
        checked = yield from check(fresh)
        kept += checked.passages
        decisions += checked.decisions
        asked = limit or len(found)
        wanted = wanted or len(found)
        if len(kept) >= wanted or not fresh or len(found) < asked or asked >= budget:
            return Screened(tuple(kept[:wanted]), tuple(decisions))
        limit = min(budget, asked * 2)


def _unseen(found: Sequence[Passage], seen: set[tuple[str, str]]) -> list[Passage]:
    fresh = []
    for passage in found:
        key = passage.id, passage.text
        if key not in seen:
            seen.add(key)
            fresh.append(passage)
    return fresh
