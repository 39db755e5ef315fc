"""
The formats of documents: for each suffix, how its bytes become texts.

A reader gets all bytes of a file, yields records, and remarks what it leaves out. Where
a library is needed, it is the format's own: pypdf, python-docx, Beautiful Soup, from
the extra `documents`, and pyarrow, from the extra `parquet`.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

from sdrag.documents.content import (
    ID_KEYS,
    MAX_UNPACKED,
    TEXT_KEYS,
    Record,
    Remarks,
    UnreadableError,
)
from sdrag.documents.markup import html_text, word_text
from sdrag.documents.parquet import parquet_rows
from sdrag.errors import require_extra

__all__ = ["READERS", "SUFFIXES", "TEXT_KEYS", "UnreadableError"]

Reader = Callable[[bytes, Remarks], Iterator[Record]]

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks; those of UTF-32 begin with those of UTF-16, so they come first."""


def _text(data: bytes, remarks: Remarks) -> Iterator[Record]:
    yield Record(_decoded(data, remarks))


def _decoded(data: bytes, remarks: Remarks) -> str:
    """Decode text: by its byte order mark, as UTF-8, or as what it looks like."""
    encoding = next(
        (name for mark, name in _MARKS.items() if data.startswith(mark)), ""
    )
    if not encoding and b"\0" in data:
        raise UnreadableError("is no text, or UTF-16 without a byte order mark")
    try:
        return data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding:
            raise UnreadableError(f"is no valid {encoding.upper()}") from None
    with require_extra("documents", "Text that is not UTF-8"):
        from charset_normalizer import from_bytes  # noqa: PLC0415 -- an extra
    best = from_bytes(data[:65_536]).best()
    try:
        text = data.decode(best.encoding if best else "ascii")
    except UnicodeDecodeError:
        raise UnreadableError("is no text") from None
    remarks.notes.append(f"is not UTF-8; read as {best and best.encoding}, a guess")
    return text


def _html(data: bytes, remarks: Remarks) -> Iterator[Record]:
    with require_extra("documents", "HTML"):
        from bs4 import BeautifulSoup  # noqa: PLC0415 -- an extra
    with _parsing("HTML"):
        page = BeautifulSoup(_decoded(data, remarks), "html.parser")
        title = page.title.get_text(strip=True) if page.title else ""
        text = html_text(page, remarks.unread)
    yield Record(text, metadata={"title": title} if title else {})


def _json(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read an object, a list of them, or an object with a list of `documents`."""
    value = _loaded(_decoded(data, remarks))
    if isinstance(value, dict) and isinstance(value.get("documents"), list):
        remarks.unread["other keys"] += len(value) - 1
        value = value["documents"]
    for row in value if isinstance(value, list) else [value]:
        yield _record(row, remarks)


def _jsonl(data: bytes, remarks: Remarks) -> Iterator[Record]:
    # Not `splitlines`: a string of JSON may hold what Unicode calls a separator.
    lines = io.StringIO(_decoded(data, remarks), newline=None)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _record(_loaded(line, f"line {number} "), remarks)


def _loaded(text: str, where: str = "") -> Any:
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UnreadableError(f"{where}holds halves of characters") from None
    except ValueError:
        raise UnreadableError(f"{where}is no valid JSON") from None
    return value


def _record(row: object, remarks: Remarks) -> Record:
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


def _parquet(data: bytes, remarks: Remarks) -> Iterator[Record]:
    for row in parquet_rows(data):
        yield _record(row, remarks)


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NONE = "\x1f"
"""Separates nothing: a table of one column."""
_NAMED = re.compile(r"\s*sep=([^\w\s]|\t)\s*\n", re.IGNORECASE)
"""The first line by which Excel is told the separator."""

Rows = Sequence[Sequence[str]]


def _csv(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read each row as lines `column: value`; of a lone row its cells."""
    text = _decoded(data, remarks)
    try:
        mark = _separator(text)
        rows = _rows(_NAMED.sub("", text, count=1), mark)
    except csv.Error:
        raise UnreadableError("is no valid CSV") from None
    columns = max(map(len, rows), default=0)
    between = f", separated by {_SEPARATORS.get(mark, repr(mark))}" * (columns > 1)
    remarks.notes.append(
        f"is a table of {len(rows):,} lines and {columns:,} columns{between}"
    )
    names, *below = rows if len(rows) != 1 else [[], *rows]
    for row in below:
        pairs = zip_longest(names, row, fillvalue="")
        lines = (
            f"{name}: {value}" if name else value for name, value in pairs if value
        )
        yield Record("\n".join(lines))


def _separator(text: str) -> str:
    """Return the mark under which most rows are as long as the first."""
    if named := _NAMED.match(text):
        return named[1]
    sample = "".join(io.StringIO(text, newline="").readlines()[:1000])
    fits = {mark: _fit(_rows(sample, mark)) for mark in _SEPARATORS}
    mark, best = max(fits.items(), key=lambda item: item[1])
    return mark if best[0] else _NONE


def _rows(text: str, mark: str) -> Rows:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    return [row for row in rows if row]


def _fit(rows: Rows) -> tuple[float, int]:
    """Return the share of rows that are as long as the first, and its length."""
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    alike = sum(len(row) == len(rows[0]) for row in rows)
    return alike / len(rows), len(rows[0])


def _pdf(data: bytes, remarks: Remarks) -> Iterator[Record]:
    with require_extra("documents", "PDF"):
        from pypdf import PdfReader  # noqa: PLC0415 -- an extra
        from pypdf.errors import DependencyError  # noqa: PLC0415 -- an extra
    with _parsing("PDF"):
        reader = PdfReader(io.BytesIO(data))
        try:
            is_open = not reader.is_encrypted or bool(reader.decrypt(""))
        except DependencyError:
            is_open = False
        if not is_open:
            raise UnreadableError("is encrypted")
        pages = [page.extract_text().strip() for page in reader.pages]
        for page in reader.pages:
            remarks.unread["pictures"] += _count_pictures(page)
            notes = [note.get_object() for note in page.get("/Annots") or ()]
            fields = sum(note.get("/Subtype") != "/Link" for note in notes)
            remarks.unread["notes and form fields"] += fields
    if not any(pages):
        raise UnreadableError("has no text; a scan needs OCR first")
    remarks.unread["pages without text"] += pages.count("")
    yield Record("\n\n".join(pages).strip())


def _count_pictures(page: Any) -> int:
    try:
        return len(page.images)
    except Exception:  # noqa: BLE001 -- as broken pictures please; the text is read
        return 1


def _docx(data: bytes, remarks: Remarks) -> Iterator[Record]:
    with require_extra("documents", "Word documents"):
        from docx import Document  # noqa: PLC0415 -- an extra
    with _parsing("Word document"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > MAX_UNPACKED:
            raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")
        text = word_text(Document(io.BytesIO(data)), remarks.unread)
    yield Record(text)


@contextmanager
def _parsing(kind: str) -> Iterator[None]:
    """Raise what a parser raises as `UnreadableError`, without its words."""
    try:
        yield
    except (UnreadableError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 -- parsers of broken files raise anything
        raise UnreadableError(f"is no valid {kind}") from None


READERS: Mapping[str, Reader] = {
    ".txt": _text,
    ".md": _text,
    ".html": _html,
    ".htm": _html,
    ".json": _json,
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".parquet": _parquet,
    ".pdf": _pdf,
    ".docx": _docx,
}
"""How a file of each suffix is read."""

SUFFIXES = tuple(READERS)
"""The suffixes of files that can be read."""
