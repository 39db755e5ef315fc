"""
Staleness: what has expired or was replaced is not answered from.

"A RAG system that retrieves outdated information is generating hallucinations from a
different source" (section 3.5). Three facts of a document, which its chunks inherit at
ingest, decide: until when it is valid, which version it is, and whether the host has
marked it superseded. It runs after access control, so that the newest version is the
newest the principal may see. A date or a version that cannot be read is doubt, and
doubt drops the passage.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.guardrails.metadata_dates import instant, last_instant
from sdrag.guardrails.screened import Retrieval, Screened, evidence
from sdrag.policy import StalenessSection
from sdrag.vocabulary import Decision, Passage

__all__ = [
    "at_retrieval",
    "by_recency",
    "disclaimer",
    "facts",
    "ranked_at_retrieval",
    "screen",
]

RULE = "staleness"
_NUMBERS = re.compile(r"v?(\d{1,9}(?:[._]\d{1,9}){0,5})\Z", re.IGNORECASE)
_Order = tuple[str, tuple[float, ...]]


def at_retrieval(
    passages: Sequence[Passage], section: StalenessSection, retrieval: Retrieval
) -> Steps[Screened]:
    """Drop what is out of date."""
    return (yield from screen(passages, section, now=retrieval.now))


def ranked_at_retrieval(
    passages: Sequence[Passage], section: StalenessSection, retrieval: Retrieval
) -> Steps[Screened]:
    """
    Rank recent passages first.

    It runs after the guard of relevance, which reads the scale of the store's scores
    off their order, and whose new scores are weighted here.
    """
    yield from ()
    return Screened(by_recency(passages, section, now=retrieval.now))


def screen(
    passages: Sequence[Passage], section: StalenessSection | None, *, now: datetime
) -> Steps[Screened]:
    """
    Drop what is out of date, or flag it where the policy prefers a disclaimer.

    Args:
        passages: What the principal may see.
        section: None: nothing is looked at.
        now: With its time zone.
    """
    yield from ()
    if section is None:
        return Screened(tuple(passages))
    replaced = _replaced(passages, section)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for index, passage in enumerate(passages):
        reason = replaced.get(index) or _expired(passage, section, now)
        if not reason:
            kept.append(passage)
        elif reason == "expired" and section.action == "disclaim":
            kept.append(passage)
            decisions.append(Decision(passage.id, "flagged", RULE, reason))
        else:
            decisions.append(Decision(passage.id, "dropped", RULE, reason))
    return Screened(tuple(kept), tuple(decisions))


def facts(
    passage: Passage, section: StalenessSection | None, *, now: datetime
) -> dict[str, Any]:
    """Return what a released passage may say of its age: a date, and if it expired."""
    if section is None:
        return {}
    updated = instant(passage.metadata.get(section.updated_key))
    said: dict[str, Any] = {"updated": updated.date().isoformat()} if updated else {}
    return said | ({"expired": True} if _expired(passage, section, now) else {})


def disclaimer(
    passages: Sequence[Passage], section: StalenessSection, *, now: datetime
) -> str:
    """
    Word how fresh the passages are that an answer rests on.

    The oldest is named too: an answer is no fresher than what it rests on.

    Returns:
        One or two sentences, or nothing where no passage says when it was updated
        and none has expired. It holds no text but dates.
    """
    said = [
        {**facts(passage, section, now=now), **evidence(passage)}
        for passage in passages
    ]
    known = [date for item in said if (date := instant(item.get("updated")))]
    parts = []
    if known:
        oldest, newest = (date.date().isoformat() for date in (min(known), max(known)))
        when = f"on {newest}" if oldest == newest else f"between {oldest} and {newest}"
        parts.append(f"This information is based on documents last updated {when}.")
    if any(item.get("expired") for item in said):
        parts.append("Some of these documents are past their date of validity.")
    return " ".join(parts)


def _expired(passage: Passage, section: StalenessSection, now: datetime) -> str:
    value = passage.metadata.get(section.valid_until_key)
    if value is None:
        return ""
    until = last_instant(value)
    if until is None:
        return "unreadable-date"
    return "expired" if until < now else ""


def _replaced(passages: Sequence[Passage], section: StalenessSection) -> dict[int, str]:
    """Return which passages a newer version replaces, by their place."""
    reasons: dict[int, str] = {}
    versions: dict[str, list[tuple[int, Any]]] = defaultdict(list)
    for index, passage in enumerate(passages):
        if passage.metadata.get(section.superseded_by_key):
            reasons[index] = "superseded"
        document = passage.metadata.get(section.document_key, passage.document_id)
        version = passage.metadata.get(section.version_key)
        if document is not None and version is not None:
            versions[str(document)].append((index, version))
    for document_versions in versions.values():
        reasons |= _older(document_versions)
    return reasons


def _older(versions: list[tuple[int, Any]]) -> dict[int, str]:
    """Compare the versions of one document; what cannot be compared is doubt."""
    if all(version == versions[0][1] for _, version in versions):
        return {}
    orders = [(index, _order(version)) for index, version in versions]
    kinds = {order[0] if order else None for _, order in orders}
    if len(kinds) > 1 or None in kinds:
        return {index: "unreadable-version" for index, _ in versions}
    newest = max(order for _, order in orders if order)
    return {index: "superseded" for index, order in orders if order != newest}


def _order(version: Any) -> _Order | None:
    """Read a version as something that has an order, or None."""
    if isinstance(version, bool):
        return None
    if isinstance(version, (int, float)):
        return "number", _stripped((float(version),))
    if isinstance(version, str) and (match := _NUMBERS.match(version.strip())):
        parts = re.split(r"[._]", match.group(1))
        return "number", _stripped(tuple(float(part) for part in parts))
    date = instant(version)
    return ("date", (date.timestamp(),)) if date else None


def _stripped(parts: tuple[float, ...]) -> tuple[float, ...]:
    """Make 2 and 2.0 the same version."""
    while len(parts) > 1 and parts[-1] == 0:
        parts = parts[:-1]
    return parts


_DAY = 86_400.0


def by_recency(
    passages: Sequence[Passage], section: StalenessSection | None, *, now: datetime
) -> tuple[Passage, ...]:
    """
    Order passages by score and age.

    Args:
        passages: Best first. Their scores count where they run from 0 to 1 and fall;
            those that rise are distances, and the place counts in their stead.
        section: Gives the half-life; without one, the order stays.
        now: With its time zone.
    """
    if section is None or section.recency_half_life_days is None or not passages:
        return tuple(passages)
    dates = [instant(passage.metadata.get(section.updated_key)) for passage in passages]
    ages = [
        None if date is None else max(0.0, (now - date).total_seconds() / _DAY)
        for date in dates
    ]
    oldest = max((age for age in ages if age is not None), default=0.0)
    half_life, merits = section.recency_half_life_days, _merits(passages)

    def weight(place: int) -> float:
        age = ages[place]
        elapsed = oldest if age is None else age
        return merits[place] * math.pow(0.5, elapsed / half_life)

    order = sorted(range(len(passages)), key=weight, reverse=True)
    return tuple(passages[index] for index in order)


def _merits(passages: Sequence[Passage]) -> list[float]:
    """Return the scores, or what places are worth where they are no similarities."""
    scores = [passage.score for passage in passages]
    known = [score for score in scores if score is not None and 0.0 <= score <= 1.0]
    falls = all(left >= right for left, right in pairwise(known))
    if falls and len(known) == len(scores):
        return known
    return [1.0 / (1 + place) for place in range(len(passages))]
