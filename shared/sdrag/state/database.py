"""
What the stores ask of a database, whichever it is.

One SQL serves both: standard upserts, `?` for a value, tables made from one schema.
SQLite and PostgreSQL differ only in how a transaction is opened and in the names of a
few column types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sdrag.effects.batches import batched
from sdrag.errors import UsageError

__all__ = ["Connection", "Database", "Rows", "among", "lost_state", "replacing"]

_BATCH = 500


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One transaction."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run a statement."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Run a statement for each row."""
        ...


class Database(Protocol):
    """Where a state is kept; safe with several threads and processes."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction in which everything is read as of one moment."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction to write: of two writers one waits, and none fails."""
        ...


def lost_state() -> UsageError:
    """Return the error of a state that its key knows, and that is not there."""
    return UsageError(
        "The state is lost or empty, and its key has served it before.",
        hint="Restore the database from a backup. Or delete the key's file, or name"
        " another, to begin anew; then bind the corpus again.",
    )


def among(
    connection: Connection, statement: str, values: Iterable[Any], *first: Any
) -> Iterator[Any]:
    """
    Yield what is found for many values: one round trip for some hundreds of them.

    Args:
        connection: A transaction.
        statement: Ends in `IN`.
        values: That it is asked for.
        first: The values of what comes before `IN`.
    """
    for some in batched(values, _BATCH):
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"{statement} ({marks})", (*first, *some))


def replacing(table: str, key: str, rest: str) -> str:
    """
    Write the statement that puts a row in the place of one with the same key.

    Args:
        table: Its name.
        key: The columns of its primary key, with commas.
        rest: The other columns, with commas.
    """
    columns = f"{key}, {rest}".split(", ")
    changes = ", ".join(f"{column} = excluded.{column}" for column in rest.split(", "))
    marks = ", ".join("?" * len(columns))
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 -- the callers' own names
        f" ON CONFLICT ({key}) DO UPDATE SET {changes}"
    )
