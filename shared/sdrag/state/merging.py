"""
Merging: what several workers wrote, each into a state of its own, as one state.

The states have one key and one schema, and their workers had one policy. Merging only
adds, so the order does not matter, and a state that was merged may be merged again:

- A constraint keeps its N best chunks of all states, which are among the N best of the
  states they come from. So the result is that of one worker over the whole corpus.
- A register knows what any of them knows. Spans are united, and those that were closed
  under less than the whole register count as behind, so a question closes them again.
- Where states hold a chunk in different words, the words with the greater fingerprint
  stay: nobody knows which are newer, and all others count as never bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from sdrag.engine.batches import batched
from sdrag.errors import UsageError
from sdrag.state.bindings import keep_best
from sdrag.state.database import Connection, Database, replacing
from sdrag.state.entries import Entries, Hashes
from sdrag.state.keys import DOCUMENT_BYTES, TEXT_BYTES
from sdrag.state.opening import State
from sdrag.state.register import Register
from sdrag.state.rulesets import Rulesets
from sdrag.state.span_bytes import ClosedSpans

__all__ = ["merge_states"]

_BATCH = 1000
_TARGET = 0
"""The place of the state that is written among all that are read."""
_Row = tuple[Any, ...]


def merge_states(
    into: State, shards: Sequence[State], *, top_n: int, floor: float
) -> None:
    """
    Add to a state all that other states hold.

    Args:
        into: A state, new or not; it is written in one transaction.
        shards: States with the same key; they are only read.
        top_n: How many chunks a constraint keeps: `disclosure.bind_top_n`.
        floor: Chunks at least so similar are kept too: `disclosure.similarity_floor`.

    Raises:
        UsageError: A key is another one, or a state has no database of sdrag's.
        HostError: A database failed; nothing was written.
    """
    for shard in shards:
        if shard.name != into.name:
            raise UsageError(
                "A state has another key than the one it is merged into.",
                hint="Have all workers open theirs with the same key file.",
            )
    databases = [_database(shard) for shard in shards]
    with ExitStack() as stack:
        sources = [stack.enter_context(one.reading()) for one in databases]
        target = stack.enter_context(_database(into).writing())
        merging = _Merging(target, [target, *sources], into)
        merging.copy("ruleset", "id, rules")
        merging.chunks()
        merging.bindings(top_n, floor)
        merging.copy("source", "summary, passage, fingerprint")
        current = merging.registers()
        merging.findings("bound", current)
        merging.findings("met", current)


def _database(state: State) -> Database:
    if state.database is None:
        raise UsageError("A state of a host's own stores cannot be merged.")
    return state.database


@dataclass(frozen=True, slots=True)
class _Document:
    """
    The register of a document, merged.

    Args:
        version: Its version now.
        complete: Its version in each state whose register knew as much, by the state.
    """

    version: int
    complete: Mapping[int, int]


class _Merging:
    """
    One merge.

    Args:
        target: What is written.
        every: All that is read: the target first, then the shards.
        state: Of the target.
    """

    def __init__(
        self, target: Connection, every: Sequence[Connection], state: State
    ) -> None:
        self._target, self._every = target, every
        self._keys, self._hashes = state.keys, state.hashes
        self._rulesets = Rulesets(self._keys)
        self._gone: list[set[str]] = []

    def copy(self, table: str, columns: str) -> None:
        """Add rows that are the same wherever they are."""
        marks = ", ".join("?" * len(columns.split(", ")))
        self._write(
            f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING",  # noqa: S608 -- the names stand above
            self._of_shards(table, columns),
        )

    def chunks(self) -> None:
        """Add chunks, each with all rules that it was compared with anywhere."""
        known: dict[str, tuple[bytes, set[bytes]]] = {}
        held: list[dict[str, bytes]] = []
        for connection in self._every:
            rows = list(_rows(connection, "passage", "id, fingerprint, ruleset"))
            lists = self._rulesets.read(connection, {ruleset for *_, ruleset in rows})
            held.append({name: words for name, words, _ in rows})
            for name, words, ruleset in rows:
                rules = lists.get(ruleset, ())
                before, others = known.setdefault(name, (words, set()))
                if words > before:
                    known[name] = words, set(rules)
                elif words == before:
                    others.update(rules)
        self._gone = [
            {name for name, words in own.items() if known[name][0] != words}
            for own in held
        ]
        rulesets = self._rulesets.write(
            self._target, [sorted(rules) for _, rules in known.values()]
        )
        self._write(
            replacing("passage", "id", "fingerprint, ruleset"),
            (
                (name, words, ruleset)
                for (name, (words, _)), ruleset in zip(
                    known.items(), rulesets, strict=True
                )
            ),
        )

    def bindings(self, top_n: int, floor: float) -> None:
        """Add bindings of the words that stay, and keep each rule's best of them."""
        best: dict[tuple[bytes, str], float] = {}
        for connection, gone in zip(self._every, self._gone, strict=True):
            for rule, name, score in _rows(
                connection, "binding", "rule, passage, score"
            ):
                if name not in gone:
                    best[rule, name] = max(score, best.get((rule, name), score))
        self._write(
            "DELETE FROM binding WHERE passage = ?",
            ((name,) for name in self._gone[_TARGET]),
        )
        self._write(
            replacing("binding", "rule, passage", "score"),
            ((*key, score) for key, score in best.items()),
        )
        rules = {rule for rule, _ in best}
        keep_best(self._target, sorted(rules), top_n=top_n, floor=floor)

    def registers(self) -> dict[bytes, _Document]:
        """Unite the registers, and tell which states knew all that is known now."""
        known: dict[bytes, list[tuple[int, Register]]] = {}
        for index, connection in enumerate(self._every):
            for document, version, forms in _rows(
                connection, "register", "document, version, forms"
            ):
                register = Register.read(forms, self._hashes, version)
                known.setdefault(document, []).append((index, register))
        merged = {
            document: _united(registers, self._hashes)
            for document, registers in known.items()
        }
        self._write(
            replacing("register", "document", "version, forms"),
            (
                (document, register.version, register.written())
                for document, (register, _) in merged.items()
            ),
        )
        return {document: current for document, (_, current) in merged.items()}

    def findings(self, table: str, documents: Mapping[bytes, _Document]) -> None:
        """Add what was located; what was closed under less is behind now."""
        for document, known in documents.items():
            self._target.execute(*_renewed(table, document, known))
        write = replacing(table, "text, engine, ruleset", "version, spans")
        for index, connection in enumerate(self._every[1:], start=1):
            rows = _rows(connection, table, "text, engine, ruleset, version, spans")
            self._write(write, (self._added(table, r, documents, index) for r in rows))

    def _added(
        self,
        table: str,
        row: _Row,
        documents: Mapping[bytes, _Document],
        index: int,
    ) -> _Row:
        """Return a row of a shard, united with the target's own."""
        text, engine, ruleset, version, spans = row
        document = documents.get(text[:DOCUMENT_BYTES])
        if document is not None:
            is_current = document.complete.get(index) == version
            version = document.version if is_current else 0
        own = self._target.execute(
            f"SELECT version, spans FROM {table}"  # noqa: S608 -- one of two tables
            " WHERE text = ? AND engine = ? AND ruleset = ?",
            (text, engine, ruleset),
        ).fetchone()
        if own is not None:
            version = max(version, own[0])
            if own[1] != spans:
                rules = self._rulesets.read(self._target, [ruleset])[ruleset]
                ours, theirs = (
                    ClosedSpans.read(one, rules, {}) for one in (own[1], spans)
                )
                spans = ours.united(theirs).written(rules)
        return text, engine, ruleset, version, spans

    def _of_shards(self, table: str, columns: str) -> Iterator[_Row]:
        for connection in self._every[1:]:
            yield from _rows(connection, table, columns)

    def _write(self, statement: str, rows: Iterable[_Row]) -> None:
        """Run a statement for rows, some at a time: they may read as they are made."""
        for some in batched(rows, _BATCH):
            self._target.executemany(statement, some)


