"""
Vectors that are remembered in memory, and written down nowhere.

Whoever has a text's vector and the model that made it can recover much of the text, so
no vector is in the file of a state. Some are wanted again at every question: those
of constraints, and of chunks that are retrieved often. They are known by keyed hashes
of their texts, and the ones unused for longest make room.

Vectors of two models must not meet, and a state may serve wrappers with several. So a
state as it is opened remembers none, and each wrapper takes it with a memory of its
own: see `sdrag.state.State.remembering`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    import numpy as np

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["Vectors"]


class Vectors(Confidential):
    """
    The vectors of the texts that were used last.

    Args:
        entries: How many are kept; of 384 numbers, 4,096 of them take 6 MB.
    """

    __slots__ = ("_entries", "_lock", "_rows")

    def __init__(self, entries: int = 4_096) -> None:
        self._entries = entries
        self._rows: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = Lock()

    def __repr__(self) -> str:
        return "Vectors()"

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return what is remembered of these texts, by their keys."""
        with self._lock:
            found = {key: self._rows[key] for key in keys if key in self._rows}
            for key in found:
                self._rows.move_to_end(key)
            return found

    def put(self, rows: Mapping[bytes, Vector]) -> None:
        """Remember vectors; each is copied, for it may be a row of a large matrix."""
        with self._lock:
            for key, row in rows.items():
                self._rows[key] = row.copy()
                self._rows.move_to_end(key)
            while len(self._rows) > self._entries:
                self._rows.popitem(last=False)
