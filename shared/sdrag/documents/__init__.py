"""
Documents from files and folders, as text, and as files again.

`read_documents` gives a passage for each document and a `Skipped` for each file that
could not be read, with the reason. `documents_in` reads bytes. Formats are one function
each, in `formats`; that of Parquet is in `parquet_rows`. `files_of` says what to write
of documents whose text was changed.
"""

from __future__ import annotations

from sdrag.documents.chunking import chunks_of
from sdrag.documents.formats import SUFFIXES
from sdrag.documents.parquet_rows import parquet_rows, row_count
from sdrag.documents.reading import (
    ReadFile,
    Skipped,
    documents_in,
    read_documents,
    read_files,
)
from sdrag.documents.records import TEXT_KEYS, UnreadableError
from sdrag.documents.writing_back import as_line, file_of, files_of

__all__ = [
    "SUFFIXES",
    "TEXT_KEYS",
    "ReadFile",
    "Skipped",
    "UnreadableError",
    "as_line",
    "chunks_of",
    "documents_in",
    "file_of",
    "files_of",
    "parquet_rows",
    "read_documents",
    "read_files",
    "row_count",
]
