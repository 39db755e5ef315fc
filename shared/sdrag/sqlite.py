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
from io import FileIO
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

    Raises:
        HostError: The schema cannot be laid out there.
    """

    def __init__(
        self, path: str | Path, schema: str, *, name: str, patience: float = 30.0
    ) -> None:
        self._path, self._name, self._patience = str(path), name, patience
        self._lock = RLock()
        self._only: sqlite3.Connection | None = None
        if self._path == MEMORY:
            self._only = sqlite3.connect(MEMORY, check_same_thread=False)
        else:
            Path(self._path).touch(mode=0o600)
        with self.transaction() as connection:
            connection.executescript(schema)

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

    def changes(self) -> str:
        """
        Return what differs after every write, whoever wrote; it is cheap to ask.

        SQLite counts the transactions that changed a database in bytes 24 to 27 of the
        file (its file format, section 1.3.9).

        Raises:
            HostError: The file cannot be read.
        """
        if self._only is not None:
            with self._lock:
                return str(self._only.total_changes)
        try:
            with FileIO(self._path) as file:  # unbuffered: it is asked often
                return file.read(28)[24:].hex()
        except OSError:
            raise HostError(f"The {self._name}'s database cannot be read.") from None

    def __repr__(self) -> str:
        return f"Database({self._name!r})"
