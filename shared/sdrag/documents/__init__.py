"""
Documents from files and folders, as text, and as files again.

`read_documents` gives a passage for each document and a `Skipped` for each file that
could not be read, with the reason. `documents_in` reads bytes. Formats are one function
each, in `formats`. `files_of` says what to write of documents whose text was changed.
"""

from __future__ import annotations

from sdrag.documents.chunking import chunks_of
from sdrag.documents.formats import SUFFIXES, UnreadableError
from sdrag.documents.reading import (
    ReadFile,
    Skipped,
    documents_in,
    read_documents,
    read_files,
)
from sdrag.documents.writing_back import as_line, files_of

__all__ = [
    "SUFFIXES",
    "ReadFile",
    "Skipped",
    "UnreadableError",
    "as_line",
    "chunks_of",
    "documents_in",
    "files_of",
    "read_documents",
    "read_files",
]
