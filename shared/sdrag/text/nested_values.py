"""
One walk through nested values: mappings and lists, to a bounded depth and size.

Whatever reads a value, and whatever rewrites it, takes the same walk. So nothing leaves
that was not read. Both bounds hold for values that contain themselves too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["MOST_DEPTH", "MOST_VALUES", "TooLarge", "Walk"]

MOST_DEPTH = 32
"""So many mappings and lists may stand inside each other."""

MOST_VALUES = 4096
"""So many values, keys and containers are read: an embedding is no larger."""

Change = Callable[[Any], Any]


class TooLarge(Exception):  # noqa: N818 -- a signal, and no fault of anybody's
    """A value is deeper or has more parts than is read."""


class Walk:
    """
    Walk through values that share one bound on their size.

    Args:
        change: Is given each value that is no mapping and no list; returns what stands
            in its place in the copy.
        change_key: The same for the keys of mappings.
        lists: What is walked through as a list.

    Attributes:
        left: So many values may still be read.
    """

    __slots__ = ("_change", "_change_key", "_lists", "left")

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

    def copy(self, value: Any, depth: int = 0) -> Any:
        """
        Return a copy of plain dicts and lists.

        Args:
            value: Any value; it is not changed.
            depth: So many mappings and lists it stands in.

        Raises:
            TooLarge: It is too deep, or too many values were read.
        """
        self.left -= 1
        if self.left < 0:
            raise TooLarge
        is_mapping = isinstance(value, Mapping)
        if not is_mapping and not isinstance(value, self._lists):
            return self._change(value)
        if depth == MOST_DEPTH:
            raise TooLarge
        if is_mapping:
            return {
                self._key(key): self.copy(inner, depth + 1)
                for key, inner in value.items()
            }
        return [self.copy(inner, depth + 1) for inner in value]

    def _key(self, key: Any) -> Any:
        self.left -= 1
        return self._change_key(key)
