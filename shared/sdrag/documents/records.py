"""A document as its file holds it, and why a file cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdrag.vocabulary import Confidential

__all__ = [
    "ID_KEYS",
    "MAX_UNPACKED",
    "TEXT_KEYS",
    "Record",
    "UnreadableError",
    "record_of",
]

MAX_UNPACKED = 200_000_000
"""The most bytes that a compressed file may unpack to."""

TEXT_KEYS = ("text", "content", "page_content")
"""What the text of a document is called; the first that is there is taken."""

ID_KEYS = ("id", "doc_id", "id_")
"""What the id of a document is called."""


class UnreadableError(Exception):
    """A file cannot be read; the message says why, without any of its text."""


@dataclass(frozen=True, slots=True, repr=False)
class Record(Confidential):
    """
    A document of a file.

    Args:
        text: All of it.
        id: As the file names it; empty where it does not.
        metadata: As the file gives it.
        doubt: Why its file may have been read wrongly.
    """

    text: str
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    doubt: str = ""


def record_of(row: object) -> Record:
    """Read one document of JSON: by its text, else as JSON again."""
    if not isinstance(row, dict):
        return Record(row if isinstance(row, str) else _as_json(row))
    text = next((row[key] for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
    if text is None:
        return Record(_as_json(row))
    named = next((row[key] for key in ID_KEYS if row.get(key) is not None), "")
    metadata = row.get("metadata")
    return Record(text, str(named), metadata if isinstance(metadata, dict) else {})


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
