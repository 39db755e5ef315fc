"""
What the pages of a Parquet file unpack to, by their own headers.

The footer of a file gives sizes too, but a library unpacks what the header of a page
says. So the headers are read first, and no page is unpacked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.documents.thrift_compact import I32, STRUCT, Fields, Reader

__all__ = ["PageSize", "page_sizes"]

_UNPACKED, _PACKED = 2, 3
_HEADERS = (5, 7, 8)
"""The fields of a page's header that hold how many values the page has."""


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
        reader = Reader(data[:end], start)
        header = reader.struct()
        inner = [header[one, STRUCT] for one in _HEADERS if (one, STRUCT) in header]
        values = sum(_size(one, 1) for one in inner)
        yield PageSize(_size(header, _UNPACKED), values)
        start = reader.at + _size(header, _PACKED)
    if start != end:
        raise ValueError


def _size(fields: Fields, number: int) -> int:
    size = fields.get((number, I32), -1)
    if size < 0:
        raise ValueError
    return int(size)
