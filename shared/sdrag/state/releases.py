"""
What a model rephrased.

A rephrased text is kept so that no model is asked for the same again. Its key is a
keyed hash over everything it depends on, so a short text cannot be guessed from it. A
value is what was released, as JSON: never the raw text. Their number is bounded; the
ones unused for longest are removed. Nothing is remembered of what failed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from sdrag.state.database import Database, replacing
from sdrag.state.keys import Keys

__all__ = ["Replies"]

_PUT = replacing("reply", "key", "value, used")
_ALL = 2**62
"""As a limit, none: in front of an offset, PostgreSQL takes no other number."""


class Replies:
    """
    A `ReplyStore` in the database of a state.

    Args:
        database: Of the state.
        keys: Of the state.
        entries: How many are kept.
    """

    def __init__(self, database: Database, keys: Keys, entries: int = 100_000) -> None:
        self._database = database
        self._keys = keys
        self._entries = entries

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts; each part's length is hashed too."""
        return self._keys.of("reply", *parts, size=32)

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        with self._database.writing() as connection:
            row = connection.execute(
                "UPDATE reply SET used = ? WHERE key = ? RETURNING value",
                (time.time(), key),
            ).fetchone()
        return str(row[0]) if row else None

    def put(self, key: bytes, value: str) -> None:
        """Remember a value; the entries unused for longest are removed."""
        with self._database.writing() as connection:
            connection.execute(_PUT, (key, value, time.time()))
            connection.execute(
                "DELETE FROM reply WHERE key IN (SELECT key FROM reply"
                " ORDER BY used DESC LIMIT ? OFFSET ?)",
                (_ALL, self._entries),
            )
