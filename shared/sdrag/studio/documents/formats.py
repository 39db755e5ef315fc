"""
Text, JSON and tables: how the bytes of a file become records.

A reader gets all bytes of a file, yields records, and remarks what it leaves out.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from sdrag.errors import require_extra
from sdrag.vocabulary import Confidential, Span

MAX_UNPACKED = 200_000_000
"""The most bytes that a compressed file may unpack to."""

MAX_COLUMNS = 500
"""The most columns of a table that is shown: cells may be written to look like more."""

TEXT_KEYS = ("text", "content", "page_content")
"""What the text of a document is called; the first that is there is taken."""

ID_KEYS = ("id", "doc_id", "id_")
"""What the id of a document is called."""


class UnreadableError(Exception):
    """A file cannot be read; the message says why, without any of its text."""


@contextmanager
def parsing(kind: str) -> Iterator[None]:
    """Raise what a parser raises as `UnreadableError`, without its words."""
    try:
        yield
    except (UnreadableError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 -- parsers of broken files raise anything
        raise UnreadableError(f"is no valid {kind}") from None


@dataclass(frozen=True, slots=True, repr=False)
class Record(Confidential):
    """A document of a file; its id is empty where the file names none."""

    text: str
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Remarks:
    """How many of what is not read of a file, and what about it is a guess."""

    unread: Counter[str] = field(default_factory=Counter)
    guesses: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """Yield what is said after the name of the file, in no word of it."""
        yield from self.guesses
        left = [f"{noun} ({count:,})" for noun, count in self.unread.items() if count]
        if left:
            yield f"is read without {', '.join(left)}"


def read_text(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read a text as it is."""
    yield Record(decode(data, remarks))


def decode(data: bytes, remarks: Remarks) -> str:
    """Decode text: as UTF-8, or as what its first bytes look like."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        with require_extra("documents", "Text that is not UTF-8"):
            from charset_normalizer import from_bytes  # noqa: PLC0415 -- an extra
        best = from_bytes(data[:65_536]).best()
        try:
            text = data.decode(best.encoding if best else "ascii")
        except UnicodeDecodeError:
            raise UnreadableError("is no text") from None
        remarks.guesses.append(f"is not UTF-8; read as {best and best.encoding}")
    if "\0" in text:
        raise UnreadableError("is no text, or UTF-16 without a byte order mark")
    return text.removeprefix("\ufeff")


def read_json(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read an object or a list of them."""
    value = _load(decode(data, remarks))
    for row in value if isinstance(value, list) else [value]:
        yield record_of(row, remarks)


def read_jsonl(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read an object a line."""
    # Not `splitlines`: a string of JSON may hold what Unicode calls a separator.
    lines = io.StringIO(decode(data, remarks), newline=None)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield record_of(_load(line, f"line {number} "), remarks)


def _load(text: str, where: str = "") -> Any:
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UnreadableError(f"{where}holds halves of characters") from None
    except ValueError:
        raise UnreadableError(f"{where}is no valid JSON") from None
    return value


def record_of(row: object, remarks: Remarks) -> Record:
    """Read one document of JSON: by its text, else as JSON again."""
    if isinstance(row, str):
        return Record(row)
    fields = row if isinstance(row, dict) else {}
    text = next((key for key in TEXT_KEYS if isinstance(fields.get(key), str)), None)
    if text is None:
        return Record(json.dumps(row, ensure_ascii=False, indent=1))
    named = next((key for key in ID_KEYS if fields.get(key) is not None), None)
    metadata: Any = fields.get("metadata")
    known = isinstance(metadata, dict)
    used = {text, named, "metadata" if known else None}
    remarks.unread["other keys"] += len(fields.keys() - used)
    identity = "" if named is None else str(fields[named])
    return Record(fields[text], identity, metadata if known else {})


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_csv(
    data: bytes, remarks: Remarks, marks: Iterable[str] = _SEPARATORS
) -> Iterator[Record]:
    """
    Read each row as lines `column: value`; of a lone row its cells.

    `marks`: what may separate the cells.
    """
    text = decode(data, remarks)
    try:
        tables = {mark: _rows(text, mark) for mark in marks}
        mark = max(tables, key=lambda mark: len(next(tables[mark], ())))
        rows = list(_rows(text, mark))
        columns = len(rows[0]) if rows else 0
        if columns < 2:  # nothing is separated
            rows = list(_rows(text, "\x1f"))
    except csv.Error:
        raise UnreadableError("is no valid CSV") from None
    between = f", separated by {_SEPARATORS[mark]}" * (columns > 1)
    remarks.guesses.append(
        f"is a table of {len(rows):,} lines and {columns:,} columns{between}"
    )
    yield from records_of(rows)


def read_tsv(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read each row of a table whose cells are separated by tabs, as of CSV."""
    return read_csv(data, remarks, "\t")


def records_of(rows: Sequence[Sequence[str]], name: str = "") -> Iterator[Record]:
    """Yield the rows of a table below its first; `name` is that of the table."""
    names, *below = rows if len(rows) > 1 else [[], *rows]
    for row in below:
        pairs = zip_longest(names[: len(row)], row, fillvalue="")
        lines = (
            f"{name}: {value}" if name else value for name, value in pairs if value
        )
        yield Record("\n".join(lines), name)


def _rows(text: str, mark: str) -> Iterator[list[str]]:
    return filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark))


def table_of(text: str) -> tuple[list[str], list[dict[str, Span]]]:
    """
    Return the columns of a table as `read_csv` wrote it, and the cells of each row.

    Rows are apart by an empty line; what has no column is in the column "".
    """
    columns: dict[str, None] = {}
    rows, start = [], 0
    for block in text.split("\n\n"):
        cells: dict[str, Span] = {}
        name, begin = "", start
        for line in block.split("\n"):
            head, named, _ = line.partition(": ")
            if head not in columns and len(columns) + len(cells) >= MAX_COLUMNS:
                named = ""
            end = begin + len(line)
            first = begin + len(head) + 2 if named else begin
            if named or name not in cells:
                name = head if named else ""
                if first < end:
                    cells[name] = Span(first, end)
            else:
                cells[name] = Span(cells[name].start, end)
            begin = end + 1
        columns.update(dict.fromkeys(cells))
        rows.append(cells)
        start += len(block) + 2
    return list(columns), rows
