"""
What a preview has read so far, so that one that was stopped goes on where it was.

The journal is a file next to the page that is written, for its owner alone. It holds
offsets, causes and what leaves, under keyed hashes of what was read; no text that is
hidden. The preview removes it when its page is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.explanation import Explanation
from sdrag.explanation.stored import opened, stored
from sdrag.vocabulary import Passage

__all__ = ["PreviewJournal"]

_OWNER_ONLY = 0o600


class PreviewJournal:
    """
    Explanations of documents that were read before.

    Args:
        page: The file that the preview writes.
        about: All besides the documents that an explanation depends on. A journal of
            something else is begun anew.

    Raises:
        UsageError: The journal cannot be written.
    """

    def __init__(self, page: Path, about: Sequence[str]) -> None:
        self._path = page.with_name(f"{page.name}.progress")
        head, *lines = self._lines() or [{}]
        self._key = _bytes(head.get("key")) or secrets.token_bytes(32)
        name = self._hash("\0".join(about))
        known = [line for line in lines if head.get("about") == name]
        self._known: dict[str, Any] = {
            line["document"]: line["chunks"]
            for line in known
            if line.keys() == {"document", "chunks"}
        }
        # Written anew, since the last line may be cut off.
        self._write([{"key": self._key.hex(), "about": name}, *known], os.O_TRUNC)

    def get(
        self, chunks: Sequence[Passage], constraints: Mapping[str, str]
    ) -> list[Explanation] | None:
        """Return what was found in a document, or None if it was not read yet."""
        known = self._known.get(self._name(chunks))
        if known is None:
            return None
        try:
            return [
                opened(chunk, said, constraints)
                for chunk, said in zip(chunks, known, strict=True)
            ]
        except (ValueError, TypeError, KeyError):
            return None  # another hand wrote it: it is read again

    def put(
        self, chunks: Sequence[Passage], explanations: Sequence[Explanation]
    ) -> None:
        """Remember what was found in a document."""
        said = [stored(explanation) for explanation in explanations]
        self._write([{"document": self._name(chunks), "chunks": said}], os.O_APPEND)

    def remove(self) -> None:
        """Forget everything."""
        self._path.unlink(missing_ok=True)

    def _lines(self) -> list[dict[str, Any]]:
        """Return the lines that were written whole."""
        lines: list[dict[str, Any]] = []
        with suppress(OSError, ValueError):
            for text in self._path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                if not isinstance(line, dict):
                    break
                lines.append(line)
        return lines

    def _name(self, chunks: Sequence[Passage]) -> str:
        said = [[one.id, one.text, sorted(one.metadata.items())] for one in chunks]
        return self._hash(json.dumps(said, default=str))

    def _hash(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=16).hexdigest()

    def _write(self, lines: Iterable[Mapping[str, Any]], how: int) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, _OWNER_ONLY)
            with os.fdopen(file, "wb") as journal:
                journal.write(text.encode())
        except OSError as error:
            raise UsageError(
                f"{self._path} cannot be written ({type(error).__name__})."
            ) from None


def _bytes(said: object) -> bytes:
    try:
        return bytes.fromhex(str(said))
    except ValueError:
        return b""
