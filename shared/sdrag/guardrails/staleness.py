"""
Staleness: what has expired or was replaced is not answered from.

"A RAG system that retrieves outdated information is generating hallucinations from a
different source" (section 3.5). Three facts of a document, which its chunks inherit at
ingest, decide: until when it is valid, which version it is, and whether the host has
marked it superseded. It runs after access control, so that the newest version is the
newest the principal may see. A date or a version that cannot be read is doubt, and
doubt drops the passage. A date is ISO 8601 in words, or what a loader made of it.
No text is sent to a model.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import Field

from sdrag.effects.steps import Steps
from sdrag.guardrails.relevance import looks_similar
from sdrag.guardrails.results import Retrieval, Screened, evidence
from sdrag.sections import GuardSection
from sdrag.text.nested import is_given
from sdrag.vocabulary import Action, Decision, Passage

RULE = "staleness"
_NUMBERS = re.compile(r"v?(\d{1,18}(?:[._]\d{1,18}){0,5})\Z", re.IGNORECASE)
_DAY_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_DAY_SECONDS = 86_400.0


class StalenessSection(GuardSection):
    """What happens to passages that have expired or were replaced."""

    valid_until_key: str = "valid_until"
    """Holds the last date, ISO 8601, on which it may be used."""
    updated_key: str = "updated"
    """Holds the date of the last change."""
    version_key: str = "version"
    """Holds a number, a dotted number or a date; the greatest wins."""
    superseded_by_key: str = "superseded_by"
    """Holds anything where the document was replaced."""
    document_key: str = "document_id"
    """Names the document, where the passage itself does not."""
    action: Literal["drop", "disclaim"] = "drop"
    """Drop what has expired, or keep it with a disclaimer."""
    recency_half_life_days: Annotated[float, Field(gt=0)] | None = None
    """Rank an older passage lower, by half for each such time."""


def at_retrieval(
    passages: Sequence[Passage], section: StalenessSection, retrieval: Retrieval
) -> Steps[Screened]:
    """Drop what is out of date, or flag it where the policy prefers a disclaimer."""
    yield from ()
    return drop_stale(passages, section, now=retrieval.now)


def drop_stale(
    passages: Sequence[Passage], section: StalenessSection, *, now: datetime
) -> Screened:
    """Drop what is out of date, at a moment."""
    replaced = _find_replaced(passages, section)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for index, passage in enumerate(passages):
        reason = replaced.get(index) or _why_expired(passage, section, now)
        is_flagged = reason == "expired" and section.action == "disclaim"
        if is_flagged or not reason:
            kept.append(passage)
        if reason:
            action: Action = "flagged" if is_flagged else "dropped"
            decisions.append(Decision(passage.id, action, RULE, reason))
    return Screened(tuple(kept), tuple(decisions))


def rank_at_retrieval(
    passages: Sequence[Passage], section: StalenessSection, retrieval: Retrieval
) -> Steps[Screened]:
    """
    Order passages, best first, by score and age; without a half-life they stay.

    It runs after the guard of relevance, which reads the scale of the store's scores
    off their order, and whose new scores are weighted here. Scores count where they can
    only be similarities; else the place counts.
    """
    yield from ()
    half_life = section.recency_half_life_days
    if half_life is None or not passages:
        return Screened(tuple(passages))
    dates = [instant(passage.metadata.get(section.updated_key)) for passage in passages]
    oldest = min((day for day in dates if day), default=retrieval.now)
    scores = [passage.score for passage in passages]
    are_similarities = (
        looks_similar(scores) and min(filter(None, scores), default=0) >= 0
    )

    def weight(place: int) -> float:
        score = scores[place] if are_similarities else 1.0 / (1 + place)
        age = max(0.0, (retrieval.now - (dates[place] or oldest)).total_seconds())
        return max(0.0, score or 0.0) * math.pow(0.5, age / _DAY_SECONDS / half_life)

    order = sorted(range(len(passages)), key=weight, reverse=True)
    return Screened(tuple(passages[index] for index in order))


def facts(
    passage: Passage, section: StalenessSection, *, now: datetime
) -> dict[str, Any]:
    """Return what a released passage may say of its age: a date, and if it expired."""
    updated = instant(passage.metadata.get(section.updated_key))
    known: dict[str, Any] = {"updated": updated.date().isoformat()} if updated else {}
    return known | ({"expired": True} if _why_expired(passage, section, now) else {})


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
    known = [
        {**facts(passage, section, now=now), **evidence(passage)}
        for passage in passages
    ]
    dates = [day for item in known if (day := instant(item.get("updated")))]
    parts = []
    if dates:
        oldest, newest = (day.date().isoformat() for day in (min(dates), max(dates)))
        when = f"on {newest}" if oldest == newest else f"between {oldest} and {newest}"
        parts.append(f"This information is based on documents last updated {when}.")
    if any(item.get("expired") for item in known):
        parts.append("Some of these documents are past their date of validity.")
    return " ".join(parts)


def _why_expired(passage: Passage, section: StalenessSection, now: datetime) -> str:
    value = passage.metadata.get(section.valid_until_key)
    if value is None:
        return ""
    until = last_instant(value)
    if until is None:
        return "unreadable-date"
    return "expired" if until < now else ""


def _find_replaced(
    passages: Sequence[Passage], section: StalenessSection
) -> dict[int, str]:
    """Return which passages a newer version replaces, by their place."""
    reasons: dict[int, str] = {}
    versions: dict[str, list[tuple[int, Any]]] = defaultdict(list)
    for index, passage in enumerate(passages):
        if is_given(passage.metadata.get(section.superseded_by_key)):
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
    if len({str(version) for _, version in versions}) == 1:
        return {}
    orders = {index: _order(version) for index, version in versions}
    if None in orders.values() or len(set(map(type, orders.values()))) > 1:
        return dict.fromkeys(orders, "unreadable-version")
    newest = max(order for order in orders.values() if order)
    return {index: "superseded" for index, order in orders.items() if order != newest}


def _order(version: Any) -> tuple[int, ...] | datetime | None:
    """Read a version as numbers or a date; 2 and 2.0 are the same."""
    if isinstance(version, bool):
        return None
    if isinstance(version, (int, float, str)):
        match = _NUMBERS.match(str(version).strip())
        if match:
            numbers = re.sub(r"(?:[._]0+)+\Z", "", match[1])
            return tuple(map(int, re.split("[._]", numbers)))
    return instant(version)


def instant(value: Any) -> datetime | None:
    """
    Read ISO 8601, a `date` or `datetime`, or seconds since 1970; else None.

    A day is its first instant, a time without zone is UTC.
    """
    try:
        if isinstance(value, str):
            return _with_zone(datetime.fromisoformat(value.strip()))
        if isinstance(value, datetime):
            return _with_zone(value)
        if isinstance(value, date):
            return datetime.combine(value, time.min, tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def last_instant(value: Any) -> datetime | None:
    """Read a date or a time like `instant`; a day is its last instant."""
    read = instant(value)
    day = not isinstance(value, datetime) and isinstance(value, date)
    if read and (day or (isinstance(value, str) and _DAY_ONLY.match(value.strip()))):
        return datetime.combine(read.date(), time.max, tzinfo=UTC)
    return read


def _with_zone(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)
