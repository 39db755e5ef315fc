"""What the tables of a state have in common: rows of many keys, written and evicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from sdrag.effects.progress import batched

_AT_ONCE = 500
_EVICTED_AT = 0.01
"""The share of writes that look whether there are too many rows."""


def among(statement: sa.Select[Any], column: Any) -> sa.Select[Any]:
    """Return a statement for `rows_among`: a column has one of many values."""
    values = sa.bindparam("values", expanding=True, type_=column.type)
    return statement.where(column.in_(values))


def rows_among(
    connection: sa.Connection,
    statement: sa.Select[Any],
    values: Iterable[Any],
    **given: Any,
) -> Iterator[Any]:
    """Yield the rows of an `among` statement; `given` are its other parameters."""
    for some in batched(dict.fromkeys(values), _AT_ONCE):
        yield from connection.execute(statement, {"values": some, **given})


def upsert(
    connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]
) -> None:
    """Write rows; one that is there already has its other columns replaced."""
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    into: Any = dialect.insert(table)
    changed = {c.name: into.excluded[c.name] for c in table.c if not c.primary_key}
    key = table.primary_key.columns.keys()
    connection.execute(
        into.on_conflict_do_update(index_elements=key, set_=changed), rows
    )


def may_evict() -> bool:
    """Say whether a write looks for rows to delete; few do."""
    return random() < _EVICTED_AT  # noqa: S311 -- no secret


def evict(connection: sa.Connection, column: sa.Column[Any], most: int) -> None:
    """Delete the rows that are first by a column, where there are more than `most`."""
    last = sa.select(column).where(column.is_not(None)).order_by(column.desc())
    value = connection.scalar(last.offset(most).limit(1))
    if value is not None:
        connection.execute(sa.delete(column.table).where(column <= value))
