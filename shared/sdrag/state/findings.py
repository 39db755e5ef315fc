"""
What was located in texts, and the registers of their documents.

A row says what one engine found in one text for one list of rules: "nothing found" is
a row without spans, "not looked" is no row. The spans are closed, so a question only
splices them. What a binder located is kept until its document is forgotten; what was
met at a question is bounded, and gives way to what a binder locates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sdrag.state.database import Connection, Database, among, replacing
from sdrag.state.entries import Entries, Hashes
from sdrag.state.keys import DOCUMENT_BYTES, TEXT_BYTES, Keys
from sdrag.state.register import Register
from sdrag.state.rulesets import Rulesets
from sdrag.state.span_bytes import ClosedSpans, Groups, Lists

__all__ = ["LOCAL", "MODEL", "Findings", "Known", "Located"]

LOCAL, MODEL = b"L", b"M"
"""What the key of an engine begins with."""

_MOST_MET = 200_000
_MOST_LISTS = 10_000
_Row = tuple[bytes, bytes, bytes, int, bytes]
"""Text, engine, list of rules, version of the register, spans."""

_READ = (
    "SELECT text, engine, ruleset, version, spans FROM bound WHERE text IN",
    "SELECT text, engine, ruleset, version, spans FROM met WHERE text IN",
)
_BIND = replacing("bound", "text, engine, ruleset", "version, spans")
_REGISTER = replacing("register", "document", "version, forms")
_CATCH_UP = tuple(
    f"UPDATE {table} SET version = ?, spans = ? WHERE text = ? AND engine = ?"  # noqa: S608 -- the names stand here
    " AND ruleset = ? AND version < ?"
    for table in ("bound", "met")
)
_FORGET_DOCUMENT = (
    "DELETE FROM bound WHERE text BETWEEN ? AND ?",
    "DELETE FROM met WHERE text BETWEEN ? AND ?",
)


@dataclass(frozen=True, slots=True)
class Located:
    """
    What one engine found in one text.

    Args:
        text: Its key.
        engine: Who looked.
        rules: For what it looked.
        spans: What is cut, by the rules that cut it.
        version: Of the register that the spans are closed under.
    """

    text: bytes
    engine: bytes
    rules: tuple[bytes, ...]
    spans: ClosedSpans
    version: int


@dataclass(slots=True)
class Known:
    """
    All that is known of one text.

    Args:
        looked: The rules that each engine looked for.
        bound: Those of them that it looked for in the whole document.
        version: The oldest register version among the rows.
        rows: What each engine found.
    """

    looked: dict[bytes, set[bytes]] = field(default_factory=dict)
    bound: dict[bytes, set[bytes]] = field(default_factory=dict)
    version: int | None = None
    rows: list[Located] = field(default_factory=list)

    @property
    def groups(self) -> Groups:
        """What is cut, by lists of rules, of all rows."""
        return tuple(group for row in self.rows for group in row.spans.groups)

    def is_behind(self, version: int) -> bool:
        """Say whether some row is closed under an older register."""
        return self.version is not None and self.version < version

    def add(self, row: Located, *, whole: bool) -> None:
        """Unite with what another row says."""
        self.rows.append(row)
        self.looked.setdefault(row.engine, set()).update(row.rules)
        if whole:
            self.bound.setdefault(row.engine, set()).update(row.rules)
        if self.version is None or row.version < self.version:
            self.version = row.version


class Findings:
    """
    What was located in texts, and the registers of their documents.

    Args:
        database: Of the state.
        keys: Of the state.
        hashes: Of the state.
    """

    def __init__(self, database: Database, keys: Keys, hashes: Hashes) -> None:
        self._database = database
        self._hashes = hashes
        self._rulesets = Rulesets(keys)
        self._written: dict[bytes, Lists] = {}

    def read(
        self, texts: Iterable[bytes], local: bytes
    ) -> tuple[dict[bytes, Known], dict[bytes, int]]:
        """
        Return what is known of texts, and the versions of their registers.

        Args:
            texts: Their keys.
            local: The local engine as it is today; what another one found is stale.
        """
        asked = dict.fromkeys(texts)
        documents = dict.fromkeys(text[:DOCUMENT_BYTES] for text in asked)
        known: dict[bytes, Known] = {}
        with self._database.reading() as connection:
            rows: list[tuple[_Row, bool]] = [
                (row, whole)
                for statement, whole in zip(_READ, (True, False), strict=True)
                for row in among(connection, statement, asked)
                if row[1] == local or not row[1].startswith(LOCAL)
            ]
            lists = self._rulesets.read(connection, {row[2] for row, _ in rows})
            versions: dict[bytes, int] = dict(
                among(
                    connection,
                    "SELECT document, version FROM register WHERE document IN",
                    documents,
                )
            )
        for row, whole in rows:
            if row[2] in lists:
                located = self._located(row, lists[row[2]])
                known.setdefault(row[0], Known()).add(located, whole=whole)
        return known, versions

    def write(self, rows: Iterable[Located], *, whole: bool) -> None:
        """Keep rows; `whole` says that their documents were read as a whole."""
        with self._database.writing() as connection:
            given = self._rows(connection, rows)
            if whole:
                connection.executemany(_BIND, given)
                connection.executemany(
                    "DELETE FROM met WHERE text = ? AND engine = ?",
                    [row[:2] for row in given],
                )
                connection.executemany(
                    "DELETE FROM bound WHERE text = ? AND engine <> ?"
                    " AND substr(engine, 1, 1) = ?",
                    [(*row[:2], LOCAL) for row in given if row[1].startswith(LOCAL)],
                )
                return
            last = {row[:3]: row for row in given}
            connection.executemany(
                "DELETE FROM met WHERE text = ? AND engine = ? AND ruleset = ?", last
            )
            connection.executemany(
                "INSERT INTO met (text, engine, ruleset, version, spans)"
                " VALUES (?, ?, ?, ?, ?)",
                last.values(),
            )
            connection.execute(
                "DELETE FROM met WHERE place <= (SELECT max(place) FROM met) - ?",
                (_MOST_MET,),
            )

    def catch_up(self, rows: Iterable[Located]) -> None:
        """Write rows that were closed under a later register back where they are."""
        with self._database.writing() as connection:
            later = [
                (version, spans, text, engine, ruleset, version)
                for text, engine, ruleset, version, spans in self._rows(
                    connection, rows
                )
            ]
            for statement in _CATCH_UP:
                connection.executemany(statement, later)

    def register(self, documents: Iterable[bytes]) -> dict[bytes, Register]:
        """Return the registers of documents; an empty one where none is kept."""
        with self._database.reading() as connection:
            return self._registers(connection, documents)

    def grow(self, entries: Mapping[bytes, Entries]) -> dict[bytes, Register]:
        """Add to the registers of documents, and return them as they are then."""
        with self._database.writing() as connection:
            before = self._registers(connection, entries)
            after = {
                document: before[document].united(more)
                for document, more in entries.items()
            }
            connection.executemany(
                _REGISTER,
                [
                    (document, register.version, register.written())
                    for document, register in after.items()
                    if register is not before[document]
                ],
            )
        return after

    def forget(self, documents: Iterable[bytes]) -> None:
        """Forget documents with all that was located in them."""
        given = list(documents)
        texts = [
            (document + b"\0" * TEXT_BYTES, document + b"\xff" * TEXT_BYTES)
            for document in given
        ]
        with self._database.writing() as connection:
            for statement in _FORGET_DOCUMENT:
                connection.executemany(statement, texts)
            connection.executemany(
                "DELETE FROM register WHERE document = ?",
                [(document,) for document in given],
            )

    def _registers(
        self, connection: Connection, documents: Iterable[bytes]
    ) -> dict[bytes, Register]:
        empty = Register(Entries(), self._hashes)
        found = dict.fromkeys(documents, empty)
        for document, version, forms in among(
            connection,
            "SELECT document, version, forms FROM register WHERE document IN",
            list(found),
        ):
            found[document] = Register.read(forms, self._hashes, version)
        return found

    def _located(self, row: _Row, rules: tuple[bytes, ...]) -> Located:
        text, engine, ruleset, version, spans = row
        return Located(
            text,
            engine,
            rules,
            ClosedSpans.read(spans, rules, self._known(ruleset)),
            version,
        )

    def _rows(self, connection: Connection, given: Iterable[Located]) -> list[_Row]:
        """Make rows, once their lists of rules are kept."""
        rows = list(given)
        rulesets = self._rulesets.write(connection, [row.rules for row in rows])
        return [
            (row.text, row.engine, ruleset, row.version, row.spans.written(row.rules))
            for row, ruleset in zip(rows, rulesets, strict=True)
        ]

    def _known(self, ruleset: bytes) -> Lists:
        """Return the lists that were read of a ruleset; they are few, but bounded."""
        known = self._written.setdefault(ruleset, {})
        if len(known) > _MOST_LISTS:
            self._written[ruleset] = known = {}
        return known
