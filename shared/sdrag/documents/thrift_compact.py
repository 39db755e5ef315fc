"""
Structs of Thrift's compact protocol, in which Parquet describes itself.

Whatever two readers could read in two ways is refused: a field that comes twice, and a
kind that Parquet does not use. A field is known by its number and its kind, since other
readers pass over a field of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["I32", "I64", "LIST", "STRUCT", "Fields", "Reader"]

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
"""The kinds of fields, by their numbers."""

Fields = dict[tuple[int, int], Any]
"""What a struct holds, by the number and the kind of a field."""

_MAX_NESTING = 8
_MAX_BITS = 64


@dataclass(slots=True)
class Reader:
    """
    Reads structs one after the other.

    Args:
        data: Ends where nothing is to be read any more.
        at: Where the next one begins.
    """

    data: memoryview
    at: int

    def struct(self, nesting: int = 0) -> Fields:
        """
        Read a struct.

        Raises:
            ValueError: There is none.
        """
        if nesting > _MAX_NESTING:
            raise ValueError
        fields: Fields = {}
        seen: set[int] = set()
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in seen:
                raise ValueError
            seen.add(number)
            kind = head & 15
            # A field that is true or false has its value in its kind.
            fields[number, kind] = self._value(kind, nesting) if kind > 2 else None
        return fields

    def _value(self, kind: int, nesting: int) -> Any:
        if kind in {4, I32, I64}:
            return self._integer()
        if kind == LIST:
            return self._list(nesting)
        if kind == STRUCT:
            return self.struct(nesting + 1)
        sizes = {1: 1, 2: 1, 3: 1, 7: 8}
        if kind in sizes:
            return self._skip(sizes[kind])
        if kind == BINARY:
            return self._skip(self._varint())
        raise ValueError

    def _list(self, nesting: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        if size > len(self.data) - self.at:
            raise ValueError
        return [self._value(head & 15, nesting) for _ in range(size)]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise ValueError
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, length: int) -> None:
        if length > len(self.data) - self.at:
            raise ValueError
        self.at += length

    def _varint(self) -> int:
        value = 0
        for shift in range(0, _MAX_BITS, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
