"""
One walk through nested values: mappings and lists, to a bounded depth and size.

Whatever reads a value, and whatever rewrites it, takes the same walk. So nothing leaves
that was not read. Both bounds hold for values that contain themselves too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

__all__ = ["DROPPED", "MOST_DEPTH", "MOST_VALUES", "Rebuilt", "TooLarge", "Walk"]

MOST_DEPTH = 32
"""How many mappings and lists may be inside each other."""

MOST_VALUES = 4096
"""How many values, keys and containers are read: an embedding is no larger."""

Change = Callable[[Any], Any]
Unpack = Callable[[Any, Change], Any]


class TooLarge(Exception):  # noqa: N818 -- a signal, and no fault of anybody's
    """A value is deeper or has more parts than is read."""


class Rebuilt(NamedTuple):
    """A value that is copied already."""

    value: Any


class _Dropped(Enum):
    DROPPED = "dropped"


DROPPED: Final = _Dropped.DROPPED
"""In place of a key: its entry is left out."""


def _refuse() -> Any:
    raise TooLarge


class Walk:
    """
    Walk through values that share one bound on their size.

    Args:
        change: Takes each value that is no mapping and no list; returns its copy.
        change_key: The same for the keys of mappings; may return `DROPPED`.
        lists: The types that are walked through as lists.
        unpack: Takes each value before it is looked at, and what copies a part of it.
            Returns a value to walk through instead, or its copy as `Rebuilt`.
        too_deep: Returns what replaces a mapping or list that is too deep; by default
            raises `TooLarge`.
        most: How many values may be read.

    Attributes:
        left: How many values may still be read.
    """

    __slots__ = ("_change", "_change_key", "_lists", "_too_deep", "_unpack", "left")

    def __init__(
        self,
        change: Change,
        change_key: Change,
        lists: tuple[type, ...] = (list, tuple),
        *,
        unpack: Unpack | None = None,
        too_deep: Callable[[], Any] = _refuse,
        most: int = MOST_VALUES,
    ) -> None:
        self._change = change
        self._change_key = change_key
        self._lists = lists
        self._unpack = unpack
        self._too_deep = too_deep
        self.left = most

    def copy(self, value: Any, depth: int = 0) -> Any:
        """
        Return a copy of plain dicts and lists.

        Args:
            value: Any value; it is not changed.
            depth: How many mappings and lists it is inside of.

        Raises:
            TooLarge: It is too deep, or too many values were read.
        """
        self._count()
        if self._unpack is not None:
            value = self._unpack(value, lambda part: self.copy(part, depth + 1))
            if isinstance(value, Rebuilt):
                return value.value
        is_mapping = isinstance(value, Mapping)
        if not is_mapping and not isinstance(value, self._lists):
            return self._change(value)
        if depth >= MOST_DEPTH:
            return self._too_deep()
        if not is_mapping:
            return [self.copy(inner, depth + 1) for inner in value]
        entries = {self._key(key): inner for key, inner in value.items()}
        entries.pop(DROPPED, None)
        return {key: self.copy(inner, depth + 1) for key, inner in entries.items()}

    def _key(self, key: Any) -> Any:
        self._count()
        return self._change_key(key)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLarge
