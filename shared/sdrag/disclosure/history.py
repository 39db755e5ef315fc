"""
What was withheld before, so that it is never shown later.

A chunk is redacted beside its neighbours, and two questions may cut different stretches
out of it: what one shows of what the other withholds is given away by subtraction. The
history keeps, for each text and constraint, every stretch that was ever withheld, as
offsets under keyed hashes. No text stands in it, and no bare hash of one.

Nothing is dropped to make room: what is forgotten would be shown again, and whoever
asks enough questions could bring it about. Its size is bounded by the index, not by the
questions. A history that is full refuses, and what cannot be remembered is withheld.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, Self, runtime_checkable

from sdrag.arguments import require
from sdrag.cache import keyed, secret_at
from sdrag.errors import HostError, UsageError
from sdrag.spans import merge
from sdrag.sqlite import MEMORY, Database
from sdrag.vocabulary import Constraint, Passage, Span

__all__ = ["History", "Kept", "MemoryHistory", "Spans", "SqliteHistory", "open_history"]

Spans = Mapping[str, tuple[Span, ...]]
"""Stretches of a text, by the id of the constraint that withholds them."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS withheld (
    text BLOB NOT NULL, rule BLOB NOT NULL, chunk BLOB NOT NULL, spans TEXT NOT NULL,
    PRIMARY KEY (text, rule)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS withheld_by_chunk ON withheld (chunk);
CREATE TABLE IF NOT EXISTS size (held INTEGER NOT NULL);
INSERT INTO size SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM size);
CREATE TRIGGER IF NOT EXISTS grown AFTER INSERT ON withheld
    BEGIN UPDATE size SET held = held + 1; END;
CREATE TRIGGER IF NOT EXISTS shrunk AFTER DELETE ON withheld
    BEGIN UPDATE size SET held = held - 1; END;
"""
_UPSERT = (
    "INSERT INTO withheld VALUES (?, ?, ?, ?)"
    " ON CONFLICT (text, rule) DO UPDATE SET spans = excluded.spans"
)


@runtime_checkable
class History(Protocol):
    """Where it is kept what was withheld."""

    def read(
        self, texts: Sequence[Passage], rules: Sequence[Constraint]
    ) -> list[dict[str, tuple[Span, ...]]]:
        """Return, for each text as it reads today, what each rule withheld of it."""
        ...

    def add(
        self,
        texts: Sequence[Passage],
        rules: Sequence[Constraint],
        spans: Sequence[Spans],
    ) -> list[dict[str, tuple[Span, ...]]]:
        """Keep what is withheld, and return all that is, as of one moment."""
        ...

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Forget passages that left the index."""
        ...


Kept = History | str | Path | None
"""A history, the path of one, or nothing: then one in memory, where one is needed."""


class SqliteHistory:
    """
    A history in an SQLite database, safe with several threads and processes.

    The key of the hashes lies in a file of its own beside the database.

    Args:
        path: The database; made when it is missing, readable by its owner only.
        entries: How many pairs of a text and a constraint are kept at most.
    """

    def __init__(self, path: str | Path, entries: int = 10_000_000) -> None:
        if entries < 1:
            raise UsageError("A history holds at least one entry.")
        self._path, self._entries = str(path), entries
        self._secret = (
            secrets.token_bytes(32)
            if self._path == MEMORY
            else secret_at(Path(f"{self._path}.key"))
        )
        self._database = Database(self._path, _SCHEMA, name="history")

    def read(
        self, texts: Sequence[Passage], rules: Sequence[Constraint]
    ) -> list[dict[str, tuple[Span, ...]]]:
        """Return what was withheld; see `History.read`."""
        names = self._names(rules)
        with self._database.transaction() as connection:
            connection.execute("BEGIN")  # all texts of one moment
            return [self._known(connection, text, names) for text in texts]

    def add(
        self,
        texts: Sequence[Passage],
        rules: Sequence[Constraint],
        spans: Sequence[Spans],
    ) -> list[dict[str, tuple[Span, ...]]]:
        """
        Keep what is withheld, and return all that is; see `History.add`.

        Raises:
            HostError: The history is full.
        """
        names = self._names(rules)
        with self._database.transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")  # two writers wait, none fails
            known = [self._known(connection, text, names) for text in texts]
            pairs = zip(known, spans, strict=True)
            united = [_united(before, given) for before, given in pairs]
            for text, before, after in zip(texts, known, united, strict=True):
                if before != after:
                    self._write(connection, text, names, after)
            (held,) = connection.execute("SELECT held FROM size").fetchone()
            if held > self._entries:
                connection.rollback()
                raise HostError(
                    f"The history holds no more than {self._entries} entries.",
                    hint="Raise its limit above chunks times constraints.",
                )
        return united

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Forget passages; see `History.forget`."""
        chunks = [(self._key(name),) for name in passage_ids]
        with self._database.transaction() as connection:
            connection.executemany("DELETE FROM withheld WHERE chunk = ?", chunks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._entries})"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle as the path: every process opens its own connections."""
        return {"path": self._path, "entries": self._entries}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(state["path"], state["entries"])  # type: ignore[misc]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def _known(
        self,
        connection: sqlite3.Connection,
        text: Passage,
        names: Mapping[bytes, str],
    ) -> dict[str, tuple[Span, ...]]:
        rows = connection.execute(
            "SELECT rule, spans FROM withheld WHERE text = ?",
            (self._key(text.id, text.text),),
        )
        return {
            names[rule]: tuple(Span(*pair) for pair in json.loads(spans))
            for rule, spans in rows
            if rule in names
        }

    def _write(
        self,
        connection: sqlite3.Connection,
        text: Passage,
        names: Mapping[bytes, str],
        spans: Spans,
    ) -> None:
        key, chunk = self._key(text.id, text.text), self._key(text.id)
        connection.executemany(
            _UPSERT,
            [
                (key, rule, chunk, json.dumps([(s.start, s.end) for s in spans[name]]))
                for rule, name in names.items()
                if spans.get(name)
            ],
        )

    def _names(self, rules: Sequence[Constraint]) -> dict[bytes, str]:
        return {self._key("rule", rule.id, rule.text): rule.id for rule in rules}

    def _key(self, *parts: str) -> bytes:
        return keyed(self._secret, parts)


class MemoryHistory(SqliteHistory):
    """
    A history that lives as long as the object.

    Args:
        entries: How many pairs of a text and a constraint are kept at most.
    """

    def __init__(self, entries: int = 1_000_000) -> None:
        super().__init__(MEMORY, entries)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be pickled: an empty one elsewhere would show what is hidden."""
        raise UsageError(
            "A history in memory cannot be shared with another process.",
            hint="Pass the path of one.",
        )


def open_history(where: History | str | Path) -> History:
    """
    Return the history itself, or the one at a path.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(where, (str, Path)):
        return SqliteHistory(where)
    require(where, History, "history of what was withheld")
    return where


def _united(before: Spans, given: Spans) -> dict[str, tuple[Span, ...]]:
    return {
        name: merge([*before.get(name, ()), *given.get(name, ())])
        for name in before.keys() | given.keys()
    }
