"""
Rotation: a state is written anew under another key, in one transaction.

Every hash is decrypted and encrypted again, so what was found stays found, and what
sessions were shown stays shown. Values behind placeholders go: the marks by which they
are asked for are of the old key. A row that was changed is refused, and nothing is
done. Whoever is stopped leaves a state under the old key or under the new one, and the
next opening, or rotation, puts that in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from sdrag.errors import UsageError
from sdrag.state import key_file
from sdrag.state.findings import LOCAL, MODEL, FindingRow, Findings
from sdrag.state.keys import DOCUMENT_BYTES, Keys, join_rules, split_rules
from sdrag.state.opening import State
from sdrag.state.tables import (
    binding,
    changed_row,
    chunk,
    finding,
    form,
    meta,
    shown,
    value,
)

_AT_ONCE = 500
_KNOWN = 10_000
"""Hashes of rules, engines and documents are in many rows."""
_LONGEST = 64
"""Bytes of a hash."""
_Row = dict[str, Any]


def rotate(state: State) -> dict[str, int]:
    """
    Give a state another key; whoever has it open is refused from then on.

    Returns:
        How many rows of each table were written anew, and how many `values` went.

    Raises:
        UsageError: The state is in memory, or its key cannot be replaced.
        KeyRotatedError: It was rotated since it was opened.
        HostError: The database or a file failed, a row was changed, or somebody reads
            SQLite's file all the while, which then holds old rows yet.
    """
    if state.is_in_memory or state.key_path is None:
        raise UsageError(
            "A state in memory has no key to rotate.", hint="Name its file or its URL."
        )
    path = Path(state.key_path)
    with key_file.file_failures():
        key_file.check_place(path)
        with state.database.writing(durable=True) as connection:
            key_file.forget_waiting(path)
            secret = state.keys.rotated()
            seal = key_file.write_waiting(path, secret)
            if connection.dialect.name != "sqlite":
                connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
            counts = _Rows(state, Keys(secret)).write(connection)
            sealed = meta.update().where(meta.c.name == "seal").values(value=seal)
            connection.execute(sealed)
        key_file.settle(path, seal)
    state.database.overwrite_deleted()
    return counts


class _Rows:
    """The rows of a state under its key, as they are under another one."""

    def __init__(self, state: State, keys: Keys) -> None:
        old = state.keys
        self._old, self._new = old, keys
        self._before = state.findings
        self._after = Findings(state.database, keys)

        @lru_cache(_KNOWN)
        def move(digest: bytes) -> bytes:
            if len(digest) % 2 or not 0 < len(digest) <= _LONGEST:
                raise changed_row()
            return keys.cover(old.uncover(digest))

        self._move = move

    def write(self, connection: sa.Connection) -> dict[str, int]:
        """Write all tables anew."""
        changes: Mapping[sa.Table, Callable[[Any], _Row]] = {
            chunk: self._chunk,
            binding: lambda row: self._moved(row, "rule"),
            finding: self._finding,
            form: self._form,
            shown: self._shown,
        }
        counts = {
            table.name: _rewrite(connection, table, change)
            for table, change in changes.items()
        }
        return {**counts, "values": connection.execute(value.delete()).rowcount}

    def _moved(self, row: Any, *hashes: str) -> _Row:
        """Return a row with such columns moved, where there is something in them."""
        kept = dict(row._mapping)  # noqa: SLF001 -- SQLAlchemy's own
        return kept | {n: self._move(kept[n]) for n in hashes if kept[n] is not None}

    def _chunk(self, row: Any) -> _Row:
        rules = join_rules(map(self._move, split_rules(row.rules)))
        return self._moved(row, "fingerprint", "document") | {"rules": rules}

    def _finding(self, row: Any) -> _Row:
        known, engine = self._before.read_row(row), row.engine
        if engine[:1] in {LOCAL, MODEL}:
            engine = engine[:1] + self._move(engine[1:])
        moved = FindingRow(
            self._move(row.text[:DOCUMENT_BYTES])
            + self._move(row.text[DOCUMENT_BYTES:]),
            engine,
            frozenset(map(self._move, known.rules)),
            {self._move(rule): spans for rule, spans in known.spans.items()},
            known.from_document,
        )
        return {**self._after.write_row(moved), "seen": row.seen}

    def _form(self, row: Any) -> _Row:
        forms = {
            each: frozenset(map(self._move, rules))
            for each, rules in self._before.read_forms(row).items()
        }
        return self._after.write_forms(self._move(row.document), forms)

    def _shown(self, row: Any) -> _Row:
        facts = self._new.cover_written(self._old.uncover_written(row.facts))
        return self._moved(row, "session", "text", "document") | {"facts": facts}


def _rewrite(
    connection: sa.Connection, table: sa.Table, change: Callable[[Any], _Row]
) -> int:
    """Write the rows of a table aside, and then back into it; say how many."""
    columns = (sa.Column(column.name, column.type) for column in table.c)
    name = f"rotated_{table.name}"
    aside = sa.Table(name, sa.MetaData(), *columns, prefixes=["TEMPORARY"])
    aside.create(connection, checkfirst=False)
    rows, count = sa.select(table).execution_options(yield_per=_AT_ONCE), 0
    for some in connection.execute(rows).partitions():
        connection.execute(aside.insert(), [change(row) for row in some])
        count += len(some)
    connection.execute(table.delete())
    back = table.insert().from_select(table.c.keys(), sa.select(aside))
    connection.execute(back)
    aside.drop(connection, checkfirst=False)
    return count
