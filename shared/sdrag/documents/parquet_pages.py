"""
What the pages of a Parquet file unpack to, by their own headers.

The footer of a file gives sizes too, but a library unpacks what the header of a page
says. So the headers are read first, and no page is unpacked for it. They are structs of
Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["PageSize", "page_sizes"]

_UNPACKED, _PACKED = 2, 3
_HEADERS = (5, 7, 8)
"""The fields of a page's header that hold how many values the page has."""

_MAX_NESTING = 8
_MAX_BITS = 64


@dataclass(frozen=True, slots=True)
class PageSize:
    """
    What a page comes to.

    Args:
        unpacked: Its bytes when it is unpacked.
        values: How many it holds, empty ones too.
    """

    unpacked: int
    values: int


def page_sizes(data: memoryview, start: int, length: int) -> Iterator[PageSize]:
    """
    Yield the sizes of the pages of a column, in order.

    Args:
        data: All of the file.
        start: Where the first page begins.
        length: Of all pages with their headers.

    Raises:
        ValueError: There is no chain of pages.
    """
    end = start + length
    if not 0 <= start <= end <= len(data):
        raise ValueError
    while start < end:
        reader = _Reader(data[:end], start)
        header = reader.struct()
        inner = next((header[one] for one in _HEADERS if one in header), {1: 0})
        yield PageSize(_size(header, _UNPACKED), _size(inner, 1))
        start = reader.at + _size(header, _PACKED)
    if start != end:
        raise ValueError


def _size(fields: object, number: int) -> int:
    size = fields.get(number) if isinstance(fields, dict) else None
    if not isinstance(size, int) or size < 0:
        raise ValueError
    return size


@dataclass(slots=True)
class _Reader:
    """Reads structs; what is no number and no struct is passed over."""

    data: memoryview
    at: int

    def struct(self, nesting: int = 0) -> dict[int, Any]:
        """Read fields by their numbers."""
        if nesting > _MAX_NESTING:
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15, nesting)
        return fields

    def _value(self, kind: int, nesting: int) -> Any:
        match kind:
            case 1 | 2:  # true and false are kinds of their own
                return None
            case 3:
                return self._skip(1)
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                return self._skip(8)
            case 8:
                return self._skip(self._varint())
            case 12:
                return self.struct(nesting + 1)
            case _:  # a header has no lists
                raise ValueError

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
