"""Dates in metadata: ISO 8601 in words, or what a loader made of them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import Any

__all__ = ["instant", "last_instant"]

_DAY_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


def instant(value: Any) -> datetime | None:
    """
    Read a date or a time; a day is its first instant, a time without zone is UTC.

    Args:
        value: ISO 8601, a `date` or `datetime`, or seconds since 1970.

    Returns:
        None where it cannot be read.
    """
    try:
        if isinstance(value, str):
            return _zoned(datetime.fromisoformat(value.strip()))
        if isinstance(value, datetime):
            return _zoned(value)
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


def _zoned(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)
