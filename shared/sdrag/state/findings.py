"""
What was found in texts, as found, and the forms of their documents.

A row says what one engine found in one text for some rules: "nothing found" is a row
without spans, "not looked" is no row. No row depends on another text, so none is ever
changed. Names are propagated and spans widened when a text is released. What a binder
found is kept until its document is forgotten, or another local engine reads the text;
of what was met at questions the oldest makes room.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import random
from typing import Any

import sqlalchemy as sa

from sdrag.errors import HostError
from sdrag.state.database import Database, finding, form, insert, rows_among
from sdrag.state.keys import RULE_BYTES, TEXT_BYTES, Keys
from sdrag.state.memo import Memo
from sdrag.state.register import Form, Forms, Register
from sdrag.vocabulary import Span

__all__ = ["LOCAL", "MODEL", "Findings", "Located", "join_rules", "split_rules"]

LOCAL, MODEL = b"L", b"M"
"""What the key of an engine begins with."""

_MOST_MET = 200_000
_EVICTED_AT = 0.01
"""The share of writes that look whether there are more."""
_MOST_REGISTERS = 500


@dataclass(frozen=True, slots=True)
class Located:
    """
    What one engine found in one text.

    Args:
        text: Its key.
        engine: Who looked.
        rules: For what it looked.
        spans: What it found, by the rules.
        whole: It read the whole document, not the text by itself.
        tag: Of the row.
    """

    text: bytes
    engine: bytes
    rules: frozenset[bytes]
    spans: Mapping[bytes, tuple[Span, ...]] = field(default_factory=dict)
    whole: bool = False
    tag: bytes = b""


class Findings:
    """
    What was found, and the forms, in the database of a state.

    Args:
        database: Of the state.
        keys: Of the state.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys
        self._registers: Memo[tuple[bytes, bytes], Register] = Memo(_MOST_REGISTERS)

    def read(self, texts: Iterable[bytes], local: bytes) -> dict[bytes, list[Located]]:
        """
        Return what was found in texts; no rows where nobody has looked.

        Args:
            texts: Their keys.
            local: The local engine as it is today; what another one found is stale.

        Raises:
            HostError: The database failed, or a row is not as it was written.
        """
        found: dict[bytes, list[Located]] = {}
        statement = sa.select(finding).where(
            (finding.c.engine == local)
            | (sa.func.substr(finding.c.engine, 1, 1) != LOCAL)
        )
        with self._database.reading() as connection:
            for row in rows_among(connection, statement, finding.c.text, texts):
                found.setdefault(row.text, []).append(self._located(row))
        return found

    def add(self, rows: Iterable[Located], forms: Mapping[bytes, Forms]) -> None:
        """
        Keep what was found, and the forms by their documents' keys, at once.

        Raises:
            HostError: The database failed; nothing was kept.
        """
        given = [self._row(row) for row in rows]
        known = [
            self._form_row(document, one, rules)
            for document, own in forms.items()
            for one, rules in own.items()
        ]
        if not given and not known:
            return
        with self._database.writing() as connection:
            # The forms of a document are known before any of its texts is.
            for table, values in ((form, known), (finding, given)):
                if values:
                    into = insert(connection, table).on_conflict_do_nothing()
                    connection.execute(into, values)
            if stale := [
                {"t": row["text"], "e": row["engine"]}
                for row in given
                if row["seen"] is None and row["engine"].startswith(LOCAL)
            ]:
                connection.execute(
                    finding.delete().where(
                        finding.c.text == sa.bindparam("t"),
                        finding.c.engine != sa.bindparam("e"),
                        sa.func.substr(finding.c.engine, 1, 1) == LOCAL,
                    ),
                    stale,
                )
            if random() < _EVICTED_AT:  # noqa: S311 -- no secret
                self._evict(connection)

    def registers(self, documents: Iterable[bytes]) -> dict[bytes, Register]:
        """
        Return what is to be known again of documents; an empty one where it is nothing.

        Raises:
            HostError: The database failed, or a row is not as it was written.
        """
        asked = list(dict.fromkeys(documents))
        tags: dict[bytes, list[bytes]] = {document: [] for document in asked}
        forms: dict[bytes, Forms] = {}
        with self._database.reading() as connection:
            listed = sa.select(form.c.document, form.c.tag)
            for document, tag in rows_among(connection, listed, form.c.document, asked):
                tags[document].append(tag)
            stamps = {
                document: self._keys.tag(document, *sorted(own))
                for document, own in tags.items()
            }
            found = {
                document: known
                for document, stamp in stamps.items()
                if (known := self._registers.get((document, stamp))) is not None
            }
            missing = [document for document in asked if document not in found]
            for row in rows_among(
                connection, sa.select(form), form.c.document, missing
            ):
                self._check(row, self._form_row(row.document, _form(row), row.rules))
                known_forms = forms.setdefault(row.document, {})
                known_forms.setdefault(_form(row), set()).update(split_rules(row.rules))
        for document in missing:
            stamp = stamps[document]
            keys = self._keys.of_document(document)
            register = Register(forms.get(document, {}), keys, stamp)
            self._registers.put((document, stamp), register)
            found[document] = register
        return found

    def forget(self, documents: Iterable[bytes]) -> None:
        """
        Forget documents with all that was found in them.

        Raises:
            HostError: The database failed.
        """
        with self._database.writing() as connection:
            for document in documents:
                first = document + b"\0" * TEXT_BYTES
                last = document + b"\xff" * TEXT_BYTES
                connection.execute(
                    finding.delete().where(finding.c.text.between(first, last))
                )
                connection.execute(form.delete().where(form.c.document == document))

    def _row(self, row: Located) -> dict[str, Any]:
        rules = sorted(row.rules)
        hiding: dict[Span, list[int]] = {}
        for index, rule in enumerate(rules):
            for span in row.spans.get(rule, ()):
                hiding.setdefault(span, []).append(index)
        spans = json.dumps(
            sorted([s.start, s.end, *own] for s, own in hiding.items()),
            separators=(",", ":"),
        )
        values: dict[str, Any] = {
            "text": row.text,
            "engine": row.engine,
            "rules": join_rules(rules),
            "spans": spans,
            "seen": None if row.whole else time.time(),
        }
        return {**values, "tag": self._tag(values)}

    def _tag(self, row: Mapping[str, Any]) -> bytes:
        whole = b"whole" if row["seen"] is None else b""
        return self._keys.tag(
            row["text"], row["engine"], row["rules"], row["spans"].encode(), whole
        )

    def _located(self, row: Any) -> Located:
        if row.tag != self._tag(row._mapping):  # noqa: SLF001 -- SQLAlchemy's own
            raise _changed()
        rules = split_rules(row.rules)
        spans: dict[bytes, list[Span]] = {}
        for start, end, *own in json.loads(row.spans):
            for index in own:
                spans.setdefault(rules[index], []).append(Span(start, end))
        found = {rule: tuple(own) for rule, own in spans.items()}
        whole = row.seen is None
        return Located(row.text, row.engine, frozenset(rules), found, whole, row.tag)

    def _form_row(
        self, document: bytes, one: Form, rules: Iterable[bytes] | bytes
    ) -> dict[str, Any]:
        joined = rules if isinstance(rules, bytes) else join_rules(rules)
        numbers = f"{one.length} {one.words}".encode()
        tag = self._keys.tag(document, one.digest, numbers, joined)
        return {"document": document, "tag": tag, **one._asdict(), "rules": joined}

    def _check(self, row: Any, expected: Mapping[str, Any]) -> None:
        if row.tag != expected["tag"]:
            raise _changed()

    def _evict(self, connection: sa.Connection) -> None:
        """Forget the oldest of what was met at questions."""
        newest = sa.select(finding.c.seen).where(finding.c.seen.is_not(None))
        last = newest.order_by(finding.c.seen.desc()).offset(_MOST_MET).limit(1)
        if (seen := connection.scalar(last)) is not None:
            connection.execute(finding.delete().where(finding.c.seen <= seen))


def join_rules(rules: Iterable[bytes]) -> bytes:
    """Write the keys of rules down, one after the other, sorted."""
    return b"".join(sorted(rules))


def split_rules(joined: bytes) -> list[bytes]:
    """Read the keys of rules."""
    starts = range(0, len(joined), RULE_BYTES)
    return [joined[start : start + RULE_BYTES] for start in starts]


def _form(row: Any) -> Form:
    return Form(row.digest, row.length, row.words)


def _changed() -> HostError:
    return HostError(
        "A row of the state is not as sdrag wrote it.",
        hint="Restore the database from a backup, or forget the document and bind it.",
    )
