"""
A database of sdrag's own in PostgreSQL: for processes on more than one host.

It behaves as the SQLite one does. A reader sees everything as of one moment. A writer
locks a table that only writers lock, so of two writers one waits and none fails. Each
process has connections of its own, a few of which stay open; one that the server has
closed is replaced before a transaction begins. After that nothing is tried twice: a
failure is the host's, and it quotes neither the statement, its values nor the address.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sdrag.errors import HostError, UsageError, require_extra
from sdrag.state.database import Connection, Rows, lost_state

if TYPE_CHECKING:
    import psycopg

    from sdrag.state.address import PostgresAddress

__all__ = ["PostgresDatabase"]

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN; LOCK TABLE seal IN EXCLUSIVE MODE"
"""Not repeatable read: a writer that waited must see what the other has written."""

_MOST_IDLE = 8
_LAYING_OUT = 0x5D4A6  # any number; the same for all who lay out a state
_TYPES = (
    ("IF NOT EXISTS ", ""),  # a table that is there already is another application's
    (" WITHOUT ROWID", ""),
    (
        "INTEGER PRIMARY KEY AUTOINCREMENT",
        "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    ),
    (" INTEGER ", " BIGINT "),
    (" BLOB", " BYTEA"),
    (" REAL ", " DOUBLE PRECISION "),
    (" TEXT", ' TEXT COLLATE "C"'),  # compared by bytes, as SQLite does
)
_AWAY = (
    "Is the server up, has it a connection left, and may this user log in? libpq reads"
    " a password from PGPASSFILE or PGPASSWORD; a state in another process has none of"
    " its own."
)
_ROLE = (
    "The role needs SELECT, INSERT, UPDATE and DELETE on the tables; whoever makes them"
    " needs CREATE too."
)


class PostgresDatabase:
    """
    A PostgreSQL database, safe with several threads, processes and hosts.

    Args:
        address: Of the server.
        schema: Statements for SQLite, made for PostgreSQL here.
        name: What errors call it.
        version: Of the schema. Tables of another version are left alone, and refused.
        patience: For how many seconds a transaction waits for another to end. A
            statement may take twice as long.
        may_make: Make the tables where there are none; else that is an error.

    Raises:
        HostError: The server cannot be reached, or the tables not be made.
        UsageError: The tables are of another version or another application's, missing
            and may not be made, or the database not in UTF-8.
        MissingExtraError: The extra `postgres` is not installed.
    """

    def __init__(
        self,
        address: PostgresAddress,
        schema: str,
        *,
        name: str,
        version: int,
        patience: float = 30.0,
        may_make: bool = True,
    ) -> None:
        with require_extra("postgres", "A state in PostgreSQL"):
            import psycopg  # noqa: PLC0415 -- an extra
        self._psycopg = psycopg
        self._address, self._name, self._patience = address, name, patience
        self._may_make = may_make
        self._idle: dict[int, list[psycopg.Connection[Any]]] = {}
        with self._failures():
            connection = self._connected()
            self._lay_out(connection, schema, version)
            self._keep(connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction in which everything is read as of one moment."""
        with self._transaction(_READ) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction to write: of two writers one waits, and none fails."""
        with self._transaction(_WRITE) as connection:
            yield connection

    def __repr__(self) -> str:
        return f"PostgresDatabase({self._name!r})"

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        with self._failures():
            connection = self._begun(begin)
            try:
                yield _Translated(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.close()  # what it wrote is undone
                raise
            self._keep(connection)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            raise HostError(
                f"The {self._name}'s database failed ({type(error).__name__}).",
                hint=_hint(error),
            ) from None

    def _begun(self, begin: str) -> psycopg.Connection[Any]:
        """Begin on an idle connection that still works, or on a new one."""
        idle = self._own()
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                break
            try:
                connection.execute(begin)
            except self._psycopg.OperationalError:
                broken = connection.broken
                connection.close()
                if not broken:
                    raise
            else:
                return connection
        connection = self._connected()
        try:
            connection.execute(begin)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(
            self._address.conninfo, autocommit=True, **self._defaults()
        )
        wait = round(1000 * self._patience)
        connection.execute(
            f"SET search_path TO {self._address.schema};"  # it is a plain name
            f"SET lock_timeout TO {wait};"
            f"SET statement_timeout TO {2 * wait};"
            f"SET idle_in_transaction_session_timeout TO {2 * wait}"
        )
        return connection

    def _defaults(self) -> dict[str, Any]:
        """Say what the address leaves open."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._address.conninfo)
        defaults = {"connect_timeout": 10, "application_name": "sdrag"}
        return {name: value for name, value in defaults.items() if name not in given}

    def _own(self) -> list[psycopg.Connection[Any]]:
        """
        Return the idle connections of this process.

        Those of the process that it was forked from stay listed, so that they are not
        closed here.
        """
        return self._idle.setdefault(os.getpid(), [])

    def _keep(self, connection: psycopg.Connection[Any]) -> None:
        idle = self._own()
        if len(idle) < _MOST_IDLE:
            idle.append(connection)
        else:
            connection.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_idle", {}).get(os.getpid(), ()):
            with suppress(Exception):
                connection.close()

    def _lay_out(
        self, connection: psycopg.Connection[Any], schema: str, version: int
    ) -> None:
        """Make the tables; whoever comes first does it, the others wait for it."""
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise UsageError(
                "The state's database is not in UTF-8.",
                hint="Make one with: CREATE DATABASE ... ENCODING 'UTF8'.",
            )
        found = self._version(connection)
        if found is None and not self._may_make:
            raise lost_state()
        if found is None:
            # Not in the transaction: one that has begun need not see new tables.
            connection.execute("SELECT pg_advisory_lock(%s)", (_LAYING_OUT,))
            with connection.transaction():
                found = self._version(connection)
                if found is None:
                    self._make(connection, schema, version)
                    found = version
            connection.execute("SELECT pg_advisory_unlock(%s)", (_LAYING_OUT,))
        if found != version:
            raise UsageError(
                f"The {self._name}'s tables are of version {found}, and this sdrag's of"
                f" version {version}.",
                hint="Name another schema, `?schema=NAME`, and bind the corpus again.",
            )

    def _version(self, connection: psycopg.Connection[Any]) -> int | None:
        names = [f"{self._address.schema}.{table}" for table in ("layout", "seal")]
        ((columns,),) = connection.execute(
            "SELECT count(*) FROM pg_attribute WHERE (attrelid, attname) IN"
            " ((to_regclass(%s), 'version'), (to_regclass(%s), 'mark'))",
            names,
        )
        if columns < len(names):
            return None
        ((version,),) = connection.execute("SELECT max(version) FROM layout")
        return int(version)

    def _make(
        self, connection: psycopg.Connection[Any], schema: str, version: int
    ) -> None:
        name = self._address.schema
        there = connection.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)
        ).fetchone()
        if there is None:
            connection.execute(f"CREATE SCHEMA {name}")
        try:
            connection.execute("CREATE TABLE layout (version BIGINT NOT NULL)")
            connection.execute(_for_postgres(schema))
        except self._psycopg.errors.DuplicateTable:
            raise UsageError(
                f"The schema of the {self._name} holds tables of another application,"
                " which were left as they were.",
                hint="Name another schema, `?schema=NAME`.",
            ) from None
        connection.execute("INSERT INTO layout VALUES (%s)", (version,))


class _Translated:
    """A connection that takes the statements as SQLite does."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        """Run a statement."""
        return self._connection.execute(_marked(statement), values, binary=True)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a statement for each row, without waiting for each."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), rows)


@lru_cache(maxsize=1000)
def _marked(statement: str) -> str:
    return statement.replace("?", "%s")


def _for_postgres(schema: str) -> str:
    for ours, theirs in _TYPES:
        schema = schema.replace(ours, theirs)
    return schema


def _hint(error: psycopg.Error) -> str:
    """Say what to do about a failure, by its code alone: a message quotes values."""
    import psycopg  # noqa: PLC0415 -- an extra, and imported before

    errors = psycopg.errors
    hints: dict[type[Exception], str] = {
        errors.InsufficientPrivilege: _ROLE,
        errors.LockNotAvailable: "Another writer took too long.",
        errors.QueryCanceled: "A statement took too long.",
        errors.ProgramLimitExceeded: "An id must not be longer than 2,000 bytes.",
        psycopg.ProgrammingError: "Is the URL libpq's, and the schema one of sdrag's?",
    }
    return next(
        (hint for kind, hint in hints.items() if isinstance(error, kind)), _AWAY
    )
