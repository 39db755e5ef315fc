"""
The formats of documents: for each suffix, how its bytes become texts.

A reader gets all bytes of a file and yields records. Where a library is needed, it is
the format's own: pypdf, python-docx, Beautiful Soup, from the extra `documents`, and
pyarrow, from the extra `parquet`.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sdrag.documents.csv_tables import read_table
from sdrag.documents.encodings import decoded
from sdrag.documents.markup import html_text, word_text
from sdrag.documents.parquet_rows import parquet_rows
from sdrag.documents.records import MAX_UNPACKED, Record, UnreadableError, record_of
from sdrag.errors import require_extra

__all__ = ["READERS", "SUFFIXES", "Reader"]

Reader = Callable[[bytes], Iterator[Record]]


def _text(data: bytes) -> Iterator[Record]:
    yield Record(_plain(data))


def _html(data: bytes) -> Iterator[Record]:
    with require_extra("documents", "HTML"):
        from bs4 import BeautifulSoup  # noqa: PLC0415 -- an extra
    page = BeautifulSoup(_plain(data), "html.parser")
    for element in page(["script", "style"]):
        element.decompose()
    title = page.title.get_text(strip=True) if page.title else ""
    yield Record(html_text(page), metadata={"title": title} if title else {})


def _json(data: bytes) -> Iterator[Record]:
    """Read an object, a list of them, or an object with a list of `documents`."""
    value = _loaded(_plain(data))
    if isinstance(value, dict) and isinstance(value.get("documents"), list):
        value = value["documents"]
    for row in value if isinstance(value, list) else [value]:
        yield record_of(row)


def _jsonl(data: bytes) -> Iterator[Record]:
    # Not `splitlines`: a string of JSON may hold what Unicode calls a separator.
    lines = io.StringIO(_plain(data), newline=None)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield record_of(_loaded(line, f"line {number} "))


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


def _parquet(data: bytes) -> Iterator[Record]:
    return map(record_of, parquet_rows(data))


def _csv(data: bytes) -> Iterator[Record]:
    """Read each row as a document of lines `column: value`."""
    try:
        table = read_table(_plain(data))
    except csv.Error:
        raise UnreadableError("is no valid CSV") from None
    for row in table.documents():
        yield Record(row, doubt=table.doubt)


def _pdf(data: bytes) -> Iterator[Record]:
    with require_extra("documents", "PDF"):
        from pypdf import PdfReader  # noqa: PLC0415 -- an extra
    with _parsing("PDF"):
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("is encrypted")
        text = "\n\n".join(page.extract_text() for page in reader.pages).strip()
    if not text:
        raise UnreadableError("has no text; a scan needs OCR first")
    yield Record(text)


def _docx(data: bytes) -> Iterator[Record]:
    with require_extra("documents", "Word documents"):
        from docx import Document  # noqa: PLC0415 -- an extra
    with _parsing("Word document"):
        _check_unpacked(data)
        text = word_text(Document(io.BytesIO(data)))
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


def _check_unpacked(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_UNPACKED:
            raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")


def _plain(data: bytes) -> str:
    try:
        return decoded(data)
    except ValueError:
        raise UnreadableError("is no text") from None


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
