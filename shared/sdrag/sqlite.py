"""
A database of sdrag's own: a file, or memory.

Each transaction on a file has a connection of its own, so nothing is shared between
threads and processes; one in memory has a single connection, behind a lock. A failure
names the database by what it holds, never by its path or the values of a statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from sdrag.errors import HostError

__all__ = ["MEMORY", "Database"]

MEMORY = ":memory:"
"""The path of a database that lives as long as the object."""


class Database:
    """
    An SQLite database, safe with several threads and processes.

    Args:
        path: The file, or `MEMORY`; made when it is missing, readable by its owner
            only.
        schema: Statements that may be run again and again.
        name: What errors call it, such as `cache`.
        patience: For how many seconds a transaction waits for another to end.
        version: Of the schema. A file of another version is emptied first: what it
            holds is not known to be what it seems.

    Raises:
        HostError: The schema cannot be laid out there.
    """

    def __init__(
        self,
        path: str | Path,
        schema: str,
        *,
        name: str,
        patience: float = 30.0,
        version: int = 0,
    ) -> None:
        self._path, self._name, self._patience = str(path), name, patience
        self._lock = RLock()
        self._only: sqlite3.Connection | None = None
        if self._path == MEMORY:
            self._only = sqlite3.connect(MEMORY, check_same_thread=False)
        else:
            Path(self._path).touch(mode=0o600)
        with self.transaction() as connection:
            _lay_out(connection, schema, version)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """
        Open a connection for one transaction, undone where its block raises.

        Raises:
            HostError: SQLite refused a statement.
        """
        try:
            if self._only is not None:
                with self._lock, self._only:
                    yield self._only
                return
            connection = sqlite3.connect(self._path, timeout=self._patience)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise HostError(
                f"The {self._name}'s database failed ({type(error).__name__}).",
                hint="Is its folder writable, and the file one of sdrag's?",
            ) from None

    def __repr__(self) -> str:
        return f"Database({self._name!r})"


def _lay_out(connection: sqlite3.Connection, schema: str, version: int) -> None:
    """Make the tables; whoever comes first does it, the others wait for it."""
    connection.execute("PRAGMA journal_mode = WAL")
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found == version and version:
        return
    connection.execute("BEGIN IMMEDIATE")
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != version:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            connection.execute(f'DROP TABLE "{table}"')
    for statement in schema.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version:d}")
