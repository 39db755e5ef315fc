"""
Documents from files and folders, as text, and as files again.

`read_files` gives for each file its documents and what of it is not read, or the reason
why it cannot be read. `read_bytes` opens no file. Each format is one function in
`formats`. `files_of` says what to write of documents whose text was changed.
"""

from __future__ import annotations

from sdrag.documents.formats import SUFFIXES, TEXT_KEYS, UnreadableError
from sdrag.documents.parquet import parquet_rows, row_count
from sdrag.documents.reading import (
    ReadFile,
    Skipped,
    chunks_of,
    read_bytes,
    read_files,
)
from sdrag.documents.writing import as_line, file_of, files_of

__all__ = [
    "SUFFIXES",
    "TEXT_KEYS",
    "ReadFile",
    "Skipped",
    "UnreadableError",
    "as_line",
    "chunks_of",
    "file_of",
    "files_of",
    "parquet_rows",
    "read_bytes",
    "read_files",
    "row_count",
]
