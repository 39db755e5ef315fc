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
from typing import Any

from sdrag.documents.encodings import decoded
from sdrag.documents.parquet_rows import parquet_rows
from sdrag.documents.records import MAX_UNPACKED, Record, UnreadableError, record_of
from sdrag.extras import require_extra

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
    yield Record(
        page.get_text("\n", strip=True), metadata={"title": title} if title else {}
    )


def _json(data: bytes) -> Iterator[Record]:
    """Read an object, a list of them, or an object with a list of `documents`."""
    try:
        value = json.loads(_plain(data))
    except ValueError:
        raise UnreadableError("is no valid JSON") from None
    if isinstance(value, dict) and isinstance(value.get("documents"), list):
        value = value["documents"]
    for row in value if isinstance(value, list) else [value]:
        yield record_of(row)


def _jsonl(data: bytes) -> Iterator[Record]:
    for number, line in enumerate(_plain(data).splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                raise UnreadableError(f"line {number} is no valid JSON") from None
            yield record_of(row)


def _parquet(data: bytes) -> Iterator[Record]:
    return map(record_of, parquet_rows(data))


def _csv(data: bytes) -> Iterator[Record]:
    """Read each row as a document of lines `column: value`."""
    rows = csv.DictReader(io.StringIO(_plain(data), newline=""), restkey="")
    try:
        for row in rows:
            cells = (f"{name}: {value}" for name, value in row.items() if value)
            yield Record("\n".join(cells))
    except csv.Error:
        raise UnreadableError("is no valid CSV") from None


def _pdf(data: bytes) -> Iterator[Record]:
    with require_extra("documents", "PDF"):
        from pypdf import PdfReader  # noqa: PLC0415 -- an extra
        from pypdf.errors import PyPdfError  # noqa: PLC0415 -- an extra
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("is encrypted")
        pages = [page.extract_text() for page in reader.pages]
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError("is no valid PDF") from error
    text = "\n\n".join(pages).strip()
    if not text:
        raise UnreadableError("has no text; a scan needs OCR first")
    yield Record(text)


def _docx(data: bytes) -> Iterator[Record]:
    with require_extra("documents", "Word documents"):
        from docx import Document  # noqa: PLC0415 -- an extra
        from docx.opc.exceptions import OpcError  # noqa: PLC0415 -- an extra
    try:
        _check_unpacked(data)
        document = Document(io.BytesIO(data))
    except (OpcError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UnreadableError("is no valid Word document") from error
    yield Record("\n".join(_blocks(document)))


def _blocks(document: Any) -> Iterator[str]:
    """Yield the paragraphs and table rows of a Word document, as they come."""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                yield "\t".join(cell.text for cell in row.cells)
        else:
            yield block.text


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
