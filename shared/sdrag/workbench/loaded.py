"""The documents that are looked at: in memory, and gone with the process."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import PurePosixPath
from threading import Lock

from sdrag.documents import UnreadableError, read_bytes
from sdrag.errors import MissingExtraError
from sdrag.vocabulary import Confidential, Passage
from sdrag.workbench.limits import MAX_DOCUMENTS, MAX_LOADED_CHARACTERS
from sdrag.workbench.refusals import RefusedError

__all__ = ["LoadedDocuments", "check_text"]

_PACKED = {".pdf", ".docx"}
"""Suffixes of files that are no plain text."""

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Text that says by its first bytes that it is UTF-16 is read as such."""


class LoadedDocuments(Confidential):
    """Documents by numbers that are never given twice."""

    def __init__(self) -> None:
        self._documents: dict[int, Passage] = {}
        self._next = 0
        self._lock = Lock()

    def add(self, name: str, data: bytes, *, dropped: bool) -> dict[int, Passage]:
        """
        Read the documents of a file; those of an earlier one of that name go.

        Args:
            name: Of the file, with its suffix.
            data: All of it.
            dropped: By the page; its text has to be UTF-8. The given folder is read
                as all commands read it.

        Raises:
            RefusedError: It cannot be read, or there is no more space.
        """
        if dropped:
            check_text(name, data)
        try:
            read = read_bytes(name, data).documents
        except UnreadableError as error:
            raise RefusedError(422, f"The file {error}.") from None
        except MissingExtraError as error:
            raise RefusedError(422, str(error)) from None
        if not all(map(_is_text, read)):
            raise RefusedError(422, "The file holds halves of characters.")
        with self._lock:
            kept = {
                number: document
                for number, document in self._documents.items()
                if document.metadata.get("source") != name
            }
            added = {self._next + n: document for n, document in enumerate(read)}
            _check_space(kept | added)
            self._documents = kept | added
            self._next += len(added)
        return added

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
            found = self._documents.get(number)
        if found is None:
            raise RefusedError(404, "This document is not loaded any more.")
        return found

    def all(self) -> dict[int, Passage]:
        """Return all documents by their numbers, each under an id of its own."""
        with self._lock:
            held = dict(self._documents)
        seen: set[str] = set()
        named = {}
        for number, document in held.items():
            own = document.id
            if own in seen:
                own = f"{own} ({number})"
            seen.add(own)
            named[number] = replace(document, id=own, document_id=own)
        return named


def check_text(name: str, data: bytes) -> None:
    """
    Refuse a text file that holds no text.

    Raises:
        RefusedError: It is binary, or broken UTF-8.
    """
    if PurePosixPath(name).suffix.lower() in _PACKED or data.startswith(_WIDE):
        return
    if b"\0" in data:
        raise RefusedError(415, "The file is binary, and no text.")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} is wrong"
        said = f"The file is not UTF-8: {place}. Save it as UTF-8."
        raise RefusedError(415, said) from None


def _is_text(document: Passage) -> bool:
    """Say whether a document can be written again: JSON may hold half a character."""
    try:
        f"{document.id}{document.text}".encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_space(documents: dict[int, Passage]) -> None:
    characters = sum(len(document.text) for document in documents.values())
    if len(documents) > MAX_DOCUMENTS:
        raise RefusedError(413, f"More than {MAX_DOCUMENTS:,} documents are not held.")
    if characters > MAX_LOADED_CHARACTERS:
        raise RefusedError(
            413, f"More than {MAX_LOADED_CHARACTERS:,} characters are not held."
        )
