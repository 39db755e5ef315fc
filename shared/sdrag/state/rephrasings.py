"""
What was rephrased, so that no model is asked for the same again.

A key is a keyed hash over everything the value depends on, so a short text cannot be
guessed from it. A value is what was released, as JSON: never the raw text. Bounded:
the entries unused for longest make room. Nothing is remembered of what failed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from sdrag.state.keys import Keys

__all__ = ["Replies", "ReplyStore"]


class ReplyStore(Protocol):
    """Where releases that a model has written are remembered."""

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts, in their order."""
        ...

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        ...

    def put(self, key: bytes, value: str) -> None:
        """Remember a value."""
        ...


class Replies:
    """
    Replies in the database of a state.

    Args:
        transaction: Opens the database.
        keys: The state's.
        entries: How many are kept.
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[sqlite3.Connection]],
        keys: Keys,
        entries: int = 100_000,
    ) -> None:
        self._transaction = transaction
        self._keys = keys
        self._entries = entries

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts; each part's length is hashed too."""
        return self._keys.of("reply", *parts, size=32)

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        with self._transaction() as connection:
            row = connection.execute(
                "UPDATE reply SET used = ? WHERE key = ? RETURNING value",
                (time.time(), key),
            ).fetchone()
        return str(row[0]) if row else None

    def put(self, key: bytes, value: str) -> None:
        """Remember a value; the entries unused for longest make room."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)",
                (key, value, time.time()),
            )
            connection.execute(
                "DELETE FROM reply WHERE key IN (SELECT key FROM reply"
                " ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self._entries,),
            )
