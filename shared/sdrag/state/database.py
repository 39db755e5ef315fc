"""
The database of a state: in a SQLite file, in memory or in PostgreSQL.

A reader sees everything as of one moment; of two writers one waits, and none fails. An
error names neither the statement, its values nor the address.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import RLock
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from sdrag.errors import HostError, KeyRotatedError, UsageError, require_extra
from sdrag.state.tables import foreign_state, lost_state, meta, tables

MEMORY = ":memory:"
VERSION = b"5"
"""Of the tables; a state of another version is refused."""

_MOST_MILLISECONDS = 60_000
"""Of one statement in PostgreSQL, and between two of one transaction."""
_HINT = (
    "Is the server up, or the file's folder writable? May this user log in, and SELECT,"
    " INSERT, UPDATE and DELETE in the tables? Has another writer taken too long?"
)

# At DEBUG, SQLAlchemy logs rows; ours hold hashes and the ids of the host.
for _name in ("engine.Engine", "pool.impl.QueuePool", "pool.impl.StaticPool"):
    logging.getLogger(f"sqlalchemy.{_name}.sdrag").setLevel(logging.WARNING)


class PostgresUrl:
    """
    The URL of a state in PostgreSQL: libpq's, and two parameters of our own.

        postgresql://user@host/database?schema=sdrag&key=/run/secrets/sdrag.key

    Attributes:
        url: For SQLAlchemy; it may hold a password.
        shown: The whole URL without a password.
        schema: In which the tables are.
        key: The path of the key file, if the URL names one.

    Raises:
        UsageError: It cannot be read, or its schema is no plain name.
    """

    def __init__(self, url: str) -> None:
        try:
            urlsplit(url)  # refuses half a bracket, which the next one does not
            read = sa.make_url(re.sub(r"^postgres(ql)?:", "postgresql+psycopg:", url))
        except (ArgumentError, ValueError):
            raise UsageError(
                "The URL of the state cannot be read.",
                hint="Write postgresql://user@host/database?schema=NAME&key=FILE.",
            ) from None
        key = read.query.get("key")
        self.schema = str(read.query.get("schema", "sdrag"))
        self.key = None if key is None else str(key)
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", self.schema):
            raise UsageError(
                "The schema of the state is no plain name.",
                hint="Use small letters, digits and underscores: `?schema=sdrag`.",
            )
        self.url = read.difference_update_query(["schema", "key"])
        bare = read.difference_update_query(["password", "sslpassword"])
        bare = bare._replace(drivername="postgresql", password=None)
        self.shown = bare.render_as_string()

    def __repr__(self) -> str:
        return f"PostgresUrl(schema={self.schema!r})"


class Database:
    """
    Where a state is kept; safe with several threads and processes.

    A transaction waits for those of other threads and processes for `timeout_seconds`
    in all.

    Raises:
        HostError: The database cannot be reached.
        MissingExtraError: The extra `postgres` is not installed.
    """

    def __init__(
        self, where: str | PostgresUrl, *, timeout_seconds: float = 30.0
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self._schema = "" if isinstance(where, str) else where.schema
        self._is_in_memory = where == MEMORY
        self._expected: bytes | None = None
        self._lock = RLock()
        with self._failures():
            self._engine = _connect(where, timeout_seconds)
        sa.event.listen(self._engine, "begin", _begin)
        sa.event.listen(self._engine, "connect", _set_up)
        _DATABASES.add(self)

    def __repr__(self) -> str:
        return f"Database({'PostgreSQL' if self._schema else 'SQLite'})"

    def expect(self, seal: bytes) -> None:
        """Refuse from now on, in each transaction, a state under another key."""
        self._expected = seal

    def leave_to_parent(self) -> None:
        """Leave to a parent process the connections and the lock that it has."""
        self._lock = RLock()
        if not self._is_in_memory:
            _INHERITED.append(self._engine.pool)
            self._engine.dispose(close=False)

    def __del__(self) -> None:
        if (engine := getattr(self, "_engine", None)) is not None:
            with suppress(Exception):
                engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a transaction in which everything is read as of one moment."""
        options: dict[str, Any] = {}
        if self._schema:
            options = {
                "isolation_level": "REPEATABLE READ",
                "postgresql_readonly": True,
            }
        # The one connection to a database in memory serves one thread at a time.
        with (
            self._failures(),
            self._turn(alone=self._is_in_memory) as seconds,
            self._engine.execution_options(wait=seconds, **options).begin() as opened,
        ):
            self._check(opened)
            yield opened

    @contextmanager
    def writing(
        self, part: str = "", *, durable: bool = False
    ) -> Iterator[sa.Connection]:
        """
        Open a transaction to write: of two writers one waits, and none fails.

        Writers of two named parts of the rows wait for one another in SQLite alone.
        There threads wait for one another here: SQLite has who waits for a lock sleep,
        and lets whoever comes first have it. It is `durable` when at its end the disk
        has what was written.
        """
        options: dict[str, Any] = {"writes": True, "durable": durable}
        if self._schema:  # what is read after a wait is as of then
            options["isolation_level"] = "READ COMMITTED"
        with (
            self._failures(),
            self._turn(alone=not self._schema) as seconds,
            self._engine.execution_options(wait=seconds, **options).begin() as opened,
        ):
            if self._schema:
                lock = sa.func.hashtext(f"sdrag {self._schema}")
                if part:
                    share = sa.func.pg_advisory_xact_lock_shared(lock)
                    lock = sa.func.hashtext(f"sdrag {self._schema} {part}")
                    opened.execute(sa.select(share))
                opened.execute(sa.select(sa.func.pg_advisory_xact_lock(lock)))
            self._check(opened)
            yield opened

    def overwrite_deleted(self) -> None:
        """
        Empty SQLite's log into its file, so that neither has what was deleted.

        Raises:
            HostError: Others read the file all the while.
        """
        if not self._schema and self._run_pragma("wal_checkpoint(TRUNCATE)") != [0]:
            raise HostError(
                "The file of the state holds old rows yet, for it was being read.",
                hint="Close what reads it, and do it again.",
            )

    def seal(self, make: Callable[[], bytes] | None) -> bytes:
        """
        Return what shows whose key it is.

        Where there are no tables they are made, with the seal that `make` gives.

        Raises:
            HostError: The database failed, or is another application's.
            UsageError: The state is lost, or of another version.
        """
        with self.reading() as connection:
            seal = self._seal(connection)
        if seal is None:
            # Whoever comes first makes the tables, the key and the seal, at once.
            with self.writing() as connection:
                seal = self._seal(connection)
                if seal is None and make is not None:
                    seal = self._lay_out(connection, make)
        if seal is None:
            raise lost_state()
        if not self._schema:  # then readers and a writer do not wait for one another
            self._run_pragma("journal_mode = WAL")
        return seal

    def _run_pragma(self, pragma: str) -> list[Any]:
        """Run what SQLite does outside transactions, unless others are in the way."""
        with (
            suppress(sqlite3.OperationalError),
            closing(self._engine.raw_connection()) as connection,
        ):
            rows = connection.cursor().execute(f"PRAGMA {pragma}").fetchall()
            return [row[0] for row in rows]
        return []

    def _check(self, connection: sa.Connection) -> None:
        """Refuse a state that is no longer under the key that it was opened with."""
        if self._expected is None:
            return
        seal = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "seal"))
        if seal is None:
            raise lost_state()
        if seal != self._expected:
            raise KeyRotatedError

    def _seal(self, connection: sa.Connection) -> bytes | None:
        """Return the seal; None where there are no tables of ours yet."""
        inspector, schema = sa.inspect(connection), self._schema or None
        names = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)}
        if names.isdisjoint(tables.tables) and (self._schema or not names):
            return None
        if not names >= tables.tables.keys():
            raise foreign_state()
        rows = dict(connection.execute(sa.select(meta.c.name, meta.c.value)).all())
        if rows.get("version", VERSION) != VERSION:
            raise UsageError(
                "The state is of another version of sdrag.",
                hint="Name another file or schema, and bind the corpus again.",
            )
        if rows.keys() < {"version", "seal"}:
            raise lost_state()
        seal: bytes = rows["seal"]
        return seal

    def _lay_out(self, connection: sa.Connection, make: Callable[[], bytes]) -> bytes:
        if self._schema:
            connection.execute(sa.text(f"CREATE SCHEMA IF NOT EXISTS {self._schema}"))
        tables.create_all(connection, checkfirst=False)
        seal = make()
        rows = {"version": VERSION, "seal": seal}
        connection.execute(
            meta.insert(), [{"name": n, "value": v} for n, v in rows.items()]
        )
        return seal

    @contextmanager
    def _turn(self, *, alone: bool) -> Iterator[float]:
        """Wait for other threads, where it is to be `alone`; yield the seconds left."""
        if not alone:
            yield self.timeout_seconds
            return
        lock, end = self._lock, monotonic() + self.timeout_seconds
        if not lock.acquire(timeout=self.timeout_seconds):
            raise self._locked()
        try:
            yield max(0.0, end - monotonic())
        finally:
            lock.release()

    def _locked(self) -> HostError:
        return HostError(
            f"The state was locked for {self.timeout_seconds:g} s.",
            hint="Does another process, such as a backup, hold it? Or raise"
            " `disclosure.timeout_seconds`, or `timeout_seconds` of `open_state`.",
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            below = getattr(error, "orig", None) or error
            code = getattr(below, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY:
                raise self._locked() from None
            if code == sqlite3.SQLITE_NOTADB:
                raise foreign_state() from None
            kind = type(below).__name__
            raise HostError(
                f"The state's database failed ({kind}).", hint=_HINT
            ) from None


def _connect(where: str | PostgresUrl, timeout_seconds: float) -> sa.Engine:
    given: dict[str, Any] = {
        "hide_parameters": True,
        "logging_name": "sdrag",
        "pool_logging_name": "sdrag",
    }
    if isinstance(where, PostgresUrl):
        with require_extra("postgres", "A state in PostgreSQL"):
            import psycopg  # noqa: F401, PLC0415 -- an extra
        wait = max(1, round(1000 * timeout_seconds))
        connecting: dict[str, Any] = {
            "connect_timeout": 10,
            "application_name": "sdrag",
            **where.url.query,
            "options": f"{where.url.query.get('options', '')}"
            f" -c search_path={where.schema} -c lock_timeout={wait}"
            f" -c statement_timeout={_MOST_MILLISECONDS}"
            f" -c idle_in_transaction_session_timeout={_MOST_MILLISECONDS}",
        }
        engine = sa.create_engine(
            where.url,
            connect_args=connecting,
            pool_pre_ping=True,
            pool_timeout=timeout_seconds,
            **given,
        )
    elif where == MEMORY:
        connecting = {"check_same_thread": False, "isolation_level": None}
        return sa.create_engine(
            "sqlite://", poolclass=StaticPool, connect_args=connecting, **given
        )
    else:
        engine = sa.create_engine(
            "sqlite://",
            # A file that was lost is not made anew.
            creator=lambda: sqlite3.connect(
                f"file:{quote(where)}?mode=rw",
                uri=True,
                timeout=timeout_seconds,
                isolation_level=None,
                check_same_thread=False,
            ),
            poolclass=QueuePool,
            pool_timeout=timeout_seconds,
            **given,
        )
    return engine


_DATABASES: WeakSet[Database] = WeakSet()
_INHERITED: list[Any] = []
"""Connections of a parent process; to close one here would break the parent's."""


def _leave_to_parent() -> None:
    for database in _DATABASES:
        database.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _set_up(connection: Any, _: object) -> None:
    """
    Overwrite what is deleted, which not every SQLite does by itself.

    The disk is waited for once in many commits: a power cut costs the last ones.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: sa.Connection) -> None:
    if connection.dialect.name == "sqlite":
        options = connection.get_execution_options()
        wait = round(1000 * options.get("wait", 0))
        cursor = connection.connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {wait}")
        if options.get("durable"):
            cursor.execute("PRAGMA synchronous = FULL")
        begin = "BEGIN IMMEDIATE" if options.get("writes") else "BEGIN"
        connection.exec_driver_sql(begin)
