"""
What was found in texts, as found, and the forms of their documents.

A row of `finding` says what one engine found in one text for some rules: "nothing
found" is a row without spans, "not looked" is no row. No row depends on another text,
so none is ever changed. A row of `form` holds all that is to be known again of one
document, and only grows. Names are propagated and spans widened when a text is
released. What a binder found is kept until its document is forgotten, or another local
engine reads the text; of what was met at questions the oldest makes room.

A text whose row is gone is one that nobody has read, and is read again. A document
whose forms are gone, and of which a text was read or a chunk says that it was, is
refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from sdrag.memo import Memo
from sdrag.state.database import Database
from sdrag.state.keys import (
    DOCUMENT_BYTES,
    TEXT_BYTES,
    Keys,
    join_rules,
    split_rules,
)
from sdrag.state.register import Forms, Register, read_forms, write_forms
from sdrag.state.statements import among, evict, may_evict, rows_among, upsert
from sdrag.state.tables import binding, changed_row, chunk, finding, form, value
from sdrag.vocabulary import Span

LOCAL, MODEL = b"L", b"M"
"""What the key of an engine begins with."""

_MOST_MET = 200_000
_MOST_REGISTERS = 500
_MOST_ROWS = 2_000
_OF_TEXTS = among(
    sa.select(finding).where(
        (finding.c.engine == sa.bindparam("local"))
        | (sa.func.substr(finding.c.engine, 1, 1) != LOCAL)
    ),
    finding.c.text,
)
_TAGS = among(sa.select(form.c.document, form.c.tag), form.c.document)
_FORMS = among(sa.select(form), form.c.document)
_BOUND = among(sa.select(chunk.c.document).limit(1), chunk.c.document)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """
    What one engine found in one text, by its key.

    Args:
        rules: For what it looked.
        spans: What it found, by the rules.
        from_document: It read the whole document, not the text by itself.
    """

    text: bytes
    engine: bytes
    rules: frozenset[bytes]
    spans: Mapping[bytes, tuple[Span, ...]] = field(default_factory=dict)
    from_document: bool = False
    tag: bytes = b""


class Findings:
    """
    What was found, and the forms, in the database of a state.

    `HostError` says that it failed, or that a row is not as it was written.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys
        self._registers: Memo[tuple[bytes, bytes], Register] = Memo(_MOST_REGISTERS)
        self._rows: Memo[bytes, FindingRow] = Memo(_MOST_ROWS)

    def read(
        self, texts: Collection[bytes], local: bytes
    ) -> tuple[dict[bytes, list[FindingRow]], dict[bytes, bytes]]:
        """
        Return what was found in texts, by their keys; no rows where nobody has looked.

        Args:
            texts: Their keys.
            local: The local engine as it is today; what another one found is stale.

        Returns:
            The rows, and the tags of the forms of the texts' documents.
        """
        located: dict[bytes, list[FindingRow]] = {}
        with self._database.reading() as connection:
            for row in rows_among(connection, _OF_TEXTS, texts, local=local):
                located.setdefault(row.text, []).append(self.read_row(row))
            asked = {text[:DOCUMENT_BYTES] for text in texts}
            tags = dict(rows_among(connection, _TAGS, asked))
            gone = asked - tags.keys()
            if not gone.isdisjoint(text[:DOCUMENT_BYTES] for text in located) or any(
                rows_among(connection, _BOUND, gone)
            ):
                raise changed_row()
        return located, tags

    def add(self, rows: Iterable[FindingRow], forms: Mapping[bytes, Forms]) -> None:
        """Keep what was found, and the forms by their documents' keys, at once."""
        given = [self.write_row(row) for row in rows]
        documents = {row["text"][:DOCUMENT_BYTES] for row in given} | forms.keys()
        if not documents:
            return
        with self._database.writing() as connection:
            known = self._forms(connection, documents)
            grown = [
                self.write_forms(document, merged)
                for document in documents
                if (merged := _merge(known.get(document), forms.get(document)))
                != known.get(document)
            ]
            upsert(connection, form, grown)
            upsert(connection, finding, given)
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
            if may_evict():  # what was met at questions
                evict(connection, finding.c.seen, _MOST_MET)

    def registers(
        self, documents: Collection[bytes], tags: Mapping[bytes, bytes] | None = None
    ) -> dict[bytes, Register]:
        """
        Return what is to be known again of documents, which may be nothing.

        `tags`: of their forms, where they were just read.
        """
        if tags is not None and len(known := self._known_registers(tags)) == len(
            {*documents}
        ):
            return known
        with self._database.reading() as connection:
            tags = dict(rows_among(connection, _TAGS, documents))
            registers = self._known_registers(tags)
            read = self._forms(connection, tags.keys() - registers.keys())
        for document in {*documents} - registers.keys():
            keys, tag = self._keys.of_document(document), tags.get(document, b"")
            registers[document] = Register(read.get(document, {}), keys, tag)
            self._registers.put((document, tag), registers[document])
        return registers

    def _known_registers(self, tags: Mapping[bytes, bytes]) -> dict[bytes, Register]:
        known = ((pair[0], self._registers.get(pair)) for pair in tags.items())
        return {document: register for document, register in known if register}

    def forget(self, documents: Iterable[bytes]) -> None:
        """Forget documents, what was found in them, and that chunks were bound."""
        with self._database.writing() as connection:
            for document in documents:
                first = document + b"\0" * TEXT_BYTES
                last = document + b"\xff" * TEXT_BYTES
                connection.execute(
                    finding.delete().where(finding.c.text.between(first, last))
                )
                for table in (form, value):
                    of_it = table.c.document == document
                    connection.execute(table.delete().where(of_it))
                read = chunk.c.document == document
                ids = sa.select(chunk.c.id).where(read)
                connection.execute(binding.delete().where(binding.c.chunk.in_(ids)))
                connection.execute(chunk.delete().where(read))

    def _forms(
        self, connection: sa.Connection, documents: Iterable[bytes]
    ) -> dict[bytes, Forms]:
        rows = rows_among(connection, _FORMS, documents)
        return {row.document: self.read_forms(row) for row in rows}

    def read_forms(self, row: Any) -> Forms:
        """Read a row of `form`, and refuse one that was changed."""
        if row.tag != self._keys.tag(row.document, row.forms.encode()):
            raise changed_row()
        return read_forms(row.forms, self._keys.uncover_written)

    def write_forms(self, document: bytes, forms: Forms) -> dict[str, Any]:
        """Write down a row of `form`."""
        written = write_forms(forms, self._keys.cover_written)
        tag = self._keys.tag(document, written.encode())
        return {"document": document, "tag": tag, "forms": written}

    def write_row(self, row: FindingRow) -> dict[str, Any]:
        """Write down a row of `finding` that is seen now."""
        rules = sorted(row.rules)
        hiding: dict[Span, list[int]] = {}
        for index, rule in enumerate(rules):
            for span in row.spans.get(rule, ()):
                hiding.setdefault(span, []).append(index)
        spans = json.dumps(
            sorted([s.start, s.end, *indices] for s, indices in hiding.items()),
            separators=(",", ":"),
        )
        values: dict[str, Any] = {
            "text": row.text,
            "engine": row.engine,
            "rules": join_rules(rules),
            "spans": spans,
            "seen": None if row.from_document else time.time(),
        }
        return {**values, "tag": self._tag(values)}

    def _tag(self, row: Mapping[str, Any]) -> bytes:
        whole = b"whole" if row["seen"] is None else b""
        return self._keys.tag(
            row["text"], row["engine"], row["rules"], row["spans"].encode(), whole
        )

    def read_row(self, row: Any) -> FindingRow:
        """Read a row of `finding`, and refuse one that was changed."""
        if row.tag != self._tag(row._mapping):  # noqa: SLF001 -- SQLAlchemy's own
            raise changed_row()
        if (known := self._rows.get(row.tag)) is None:
            rules = split_rules(row.rules)
            spans, whole = _read_spans(rules, row.spans), row.seen is None
            found = frozenset(rules)
            known = FindingRow(row.text, row.engine, found, spans, whole, row.tag)
            self._rows.put(row.tag, known)
        return known


def _read_spans(rules: Sequence[bytes], written: str) -> dict[bytes, tuple[Span, ...]]:
    spans: dict[bytes, list[Span]] = {}
    for start, end, *indices in json.loads(written):
        for index in indices:
            spans.setdefault(rules[index], []).append(Span(start, end))
    return {rule: tuple(each) for rule, each in spans.items()}


def _merge(known: Forms | None, added: Forms | None) -> Forms:
    merged = dict(known or {})
    for item, rules in (added or {}).items():
        merged[item] = merged.get(item, frozenset()) | rules
    return merged
