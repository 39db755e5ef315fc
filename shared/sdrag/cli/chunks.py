"""Where `sdrag bind` finds chunks: JSON lines, Parquet, or a Chroma collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from os import SEEK_END
from pathlib import Path
from typing import Any, Protocol

from sdrag.documents import TEXT_KEYS, UnreadableError, parquet_rows, row_count
from sdrag.errors import HostError, UsageError, require_extra
from sdrag.vocabulary import Passage

__all__ = ["Chunks", "chunks_in"]

_PAGE = 1000
_DATABASE = "chroma.sqlite3"
_DOCUMENT_KEYS = ("document_id", "source", "doc_id", "ref_doc_id")


class Chunks(Protocol):
    """Chunks of an index, in its order."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def passages(self) -> Iterator[Passage]:
        """Yield them."""
        ...


def chunks_in(paths: Sequence[Path], chroma: Path | None, collection: str) -> Chunks:
    """
    Open what holds the chunks.

    Raises:
        UsageError: There is no such file, folder or collection.
    """
    if chroma is not None:
        return _Chroma.opened(chroma, collection)
    for path in paths:
        if path.suffix not in _FILES or not path.is_file():
            raise UsageError(f"{path.name} is no .jsonl or .parquet file.")
    return _Files(tuple(_FILES[path.suffix](path) for path in paths))


@dataclass(frozen=True, slots=True)
class _Files:
    """Files with a chunk a row: `id`, `text` (or `content`), `metadata`."""

    files: tuple[Chunks, ...]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(file.count for file in self.files)

    def passages(self) -> Iterator[Passage]:
        """Yield a passage for each row."""
        for file in self.files:
            yield from file.passages()


@dataclass(frozen=True, slots=True)
class _Lines:
    """A file of JSON lines."""

    path: Path

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(1 for _ in self._lines())

    def passages(self) -> Iterator[Passage]:
        """Yield a passage for each line."""
        for number, line in self._lines():
            with _saying_where(f"{self.path.name}, line {number}"):
                passage = _chunk(json.loads(line))
            yield passage

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line


@dataclass(frozen=True, slots=True)
class _Table:
    """A file of Parquet; a row group of it is held at once."""

    path: Path

    @property
    def count(self) -> int:
        """How many rows there are."""
        with self._mapped() as data:
            return row_count(data)

    def passages(self) -> Iterator[Passage]:
        """Yield a passage for each row."""
        with self._mapped() as data:
            rows = parquet_rows(data, whole=False)
            for number, row in enumerate(rows, start=1):
                with _saying_where(f"{self.path.name}, row {number}"):
                    passage = _chunk(row)
                yield passage

    @contextmanager
    def _mapped(self) -> Iterator[bytes | mmap]:
        """Yield the file, of which only what is read is in memory."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, SEEK_END)
                yield mmap(file.fileno(), 0, access=ACCESS_READ) if size else b""
        except UnreadableError as error:
            raise UsageError(f"{self.path.name} {error}.") from None


_FILES: Mapping[str, Callable[[Path], Chunks]] = {".jsonl": _Lines, ".parquet": _Table}


@dataclass(frozen=True, slots=True)
class _Chroma:
    """A collection of Chroma, of either framework."""

    collection: Any

    @classmethod
    def opened(cls, folder: Path, name: str) -> _Chroma:
        """Open a collection that exists; Chroma would make an empty one."""
        if not (folder / _DATABASE).is_file():  # Chroma would make one
            raise UsageError(
                "That is no folder of Chroma.",
                hint="Give the folder that your store's `persist_directory` names.",
            )
        with require_extra("chroma", "A Chroma collection"):
            import chromadb
            from chromadb.config import Settings
        client = chromadb.PersistentClient(
            str(folder), Settings(anonymized_telemetry=False)
        )
        try:
            return cls(client.get_collection(name))
        except Exception as error:  # noqa: BLE001 -- as Chroma pleases
            raise UsageError(
                f"The folder has no collection of that name ({type(error).__name__}).",
                hint=f"It has {', '.join(sorted(_names(client))) or 'none'}.",
            ) from None

    @property
    def count(self) -> int:
        """How many chunks there are."""
        return int(self.collection.count())

    def passages(self) -> Iterator[Passage]:
        """Yield the chunks, page by page."""
        for start in range(0, self.count, _PAGE):
            try:
                page = self.collection.get(
                    limit=_PAGE, offset=start, include=["documents", "metadatas"]
                )
            except Exception as error:  # noqa: BLE001 -- its message may quote
                raise HostError(f"Chroma failed with {type(error).__name__}.") from None
            for identity, text, metadata in zip(
                page["ids"], page["documents"], page["metadatas"], strict=True
            ):
                yield _passage(identity, text or "", dict(metadata or {}))


def _names(client: Any) -> list[str]:
    return [str(getattr(one, "name", one)) for one in client.list_collections()]


@contextmanager
def _saying_where(place: str) -> Iterator[None]:
    """Say where there is no chunk."""
    try:
        yield
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{place}: no chunk.", hint="A chunk is an object with an id and a text."
        ) from None


def _chunk(row: Mapping[str, Any]) -> Passage:
    """
    Read a chunk.

    Raises:
        ValueError: It has no id or no text, or it is no object.
        KeyError: The same.
        TypeError: The same.
    """
    text = next((row[key] for key in TEXT_KEYS if key in row), None)
    if text is None or row["id"] is None:
        raise ValueError
    return _passage(str(row["id"]), str(text), dict(row.get("metadata") or {}))


def _passage(identity: str, text: str, metadata: dict[str, Any]) -> Passage:
    document = next(
        (metadata[key] for key in _DOCUMENT_KEYS if metadata.get(key)), None
    )
    return Passage(
        identity,
        text,
        metadata,
        document_id=None if document is None else str(document),
    )
