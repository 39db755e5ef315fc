"""
Documents from files: JSON, JSONL, plain text, or a folder of them (CLAM, 4.2.1).

A document is an object with `id`, `content` (or `text`) and `metadata`; it may bring
its `entities`. A cluster file, with a list of `documents`, is read too. The thesis
tells documents apart by `id || md5(normalized_content)`; a bare hash of text is an
oracle for guessing it, so here the hash is keyed, and without a key the id is left as
given.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from sdrag.errors import InputTooLargeError, UsageError
from sdrag.vocabulary import Confidential, Passage

__all__ = ["MAX_FILE_BYTES", "Ingested", "document_id", "read_documents"]

MAX_FILE_BYTES = 2_000_000_000
_SUFFIXES = frozenset({".json", ".jsonl", ".txt"})
_DIGITS = 16


@dataclass(frozen=True, slots=True, repr=False)
class Ingested(Confidential):
    """
    A corpus as it was read.

    Args:
        documents: In the order of the files and within them.
        entities: For each document what its file says of it; `None` where any is
            silent.
    """

    documents: tuple[Passage, ...]
    entities: tuple[Sequence[Any], ...] | None

    def __repr__(self) -> str:
        return f"Ingested({len(self.documents)} documents)"


def read_documents(source: str | Path, key: bytes | None = None) -> Ingested:
    """
    Read a corpus.

    Args:
        source: A file, or a folder that is read in the order of its names.
        key: Makes ids tell contents apart, as in the thesis.

    Raises:
        UsageError: A file cannot be read, or two documents have one id.
        InputTooLargeError: A file is over the limit.
    """
    path = Path(source)
    names = sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES)
    rows = [row for name in (names if path.is_dir() else [path]) for row in _rows(name)]
    if not rows:
        raise UsageError(
            "The source holds no documents.", hint="Give .json, .jsonl or .txt files."
        )
    documents = tuple(_passage(row, key) for row in rows)
    if len({document.id for document in documents}) != len(documents):
        raise UsageError(
            "Two documents have the same id.", hint="Give a key to tell them apart."
        )
    known = all("entities" in row for row in rows)
    return Ingested(documents, tuple(r["entities"] for r in rows) if known else None)


def document_id(id_: str, content: str, key: bytes) -> str:
    """
    Return the id joined with a keyed hash of the normalized content.

    Args:
        id_: As the file gives it.
        content: The document's text.
        key: Without it nobody can test a guess of the content.
    """
    digest = hmac.digest(key, content.lower().encode(), "sha256").hex()
    return f"{id_}-{digest[:_DIGITS]}"


def _passage(row: Mapping[str, Any], key: bytes | None) -> Passage:
    try:
        text = row["content"] if "content" in row else row["text"]
        passage = Passage(str(row["id"]), str(text), row.get("metadata") or {})
    except (KeyError, TypeError, ValueError):
        raise UsageError(
            "A document cannot be read.", hint="It needs an id and a content."
        ) from None
    if key is None:
        return passage
    return replace(passage, id=document_id(passage.id, passage.text, key))


def _rows(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputTooLargeError(
                f"A file of documents is over {MAX_FILE_BYTES} bytes.",
                hint="Split it into several files.",
            )
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".txt":
            return [{"id": path.stem, "content": text}]
        return list(_objects(text, lines=path.suffix == ".jsonl"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"A file of documents cannot be read ({type(error).__name__}).",
            hint="Check that it is there and holds UTF-8 text or JSON.",
        ) from None


def _objects(text: str, *, lines: bool) -> Iterator[Mapping[str, Any]]:
    data = (
        [json.loads(line) for line in StringIO(text, None) if line.strip()]
        if lines
        else json.loads(text)
    )
    for entry in data if isinstance(data, list) else [data]:
        if not isinstance(entry, Mapping):
            raise UsageError(
                f"A document is of type {type(entry).__name__}, not a JSON object.",
                hint="Give objects with `id` and `content`.",
            )
        yield from entry.get("documents", [entry])
