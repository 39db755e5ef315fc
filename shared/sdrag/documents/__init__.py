"""
Documents from files and folders, as text.

`read_documents` gives a passage for each document and a `Skipped` for each file that
could not be read, with the reason. Formats are one function each, in `formats`.
"""

from __future__ import annotations

from sdrag.documents.chunking import chunks_of
from sdrag.documents.formats import SUFFIXES
from sdrag.documents.reading import Skipped, read_documents

__all__ = ["SUFFIXES", "Skipped", "chunks_of", "read_documents"]
