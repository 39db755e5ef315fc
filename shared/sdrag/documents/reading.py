"""
Files and folders as documents.

A folder is read in the order of its paths, which name its documents, relative to the
folder. Nothing outside it is read: a link that leads out is skipped. What cannot be
read is reported and never passed over in silence.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sdrag.documents.formats import READERS
from sdrag.documents.records import Record, UnreadableError
from sdrag.errors import UsageError
from sdrag.vocabulary import Confidential, Passage

__all__ = [
    "MAX_FILE_BYTES",
    "ReadFile",
    "Skipped",
    "documents_in",
    "read_documents",
    "read_files",
]

_logger = logging.getLogger("sdrag")

MAX_FILE_BYTES = 100_000_000
"""A larger file is skipped: it would be read into memory whole."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """
    A file that was not read.

    Args:
        path: Relative to the folder that was given.
        reason: Why, without any of its text.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class ReadFile(Confidential):
    """
    A file that was read.

    Args:
        path: Relative to the folder that was given.
        documents: What it holds, one or more.
    """

    path: str
    documents: tuple[Passage, ...]


def read_documents(paths: Iterable[str | Path]) -> Iterator[Passage | Skipped]:
    """
    Read files and folders, document by document; see `read_files`.

    Yields:
        For each document a passage; and what was skipped.

    Raises:
        UsageError: A path does not exist.
        MissingExtraError: A format needs the extra `documents` or `parquet`.
    """
    for found in read_files(paths):
        if isinstance(found, Skipped):
            yield found
        else:
            yield from found.documents


def read_files(paths: Iterable[str | Path]) -> Iterator[ReadFile | Skipped]:
    """
    Read files and folders.

    Args:
        paths: Of files, or of folders that are read with all below them.

    Yields:
        For each file its documents, each its own `document_id`; and what was skipped. A
        document's id is its file's path relative to the folder; where a file holds
        several, the file's own ids or their numbers from 1 follow after a `#`.

    Raises:
        UsageError: A path does not exist.
        MissingExtraError: A format needs the extra `documents` or `parquet`.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise UsageError(f"There is no {root.name!r}.", hint="Check the path.")
    for root in roots:
        for name, path in _files(root):
            yield from _read(name, path, root)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield a name for each file below a folder, and the file; hidden ones not."""
    if not root.is_dir():
        yield root.name, root
        return
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            yield name.as_posix(), path


def _read(name: str, path: Path, root: Path) -> Iterator[ReadFile | Skipped]:
    if path.suffix.lower() not in READERS:
        yield Skipped(name, f"has another suffix than {' '.join(READERS)}")
        return
    if root.is_dir() and not path.resolve().is_relative_to(root.resolve()):
        yield Skipped(name, "is a link that leads out of the folder")
        return
    try:
        yield ReadFile(name, documents_in(name, _bytes(path)))
    except UnreadableError as error:
        yield Skipped(name, str(error))


def documents_in(name: str, data: bytes) -> tuple[Passage, ...]:
    """
    Read the documents in the bytes of a file; no file is opened.

    Args:
        name: With the suffix by which it is read. It names the documents.
        data: All of the file.

    Raises:
        UnreadableError: It cannot be read; the message says why in no word of it.
        MissingExtraError: The format needs the extra `documents` or `parquet`.
    """
    reader = READERS.get(Path(name).suffix.lower())
    if reader is None:
        raise UnreadableError(f"has another suffix than {' '.join(READERS)}")
    try:
        records = list(reader(data))
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    for doubt in {record.doubt for record in records if record.doubt}:
        _logger.warning("%s %s. Look at what is read of it.", name, doubt)
    documents = [_document(name, record, records) for record in records]
    if not any(document.text.strip() for document in documents):
        raise UnreadableError("is empty")
    return tuple(_numbered(name, documents))


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableError(f"is larger than {MAX_FILE_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read ({type(error).__name__})") from None


def _document(name: str, record: Record, records: list[Record]) -> Passage:
    identity = name if len(records) == 1 else f"{name}#{record.id}"
    metadata = {"source": name, **record.metadata}
    return Passage(identity, record.text, metadata, document_id=identity)


def _numbered(name: str, documents: list[Passage]) -> Iterator[Passage]:
    """Number the documents of a file that does not tell them apart by ids."""
    if len({document.id for document in documents}) == len(documents):
        yield from documents
        return
    for number, document in enumerate(documents, start=1):
        identity = f"{name}#{number}"
        yield replace(document, id=identity, document_id=identity)
