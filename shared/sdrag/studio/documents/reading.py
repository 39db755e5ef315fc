"""
Files and folders as documents, and documents as chunks.

A folder is read in the order of its paths, which name its documents, relative to the
folder. Nothing outside it is read: no link to a folder is followed, and a link to a
file that leads out is skipped. What cannot be read is reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path

from sdrag.errors import UsageError
from sdrag.studio.documents.formats import (
    Record,
    Remarks,
    UnreadableError,
    read_csv,
    read_json,
    read_jsonl,
    read_text,
    read_tsv,
)
from sdrag.studio.documents.mail import read_eml
from sdrag.studio.documents.parquet import read_parquet
from sdrag.studio.documents.rich_text import read_docx, read_html, read_pdf
from sdrag.studio.documents.spreadsheets import read_xlsx
from sdrag.text.sentences import windows
from sdrag.vocabulary import Confidential, Passage

READERS: dict[str, Callable[[bytes, Remarks], Iterator[Record]]] = {
    ".txt": read_text,
    ".md": read_text,
    ".log": read_text,
    ".yaml": read_text,
    ".yml": read_text,
    ".xml": read_text,
    ".html": read_html,
    ".htm": read_html,
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".xlsx": read_xlsx,
    ".eml": read_eml,
    ".parquet": read_parquet,
    ".pdf": read_pdf,
    ".docx": read_docx,
}
"""How a file of each suffix is read."""

TABLES = frozenset({".csv", ".tsv", ".xlsx"})
"""Files of tables, whose rows may be documents."""

MAX_FILE_BYTES = 100_000_000
"""A larger file is skipped: it would be read into memory whole."""

CHUNK_CHARACTERS = 1000
"""As long as the chunks of most indexes are."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and the reason in no word of it."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class ReadFile(Confidential):
    """
    A file that was read.

    Args:
        path: Relative to the folder that was given.
        remarks: What of it is not read, and what about it is a guess.
    """

    path: str
    documents: tuple[Passage, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """The files of some paths: those that were read, and the others."""

    files: list[ReadFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def documents(self) -> list[Passage]:
        """All documents, in the order of their files."""
        return [document for file in self.files for document in file.documents]

    def as_dict(self) -> dict[str, list[dict[str, str]]]:
        """Return why files were skipped, and what to know of the others."""
        return {
            "skipped": [asdict(file) for file in self.skipped],
            "remarks": [
                {"path": file.path, "remark": text}
                for file in self.files
                for text in file.remarks
            ],
        }


def read_files(paths: Iterable[str | Path], *, rows: bool = False) -> ReadFiles:
    """
    Read files and folders.

    Each document is its own `document_id`. Its id is its file's path relative to the
    folder; where a file holds several, the file's own ids or their numbers from 1
    follow after a `#`.

    Args:
        paths: Of files, or of folders that are read with all below them.
        rows: Whether each row of a table (CSV, TSV, Excel) is a document, instead of
            the table.

    Raises:
        UsageError: A path does not exist.
        MissingExtraError: A format needs the extra `documents` or `parquet`.
    """
    read = ReadFiles()
    roots = [Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise UsageError(f"There is no {root.name!r}.", hint="Check the path.")
    for root in roots:
        for name, path in list_files(root):
            try:
                read.files.append(read_bytes(name, bytes_of(path, root), rows=rows))
            except UnreadableError as error:
                read.skipped.append(Skipped(name, str(error)))
    return read


def list_files(root: Path) -> list[tuple[str, Path]]:
    """Return each file of a folder, or the one file, after the name of its document."""
    paths = sorted(_below(root)) if root.is_dir() else [root]
    base = root if root.is_dir() else root.parent
    names = (path.relative_to(base).as_posix() for path in paths)
    return [
        (name.encode("utf-8", "replace").decode(), path)  # bytes that are no text
        for name, path in zip(names, paths, strict=True)
    ]


def _below(root: Path) -> Iterator[Path]:
    """Yield what is below a folder and no folder; hidden ones not."""
    unreadable: list[OSError] = []
    for folder, below, names in os.walk(root, onerror=unreadable.append):
        below[:] = [name for name in below if not name.startswith(".")]
        links = [name for name in below if Path(folder, name).is_symlink()]
        for name in (*names, *links):
            if not name.startswith("."):
                yield Path(folder, name)
    yield from (Path(error.filename) for error in unreadable)


def bytes_of(path: Path, root: Path) -> bytes:
    """Return what is in a file that `list_files` listed."""
    try:
        if path.is_dir() and path.is_symlink():
            raise UnreadableError("is a link to a folder, which is not followed")
        if not path.is_file():
            raise UnreadableError("is no file, or a folder that cannot be opened")
        if root.is_dir() and not path.resolve().is_relative_to(root.resolve()):
            raise UnreadableError("is a link that leads out of the folder")
        _check_suffix(path.name)
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableError(f"is larger than {MAX_FILE_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read ({type(error).__name__})") from None


def read_bytes(name: str, data: bytes, *, rows: bool = False) -> ReadFile:
    """
    Read the documents in the bytes of a file; no file is opened.

    `name`: with the suffix by which it is read. It names the documents.

    Raises:
        UnreadableError: It cannot be read; the message says why in no word of it.
        MissingExtraError: The format needs the extra `documents` or `parquet`.
    """
    suffix, remarks = _check_suffix(name), Remarks()
    try:
        records = list(READERS[suffix](data, remarks))
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    if suffix in TABLES and not rows:
        tables = groupby(records, key=lambda record: record.id)
        records = [Record("\n\n".join(r.text for r in t), name) for name, t in tables]
    documents = [_document(name, record, records) for record in records]
    if not any(document.text.strip() for document in documents):
        raise UnreadableError("is empty")
    if len({document.id for document in documents}) < len(documents):
        names = [f"{name}#{number}" for number in range(1, len(documents) + 1)]
        documents = [
            replace(document, id=unique, document_id=unique)
            for unique, document in zip(names, documents, strict=True)
        ]
    return ReadFile(name, tuple(documents), tuple(remarks.sentences()))


def _check_suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in READERS:
        raise UnreadableError(f"has another suffix than {' '.join(READERS)}")
    return suffix


def _document(name: str, record: Record, records: list[Record]) -> Passage:
    identity = name if len(records) == 1 else f"{name}#{record.id}"
    metadata = {"source": name, **record.metadata}
    return Passage(identity, record.text, metadata, document_id=identity)


def chunks_of(document: Passage, characters: int = CHUNK_CHARACTERS) -> list[Passage]:
    """
    Cut a document between sentences.

    The chunks are its text again when they are joined: every character is in one of
    them, so an offset in a chunk points into the document.

    Args:
        document: Its id names the chunks: `ID:1`, `ID:2` and so on.
        characters: The most of a chunk; a longer sentence is cut between words.
    """
    return [
        replace(document, id=f"{document.id}:{number}", text=span.of(document.text))
        for number, span in enumerate(windows(document.text, characters), start=1)
    ]
