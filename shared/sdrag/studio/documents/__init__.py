"""
Documents from files and folders, as text.

`read_files` gives for each file its documents and what of it is not read, or the reason
why it cannot be read. `read_bytes` opens no file.
"""

from __future__ import annotations

from sdrag.studio.documents.formats import TEXT_KEYS, UnreadableError, table_of
from sdrag.studio.documents.reading import (
    READERS,
    TABLES,
    ReadFile,
    ReadFiles,
    Skipped,
    bytes_of,
    chunks_of,
    list_files,
    read_bytes,
    read_files,
)

__all__ = [
    "READERS",
    "TABLES",
    "TEXT_KEYS",
    "ReadFile",
    "ReadFiles",
    "Skipped",
    "UnreadableError",
    "bytes_of",
    "chunks_of",
    "list_files",
    "read_bytes",
    "read_files",
    "table_of",
]
