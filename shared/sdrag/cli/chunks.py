"""Where `sdrag bind` finds chunks: files of JSON lines, or a Chroma collection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sdrag.errors import HostError, UsageError
from sdrag.extras import require_extra
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
        if path.suffix != ".jsonl" or not path.is_file():
            raise UsageError(f"{path.name} is no .jsonl file.")
    return _Lines(tuple(paths))


@dataclass(frozen=True, slots=True)
class _Lines:
    """Files with a chunk a line: `id`, `text` (or `content`), `metadata`."""

    paths: tuple[Path, ...]

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(1 for _ in self._lines())

    def passages(self) -> Iterator[Passage]:
        """Yield a passage for each line."""
        for path, number, line in self._lines():
            try:
                held = json.loads(line)
                written = held["text"] if "text" in held else held["content"]
                identity, text = str(held["id"]), str(written)
                metadata = dict(held.get("metadata") or {})
            except (ValueError, KeyError, TypeError):
                raise UsageError(
                    f"{path.name}, line {number}: no chunk.",
                    hint="A line is a JSON object with an id and a text.",
                ) from None
            yield _passage(identity, text, metadata)

    def _lines(self) -> Iterator[tuple[Path, int, str]]:
        for path in self.paths:
            with path.open(encoding="utf-8") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield path, number, line


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
