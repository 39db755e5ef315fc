"""
A database of sdrag's own: a file, or memory.

Each thread has a connection of its own to a file, kept for its next transaction as long
as the file is the same; nothing is shared between threads and processes. A database in
memory has a single connection, behind a lock. A failure names the database by what it
holds, never by its path or the values of a statement.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock, local
from time import monotonic, sleep

from sdrag.errors import HostError
from sdrag.state.database import lost_state

__all__ = ["MEMORY", "SqliteDatabase"]

MEMORY = ":memory:"
"""The path of a database that lives as long as the object."""

_HEADER = b"SQLite format 3\0"
_MARKED = (
    "SELECT 1 FROM pragma_user_version WHERE user_version UNION ALL"
    " SELECT 1 FROM pragma_application_id WHERE application_id"
)
_PAUSE = 0.02
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")
_ABANDONED: list[sqlite3.Connection] = []
"""Open in the process that this one was forked from, so not to be closed here."""


class SqliteDatabase:
    """
    An SQLite database, safe with several threads and processes.

    Args:
        path: The file, or `MEMORY`; made when it is missing, readable by its owner
            only.
        schema: Statements that may be run again and again.
        name: What errors call it, such as `cache`.
        patience: For how many seconds a transaction waits for another to end.
        version: Of the schema. In a file of another version its tables are made anew:
            what they hold is not known to be what it seems.
        may_make: Make what is missing or empty; else that is an error.

    Raises:
        HostError: The schema cannot be laid out there, or the file is another
            application's: it is left as it was.
        UsageError: It is missing or empty, and may not be made.
    """

    def __init__(
        self,
        path: str | Path,
        schema: str,
        *,
        name: str,
        patience: float = 30.0,
        version: int = 0,
        may_make: bool = True,
    ) -> None:
        self._path, self._name, self._patience = str(path), name, patience
        self._lock = RLock()
        self._idle = _Idle()
        self._only: sqlite3.Connection | None = None
        if self._path == MEMORY:
            self._only = sqlite3.connect(MEMORY, check_same_thread=False)
        else:
            file = Path(self._path)
            if not may_make and not (file.exists() and file.stat().st_size):
                raise lost_state()
            if file.exists() and file.stat().st_size:
                with file.open("rb") as opened:
                    if opened.read(len(_HEADER)) != _HEADER:
                        raise _foreign(name)
                with self.reading() as connection:  # while another lays it out
                    _check_owner(connection, schema, name, may_make=may_make)
            else:
                file.touch(mode=0o600)
        with self.transaction() as connection:
            _log_ahead(connection, patience)
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
            here = self._here()
            connection = self._idle.taken(here)
            if connection is None:
                connection = sqlite3.connect(
                    self._path, timeout=self._patience, check_same_thread=False
                )
            try:
                with connection:
                    yield connection
            except BaseException:
                connection.close()
                raise
            if here:
                self._idle.keep(connection, here)
            else:
                connection.close()
        except sqlite3.Error as error:
            raise HostError(
                f"The {self._name}'s database failed ({type(error).__name__}).",
                hint="Is its folder writable, and the file one of sdrag's?",
            ) from None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction in which everything is read as of one moment."""
        with self.transaction() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction to write: of two writers one waits, and none fails."""
        with self.transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def _here(self) -> tuple[int, ...]:
        """Tell the file and the process: a connection serves no other ones."""
        try:
            file = os.stat(self._path)  # noqa: PTH116 -- a path is not made each time
        except FileNotFoundError:
            return ()
        return os.getpid(), file.st_dev, file.st_ino

    def __repr__(self) -> str:
        return f"SqliteDatabase({self._name!r})"


class _Idle(local):
    """The connection that a thread has left idle, and to which file it leads."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._leads: tuple[int, ...] = ()

    def taken(self, here: tuple[int, ...]) -> sqlite3.Connection | None:
        """Hand it out, if it leads here; it is not idle then."""
        connection, self._connection = self._connection, None
        if connection is not None and self._leads != here:
            self._close(connection)
            return None
        return connection

    def keep(self, connection: sqlite3.Connection, leads: tuple[int, ...]) -> None:
        """Keep a connection that is idle again; another one that is kept is closed."""
        if self._connection is not None:
            self._close(self._connection)
        self._connection, self._leads = connection, leads

    def _close(self, connection: sqlite3.Connection) -> None:
        if self._leads[:1] == (os.getpid(),):
            connection.close()
        else:  # it belongs to the process that this one was forked from
            _ABANDONED.append(connection)

    def __del__(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._close(self._connection)


def _log_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Have readers and a writer not wait for one another; said once for a file."""
    until = monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait here by itself.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() >= until:
                raise
            sleep(_PAUSE)
        else:
            return


def _check_owner(
    connection: sqlite3.Connection, schema: str, name: str, *, may_make: bool
) -> None:
    """
    Refuse another application's database, before anything is written to it.

    It is sdrag's if it holds the first table of the schema, or nothing at all.
    """
    first = schema.partition(";")[0].strip().replace("IF NOT EXISTS ", "")
    rows = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    if (first,) in rows:
        return
    if not may_make:
        raise lost_state()
    if rows or connection.execute(_MARKED).fetchall():
        raise _foreign(name)


def _foreign(name: str) -> HostError:
    return HostError(
        f"The file of the {name} is not one of sdrag's, and was left as it was.",
        hint="Name another file, or restore this one from a backup.",
    )


def _lay_out(connection: sqlite3.Connection, schema: str, version: int) -> None:
    """Make the tables; whoever comes first does it, the others wait for it."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found == version and version:
        return
    connection.execute("BEGIN IMMEDIATE")
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != version:
        for table in _TABLE.findall(schema):
            if table != "seal":
                connection.execute(f'DROP TABLE IF EXISTS "{table}"')
    for statement in schema.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version:d}")
