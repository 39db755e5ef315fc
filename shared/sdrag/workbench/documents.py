"""
The documents that are looked at: those of the given folder, and those in memory.

No path leads out of the folder. What is dropped on the page is in memory, and gone with
the process. Parquet files are not taken: pyarrow may trust what a file says of itself.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from threading import Lock

from sdrag.documents import SUFFIXES, UnreadableError, read_bytes
from sdrag.errors import MissingExtraError
from sdrag.vocabulary import Confidential, Passage
from sdrag.workbench.bodies import MAX_UPLOAD_BYTES
from sdrag.workbench.gate import RefusedError

MAX_LOADED_CHARACTERS = 50_000_000
"""Of all documents that are in memory."""

MAX_DOCUMENTS = 2_000
"""Loaded at once."""

MAX_FILES = 5_000
"""Of the given folder that are listed."""

SUFFIXES_TAKEN = tuple(suffix for suffix in SUFFIXES if suffix != ".parquet")
"""What of a folder is listed, and what may be dropped."""

_PACKED = {".pdf", ".docx"}
"""Suffixes of files that are no plain text."""

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Text that says by its first bytes that it is UTF-16 is read as such."""


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A folder of documents, or one file.

    Args:
        root: As it was given when the command was started.
    """

    root: Path

    def names(self) -> tuple[list[str], bool]:
        """Return the files that can be read, and whether there are more."""
        names = list(islice(self._names(), MAX_FILES + 1))
        return sorted(names[:MAX_FILES]), len(names) > MAX_FILES

    def read(self, name: str) -> bytes:
        """
        Return the bytes of a file in the folder.

        Args:
            name: Relative, as `names` lists it.

        Raises:
            RefusedError: There is none of that name, it leads out of the folder, or it
                is too large.
        """
        path = self._inside(name)
        missing = RefusedError(404, "There is no such file in the folder.")
        try:
            if not path.is_file():  # a pipe would be waited for
                raise missing
            with path.open("rb") as file:
                data = file.read(MAX_UPLOAD_BYTES + 1)
        except OSError:
            raise missing from None
        if len(data) > MAX_UPLOAD_BYTES:
            raise RefusedError(413, f"More than {MAX_UPLOAD_BYTES:,} bytes.")
        return data

    def _inside(self, name: str) -> Path:
        """Return the real path of a file; links are followed before it is compared."""
        outside = RefusedError(403, "This path leads out of the folder.")
        relative = PurePosixPath(name)
        hidden = any(part.startswith(".") for part in relative.parts)
        if relative.is_absolute() or hidden or "\0" in name or "\\" in name:
            raise outside
        if not self.root.is_dir():
            if name != self.root.name:
                raise outside
            return self.root
        try:
            path = (self.root / relative).resolve(strict=True)
            inside = path.is_relative_to(self.root.resolve(strict=True))
        except (OSError, RuntimeError, ValueError):
            raise RefusedError(404, "There is no such file in the folder.") from None
        if not inside:
            raise outside
        return path

    def _names(self) -> Iterator[str]:
        if not self.root.is_dir():
            yield self.root.name
            return
        for folder, below, files in os.walk(self.root):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(files):
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                is_taken = name.lower().endswith(SUFFIXES_TAKEN)
                if is_taken and not name.startswith(".") and path.isprintable():
                    yield path


class LoadedDocuments(Confidential):
    """Documents by numbers that are never given twice."""

    def __init__(self) -> None:
        self._documents: dict[int, Passage] = {}
        self._next = 0
        self._lock = Lock()

    def add(
        self, name: str, data: bytes, *, dropped: bool
    ) -> tuple[dict[int, Passage], tuple[str, ...]]:
        """
        Read the documents of a file; those of an earlier one of that name go.

        Args:
            name: Of the file, with its suffix.
            data: All of it.
            dropped: By the page; its text has to be UTF-8. The given folder is read
                as all commands read it.

        Returns:
            The documents by their numbers, and what of the file is not read.

        Raises:
            RefusedError: It cannot be read, or there is no more space.
        """
        if not name.lower().endswith(SUFFIXES_TAKEN):
            known = " ".join(SUFFIXES_TAKEN)
            raise RefusedError(422, f"The file has another suffix than {known}.")
        if dropped:
            _check_text(name, data)
        try:
            file = read_bytes(name, data)
        except UnreadableError as error:
            raise RefusedError(422, f"The file {error}.") from None
        except MissingExtraError as error:
            raise RefusedError(422, str(error)) from None
        with self._lock:
            kept = {
                number: document
                for number, document in self._documents.items()
                if document.metadata.get("source") != name
            }
            added = {
                self._next + n: document for n, document in enumerate(file.documents)
            }
            _check_space(kept | added)
            self._documents = kept | added
            self._next += len(added)
        return added, file.remarks

    def remove(self, number: int) -> None:
        """Forget a document."""
        with self._lock:
            self._documents.pop(number, None)

    def get(self, number: int) -> Passage:
        """
        Return a document.

        Raises:
            RefusedError: There is none of that number any more.
        """
        with self._lock:
            document = self._documents.get(number)
        if document is None:
            raise RefusedError(404, "This document is not loaded any more.")
        return document

    def all(self) -> dict[int, Passage]:
        """Return all documents by their numbers, each under an id of its own."""
        with self._lock:
            held = dict(self._documents)
        seen: set[str] = set()
        named = {}
        for number, document in held.items():
            unique = f"{document.id} ({number})" if document.id in seen else document.id
            seen.add(unique)
            named[number] = replace(document, id=unique, document_id=unique)
        return named


def _check_text(name: str, data: bytes) -> None:
    """Refuse a text file that is binary, or broken UTF-8."""
    if PurePosixPath(name).suffix.lower() in _PACKED or data.startswith(_WIDE):
        return
    if b"\0" in data:
        raise RefusedError(415, "The file is binary, and no text.")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} is wrong"
        raise RefusedError(
            415, f"The file is not UTF-8: {place}. Save it as UTF-8."
        ) from None


def _check_space(documents: dict[int, Passage]) -> None:
    characters = sum(len(document.text) for document in documents.values())
    if len(documents) > MAX_DOCUMENTS:
        raise RefusedError(413, f"More than {MAX_DOCUMENTS:,} documents are not held.")
    if characters > MAX_LOADED_CHARACTERS:
        raise RefusedError(
            413, f"More than {MAX_LOADED_CHARACTERS:,} characters are not held."
        )
