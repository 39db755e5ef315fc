"""
What may be remembered, and under which key.

A key is a keyed hash over everything the value depends on, so a short text cannot be
guessed from it. A value is what was released, as JSON: never the raw text. Bounded, and
safe under concurrent use, in SQLite by several processes too. Nothing is remembered of
what failed. A cache that cannot be read remembers nothing: the work is done again.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Protocol, runtime_checkable

from sdrag.arguments import require
from sdrag.errors import UsageError
from sdrag.sqlite import Database

__all__ = [
    "Cached",
    "MemoryCache",
    "RedactionCache",
    "SqliteCache",
    "keyed",
    "open_cache",
    "secret_at",
]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    key BLOB PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_by_use ON entry (used);
"""
_PATIENCE_SECONDS = 5.0
_SECRET_BYTES = 32


@runtime_checkable
class RedactionCache(Protocol):
    """Where redactions are remembered."""

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts, in their order."""
        ...

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        ...

    def put(self, key: bytes, value: str) -> None:
        """Remember a value."""
        ...


Cached = RedactionCache | str | Path | None
"""A cache, the path of one, or nothing: then it is in memory."""


class MemoryCache:
    """
    The least recently used entries, in memory.

    Args:
        entries: How many are kept.
    """

    def __init__(self, entries: int = 1024) -> None:
        if entries < 1:
            raise UsageError("A cache holds at least one entry.")
        self._entries = entries
        self._values: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()
        self._secret = secrets.token_bytes(_SECRET_BYTES)

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts; each part's length is hashed too."""
        return keyed(self._secret, parts)

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: bytes, value: str) -> None:
        """Remember a value; the entry unused for longest makes room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                self._values.popitem(last=False)

    def __repr__(self) -> str:
        return f"MemoryCache({self._entries})"

    def __getstate__(self) -> dict[str, int]:
        """Pickle as an empty cache of the same size: what it holds stays here."""
        return {"entries": self._entries}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["entries"])  # type: ignore[misc]


class SqliteCache:
    """
    The most recently used entries, in an SQLite database.

    The key of the hashes lies in a file of its own beside the database, so that the
    database alone, in a backup say, does not let anybody try texts against it.

    Args:
        path: The database; made when it is missing, readable by its owner only.
        entries: How many are kept.
    """

    def __init__(self, path: str | Path, entries: int = 100_000) -> None:
        if entries < 1:
            raise UsageError("A cache holds at least one entry.")
        self._entries = entries
        self._secret = secret_at(Path(f"{path}.key"))
        self._database = Database(
            path, _SCHEMA, name="cache", patience=_PATIENCE_SECONDS
        )

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts; each part's length is hashed too."""
        return keyed(self._secret, parts)

    def get(self, key: bytes) -> str | None:
        """Return what was put under the key, if it is still there."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "UPDATE entry SET used = ? WHERE key = ? RETURNING value",
                (time.time(), key),
            ).fetchone()
        return str(row[0]) if row else None

    def put(self, key: bytes, value: str) -> None:
        """Remember a value; the entries unused for longest make room."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO entry VALUES (?, ?, ?)",
                (key, value, time.time()),
            )
            connection.execute(
                "DELETE FROM entry WHERE key IN (SELECT key FROM entry"
                " ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self._entries,),
            )

    def __repr__(self) -> str:
        return f"SqliteCache({self._entries})"


def open_cache(where: Cached) -> RedactionCache:
    """
    Return the cache itself, the one at a path, or one in memory.

    Raises:
        UsageError: It is none of these.
    """
    if where is None:
        return MemoryCache()
    if isinstance(where, (str, Path)):
        return SqliteCache(where)
    require(where, RedactionCache, "cache of redactions")
    return where


def keyed(secret: bytes, parts: Iterable[str]) -> bytes:
    """Return a keyed hash of parts, each with its length, in 32 bytes."""
    digest = blake2b(key=secret, digest_size=32)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def secret_at(path: Path) -> bytes:
    """Read the key, made by whoever comes first: a link appears whole or not at all."""
    if not path.exists():
        own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        handle = os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_SECRET_BYTES))
        with suppress(FileExistsError):
            path.hardlink_to(own)
        own.unlink()
    secret = path.read_bytes()
    if len(secret) != _SECRET_BYTES:
        raise UsageError("The cache's key file is not one of sdrag's.")
    return secret
