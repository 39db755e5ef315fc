"""
The documents that are looked at: in memory, and gone with the process.

Parquet files are not taken: pyarrow may trust what a file says of itself.
"""

from __future__ import annotations

from threading import Lock

from sdrag.errors import MissingExtraError
from sdrag.studio.documents import READERS, UnreadableError, read_bytes
from sdrag.studio.workbench.gate import RefusedError
from sdrag.vocabulary import Confidential, Passage

MAX_LOADED_CHARACTERS = 50_000_000
"""Of all documents that are in memory."""

MAX_DOCUMENTS = 2_000
"""Loaded at once."""

SUFFIXES = tuple(suffix for suffix in READERS if suffix != ".parquet")
"""What of a folder is listed, and what may be dropped."""


class LoadedDocuments(Confidential):
    """Documents by numbers that are never given twice."""

    def __init__(self) -> None:
        self._documents: dict[int, Passage] = {}
        self._next = 0
        self._lock = Lock()

    def add(self, name: str, data: bytes) -> tuple[dict[int, Passage], tuple[str, ...]]:
        """
        Read a file in place of an earlier one of that name.

        Returns its documents by their numbers, and what of it is not read.
        """
        if not name.lower().endswith(SUFFIXES):
            known = " ".join(SUFFIXES)
            raise RefusedError(422, f"The file has another suffix than {known}.")
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
            added = dict(enumerate(file.documents, start=self._next))
            _check_space(kept | added)
            self._documents = kept | added
            self._next += len(added)
        return added, file.remarks

    def remove(self, number: int) -> None:
        """Forget a document."""
        with self._lock:
            self._documents.pop(number, None)

    def get(self, number: int) -> Passage:
        """Return a document, if it is still there."""
        document = self.all().get(number)
        if document is None:
            raise RefusedError(404, "This document is not loaded any more.")
        return document

    def all(self) -> dict[int, Passage]:
        """Return all documents by their numbers."""
        with self._lock:
            return dict(self._documents)


def _check_space(documents: dict[int, Passage]) -> None:
    characters = sum(len(document.text) for document in documents.values())
    if len(documents) > MAX_DOCUMENTS:
        raise RefusedError(413, f"More than {MAX_DOCUMENTS:,} documents are not held.")
    if characters > MAX_LOADED_CHARACTERS:
        raise RefusedError(
            413, f"More than {MAX_LOADED_CHARACTERS:,} characters are not held."
        )