def _rows(connection: Connection, table: str, columns: str) -> Iterator[_Row]:
    yield from connection.execute(f"SELECT {columns} FROM {table}")  # noqa: S608 -- names of ours


def _united(
    registers: Sequence[tuple[int, Register]], hashes: Hashes
) -> tuple[Register, _Document]:
    """Unite the registers that states have of a document."""
    entries = Entries()
    for _, register in registers:
        entries.add(register.entries)
    complete = {
        index: register.version
        for index, register in registers
        if register.entries == entries
    }
    version = max(register.version for _, register in registers)
    if any(r.version == version and i not in complete for i, r in registers):
        version += 1  # what this number stood for was less
    return Register(entries, hashes, version), _Document(version, complete)


def _renewed(
    table: str, document: bytes, known: _Document
) -> tuple[str, tuple[Any, ...]]:
    """Return what has the target's own rows say whether they are behind."""
    texts = (document + b"\0" * TEXT_BYTES, document + b"\xff" * TEXT_BYTES)
    change = f"UPDATE {table} SET version = ? WHERE text BETWEEN ? AND ?"  # noqa: S608 -- one of two tables
    if _TARGET in known.complete:
        return f"{change} AND version = ?", (
            known.version,
            *texts,
            known.complete[_TARGET],
        )
    return change, (0, *texts)
