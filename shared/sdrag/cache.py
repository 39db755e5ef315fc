"""
What may be remembered, and under which key.

A key is a keyed hash over everything the value depends on, so a short text cannot be
guessed from it. A value is what was released: never the raw text. Bounded, and safe
under concurrent use. Nothing is remembered of what failed.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b
from threading import Lock
from typing import Any, Protocol

from sdrag.errors import UsageError

__all__ = ["MemoryCache", "RedactionCache"]


class RedactionCache(Protocol):
    """Where redactions are remembered."""

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts, in their order."""
        ...

    def get(self, key: bytes) -> Any | None:
        """Return what was put under the key, if it is still there."""
        ...

    def put(self, key: bytes, value: Any) -> None:
        """Remember a value."""
        ...


class MemoryCache:
    """
    The least recently used entries, in memory.

    Args:
        entries: How many are kept.
    """

    def __init__(self, entries: int = 1024) -> None:
        if entries < 1:
            raise UsageError("A cache holds at least one entry.")
        self._entries = entries
        self._values: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = Lock()
        self._secret = secrets.token_bytes(32)

    def key(self, parts: Iterable[str]) -> bytes:
        """Return the keyed hash of the parts; each part's length is hashed too."""
        digest = blake2b(key=self._secret, digest_size=32)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return digest.digest()

    def get(self, key: bytes) -> Any | None:
        """Return what was put under the key, if it is still there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: bytes, value: Any) -> None:
        """Remember a value; the entry unused for longest makes room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                self._values.popitem(last=False)

    def __repr__(self) -> str:
        return f"MemoryCache({self._entries})"

    def __getstate__(self) -> dict[str, int]:
        """Pickle as an empty cache of the same size: what it holds stays here."""
        return {"entries": self._entries}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["entries"])  # type: ignore[misc]
