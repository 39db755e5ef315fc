"""A bounded memory of this process: what was used last stays."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

from sdrag.vocabulary import Confidential

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Confidential, Generic[K, V]):
    """Values by keys that hold no text; safe with several threads."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def __repr__(self) -> str:
        return "Memo()"

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return the value, if it is still there."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Remember a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._entries:
                self._values.popitem(last=False)
