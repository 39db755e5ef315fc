"""
The database of a state: five tables, in a SQLite file, in memory or in PostgreSQL.

No text is in it: documents, texts, forms and constraints are keyed hashes, findings are
offsets. `chunk` says against which constraints a chunk was bound, `binding` to which it
is close; `finding` what one reading found in one text, `form` what is to be known again
in one document. The rows of the last two are only added, and each has a tag, a keyed
hash of all that is in it.

A reader sees everything as of one moment; of two writers one waits, and none fails. An
error names neither the statement, its values nor the address.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote, urlsplit
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DisconnectionError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from sdrag.effects.batches import batched
from sdrag.errors import HostError, UsageError, require_extra

__all__ = ["MEMORY", "Database", "PostgresUrl", "is_postgres"]

MEMORY = ":memory:"
VERSION = 1
"""Of the tables; a state of another version is refused."""

_APPLICATION = 0x5D4A6
"""What SQLite files of sdrag are known by."""
_PATIENCE = 30.0
"""Seconds for which a transaction waits for another one."""
_AT_ONCE = 500
_HINT = (
    "Is the server up, or the file's folder writable? May this user log in, and SELECT,"
    " INSERT, UPDATE and DELETE in the tables? Has another writer taken too long?"
)

tables = sa.MetaData()
_Bytes = sa.LargeBinary
_Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared by bytes, as SQLite does."""

meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", _Id, primary_key=True),
    sa.Column("value", _Bytes, nullable=False),
)
chunk = sa.Table(
    "chunk",
    tables,
    sa.Column("id", _Id, primary_key=True),
    sa.Column("fingerprint", _Bytes, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
)
binding = sa.Table(
    "binding",
    tables,
    sa.Column("rule", _Bytes, primary_key=True),
    sa.Column("chunk", _Id, primary_key=True, index=True),
    sa.Column("score", sa.Double, nullable=False),
)
finding = sa.Table(
    "finding",
    tables,
    sa.Column("text", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, primary_key=True),
    sa.Column("engine", _Bytes, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
    sa.Column("spans", sa.Text, nullable=False),
    # When a text was read by itself; null where its whole document was.
    sa.Column("seen", sa.Double, index=True),
)
form = sa.Table(
    "form",
    tables,
    sa.Column("document", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, primary_key=True),
    sa.Column("digest", _Bytes, nullable=False),
    sa.Column("length", sa.Integer, nullable=False),
    sa.Column("words", sa.Integer, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
)


def is_postgres(where: str) -> bool:
    """
    Say whether a state is in PostgreSQL.

    Raises:
        UsageError: It was, before it became a `Path`, which drops a slash.
    """
    if where.startswith(("postgresql://", "postgres://")):
        return True
    if where.startswith(("postgresql:/", "postgres:/")):
        raise UsageError(
            "The URL of the state lost a slash.", hint="Pass it as text, not a Path."
        )
    return False


class PostgresUrl:
    """
    The URL of a state in PostgreSQL: libpq's, and two parameters of our own.

        postgresql://user@host/database?schema=sdrag&key=/run/secrets/sdrag.key

    Attributes:
        url: For SQLAlchemy; it may hold a password.
        shown: The whole URL without a password.
        schema: Of the database, in which the tables are.
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
        query = dict(read.query)
        schema, key = query.pop("schema", "sdrag"), query.pop("key", None)
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", str(schema)):
            raise UsageError(
                "The schema of the state is no plain name.",
                hint="Use small letters, digits and underscores: `?schema=sdrag`.",
            )
        self.url = read.set(query=query)
        self.schema, self.key = str(schema), None if key is None else str(key)
        bare = sa.URL.create(
            "postgresql",
            username=read.username,
            host=read.host,
            port=read.port,
            database=read.database,
            query={
                name: value
                for name, value in read.query.items()
                if name not in {"password", "sslpassword"}
            },
        )
        self.shown = bare.render_as_string()

    def __repr__(self) -> str:
        return f"PostgresUrl(schema={self.schema!r})"

    @property
    def place(self) -> str:
        """Where the tables are, whoever logs in and however."""
        named = {"dbname", "host", "port", "service"}
        query = sorted((n, v) for n, v in self.url.query.items() if n in named)
        url = self.url
        return f"{url.host}:{url.port}/{url.database} {query} {self.schema}"


_ENGINES: WeakSet[sa.Engine] = WeakSet()


def _forget_connections() -> None:
    """Leave to a parent process the connections that it has open."""
    for engine in _ENGINES:
        engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_connections)


class Database:
    """
    Where a state is kept; safe with several threads and processes.

    Args:
        where: A path, `MEMORY`, or the URL of a PostgreSQL database.
        may_make: Make the tables where there are none; else that is an error.

    Raises:
        HostError: The database cannot be reached, or is another application's: it is
            left as it was.
        UsageError: It is missing or empty, and may not be made, or of another version.
        MissingExtraError: The extra `postgres` is not installed.
    """

    def __init__(
        self,
        where: str | PostgresUrl,
        *,
        may_make: bool = True,
        patience: float = _PATIENCE,
    ) -> None:
        self._path = where if isinstance(where, str) else ""
        self._schema = "" if isinstance(where, str) else where.schema
        self._patience = patience
        # The one connection to a database in memory serves one thread at a time.
        self._lock = RLock() if where == MEMORY else nullcontext()
        if self._path and self._path != MEMORY:
            _check_file(Path(self._path), may_make=may_make)
        with self._failures():
            self._engine = self._connected(where)
            self._lay_out(may_make=may_make)

    def __repr__(self) -> str:
        return f"Database({'PostgreSQL' if self._schema else 'SQLite'})"

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
        with (
            self._failures(),
            self._lock,
            self._engine.execution_options(**options).begin() as connection,
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction to write: of two writers one waits, and none fails."""
        with (
            self._failures(),
            self._lock,
            self._engine.execution_options(writes=True).begin() as connection,
        ):
            if self._schema:
                connection.execute(sa.text("LOCK TABLE meta IN EXCLUSIVE MODE"))
            yield connection

    def seal(self, make: Callable[[], bytes] | None = None) -> bytes | None:
        """Return what shows whose key it is; one without gets what `make` makes."""
        sealed = sa.select(meta.c.value).where(meta.c.name == "seal")
        with self.reading() if make is None else self.writing() as connection:
            mark: bytes | None = connection.scalar(sealed)
            if mark is None and make is not None:
                mark = make()
                connection.execute(meta.insert(), {"name": "seal", "value": mark})
        return mark

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            kind = type(getattr(error, "orig", None) or error).__name__
            raise HostError(
                f"The state's database failed ({kind}).", hint=_HINT
            ) from None

    def _connected(self, where: str | PostgresUrl) -> sa.Engine:
        given: dict[str, Any] = {"hide_parameters": True}
        if not isinstance(where, str):
            with require_extra("postgres", "A state in PostgreSQL"):
                import psycopg  # noqa: F401, PLC0415 -- an extra
            defaults = {"connect_timeout": 10, "application_name": "sdrag"}
            given["connect_args"] = {
                name: value
                for name, value in defaults.items()
                if name not in where.url.query
            }
            engine = sa.create_engine(where.url, pool_pre_ping=True, **given)
        elif where == MEMORY:
            engine = sa.create_engine(
                "sqlite://",
                poolclass=StaticPool,
                connect_args={"check_same_thread": False},
                **given,
            )
        else:
            opening = partial(_open_file, where, self._patience)
            engine = sa.create_engine(
                "sqlite://", creator=opening, poolclass=QueuePool, **given
            )
            sa.event.listen(engine, "connect", partial(_note_file, where))
            sa.event.listen(engine, "checkout", partial(_check_same_file, where))
        on_connect = partial(_prepare, schema=self._schema, patience=self._patience)
        sa.event.listen(engine, "connect", on_connect)
        sa.event.listen(engine, "begin", _begin)
        if where != MEMORY:
            _ENGINES.add(engine)
        return engine

    def _lay_out(self, *, may_make: bool) -> None:
        """Make the tables; whoever comes first does it, the others wait for it."""
        with self._engine.begin() as connection:
            if self._is_ours(connection, may_make=may_make):
                return
        if self._path and self._path != MEMORY:
            self._log_ahead()
        with self._engine.execution_options(writes=True).begin() as connection:
            if self._schema:
                connection.execute(
                    sa.text("SELECT pg_advisory_xact_lock(:n)"), {"n": _APPLICATION}
                )
                connection.execute(
                    sa.text(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
                )
            if self._is_ours(connection, may_make=may_make):
                return
            tables.create_all(connection, checkfirst=False)
            version = {"name": "version", "value": str(VERSION).encode()}
            connection.execute(meta.insert(), version)
            if not self._schema:
                connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")

    def _is_ours(self, connection: sa.Connection, *, may_make: bool) -> bool:
        """
        Say whether the tables are there already.

        Raises:
            HostError: There are tables of another application.
            UsageError: It holds nothing, and may not be made; or another version.
        """
        inspector = sa.inspect(connection)
        schema = self._schema or None
        names = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)}
        if self._schema:
            marked = bool(names & tables.tables.keys())
            ours = names >= tables.tables.keys()
        else:
            ((mark,),) = connection.exec_driver_sql("PRAGMA application_id")
            ((version,),) = connection.exec_driver_sql("PRAGMA user_version")
            marked = bool(names or mark or version)
            ours = mark == _APPLICATION and names >= tables.tables.keys()
        if not ours:
            if not may_make:
                raise lost_state()
            if marked:
                raise _foreign()
            return False
        for name, table in tables.tables.items():
            columns = {c["name"] for c in inspector.get_columns(name, schema)}
            if columns != {*table.columns.keys()}:
                raise _foreign()
        version = connection.scalar(
            sa.select(meta.c.value).where(meta.c.name == "version")
        )
        if version is None:
            raise lost_state() if not may_make else _foreign()
        if version != str(VERSION).encode():
            raise UsageError(
                "The state is of another version of sdrag.",
                hint="Name another file or schema, and bind the corpus again.",
            )
        return True

    def _log_ahead(self) -> None:
        """Have readers and a writer of a file not wait for one another."""
        until = time.monotonic() + self._patience
        with sqlite3.connect(self._path, timeout=self._patience) as connection:
            while True:
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as error:
                    # SQLite does not wait here by itself.
                    busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                    if not busy or time.monotonic() >= until:
                        raise HostError(
                            "The state's database failed (OperationalError).",
                            hint=_HINT,
                        ) from None
                    time.sleep(0.02)
                else:
                    break
        connection.close()


def _open_file(path: str, patience: float) -> sqlite3.Connection:
    """Open the file; one that was lost is not made anew."""
    return sqlite3.connect(
        f"file:{quote(path)}?mode=rw",
        uri=True,
        timeout=patience,
        check_same_thread=False,
    )


def _note_file(path: str, _connection: Any, record: Any) -> None:
    record.info["file"] = _file_at(path)


def _check_same_file(path: str, connection: Any, record: Any, proxy: Any) -> None:
    """Replace a connection to a file that another one has taken the place of."""
    if record.info["file"] != _file_at(path):
        connection.close()
        record.dbapi_connection = proxy.dbapi_connection = None
        raise DisconnectionError


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        file = os.stat(path)  # noqa: PTH116 -- a path is not made each time
    except OSError:
        return None
    return file.st_dev, file.st_ino


def _prepare(connection: Any, _record: Any, *, schema: str, patience: float) -> None:
    """Make a connection ready; the transactions of SQLite are those of `_begin`."""
    if not schema:
        connection.isolation_level = None
        return
    wait = round(1000 * patience)
    connection.autocommit = True
    connection.execute(
        f"SET search_path TO {schema};"  # it is a plain name
        f"SET lock_timeout TO {wait};"
        f"SET statement_timeout TO {2 * wait};"
        f"SET idle_in_transaction_session_timeout TO {2 * wait}"
    )
    connection.autocommit = False


def _begin(connection: sa.Connection) -> None:
    if connection.dialect.name == "sqlite":
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def rows_among(
    connection: sa.Connection,
    statement: sa.Select[Any],
    column: Any,
    values: Iterable[Any],
) -> Iterator[Any]:
    """Yield the rows in which a column has one of many values."""
    for some in batched(dict.fromkeys(values), _AT_ONCE):
        yield from connection.execute(statement.where(column.in_(some)))


def insert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an insert that can say what becomes of a row that is there already."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)


def lost_state() -> UsageError:
    """Return the error of a state that its key knows, and that is not there."""
    return UsageError(
        "The state is lost or empty, and its key has served it before.",
        hint="Restore the database from a backup. Or delete the key's file, or name"
        " another, to begin anew; then bind the corpus again.",
    )


def _foreign() -> HostError:
    return HostError(
        "The database of the state is not one of sdrag's, and was left as it was.",
        hint="Name another file or another schema, or restore this one from a backup.",
    )


def _check_file(path: Path, *, may_make: bool) -> None:
    """Refuse a file that is no database, before it is opened; make one."""
    header = b"SQLite format 3\0"
    holds = path.exists() and path.stat().st_size
    if not holds and not may_make:
        raise lost_state()
    if not holds:
        path.touch(mode=0o600)
        return
    with path.open("rb") as file:
        if file.read(len(header)) != header:
            raise _foreign()
