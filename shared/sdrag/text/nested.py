"""
Nested values: one walk through mappings and lists.

Whatever reads a value, and whatever rewrites it, takes the same walk, to a bounded
depth and size. So nothing leaves that was not read. Both bounds hold for values that
contain themselves too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

MOST_DEPTH = 32
"""How many mappings and lists may be inside each other."""

MOST_VALUES = 4096
"""How many values, keys and containers are read: an embedding is no larger."""

Change = Callable[[Any], Any]


def is_given(value: Any) -> bool:
    """Say whether a value is there; one that does not know, as of pandas, is."""
    try:
        return bool(value)
    except Exception:  # noqa: BLE001 -- whatever a type of the host raises
        return True


def items_of(value: Any) -> Collection[Any]:
    """Return the items of a list, tuple or set; any other value is the one item."""
    is_collection = isinstance(value, (list, tuple, set, frozenset))
    return value if is_collection else (value,)


class TooLarge(Exception):  # noqa: N818 -- a signal, and no fault of anybody's
    """A value is deeper or has more parts than is read."""


class Walk:
    """
    Walk through values that share one bound on their size.

    Args:
        change: Takes each value that is no mapping and no list; returns its copy.
        change_key: The same for the keys of mappings.
        lists: The types that are walked through as lists.

    Attributes:
        left: How many values may still be read.
        label: The key of the mapping that the present value is in; at first none.
    """

    __slots__ = ("_change", "_change_key", "_lists", "label", "left")

    def __init__(
        self,
        change: Change,
        change_key: Change,
        lists: tuple[type, ...] = (list, tuple),
    ) -> None:
        self._change = change
        self._change_key = change_key
        self._lists = lists
        self.left = MOST_VALUES
        self.label = ""

    def copy(self, value: Any, depth: int = 0) -> Any:
        """
        Return a copy of plain dicts and lists.

        Raises:
            TooLarge: It is too deep, or too many values were read.
        """
        self._count()
        is_mapping = isinstance(value, Mapping)
        if not is_mapping and not isinstance(value, self._lists):
            return self._change(value)
        if depth >= MOST_DEPTH:
            raise TooLarge
        if not is_mapping:
            return [self._copy_in(self.label, inner, depth) for inner in value]
        entries = [(self._key(key), key, inner) for key, inner in value.items()]
        return {new: self._copy_in(key, inner, depth) for new, key, inner in entries}

    def _copy_in(self, label: Any, value: Any, depth: int) -> Any:
        outer, self.label = self.label, label if isinstance(label, str) else ""
        try:
            return self.copy(value, depth + 1)
        finally:
            self.label = outer

    def _key(self, key: Any) -> Any:
        self._count()
        return self._change_key(key)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLarge
