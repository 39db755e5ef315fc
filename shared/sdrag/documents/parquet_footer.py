"""
Where the columns of a Parquet file are, by its footer.

pyarrow says it too, but ends the process where a column's description contradicts
itself: what its metadata of a column throw is caught by nobody. So it is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdrag.documents.thrift_compact import I64, LIST, STRUCT, Fields, Reader

__all__ = ["ColumnPlace", "footer_of", "row_groups"]

_TAIL = 8
"""The last bytes of a file: the length of its footer, and a mark."""
_MARK = b"PAR1"
_DELTAS = frozenset({5, 6, 7})
"""The encodings by differences."""


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """
    A column of a row group.

    Args:
        start: Where its pages begin in the file.
        length: Of all pages with their headers.
        has_deltas: It has an encoding that pyarrow always writes out.
    """

    start: int
    length: int
    has_deltas: bool


def footer_of(data: memoryview) -> memoryview:
    """
    Return the footer of a file.

    Raises:
        ValueError: There is none.
    """
    length = int.from_bytes(data[-_TAIL:-4], "little")
    if len(data) < _TAIL + length or bytes(data[-4:]) != _MARK:
        raise ValueError
    return data[len(data) - _TAIL - length : len(data) - _TAIL]


def row_groups(data: memoryview, columns: int) -> list[list[ColumnPlace]]:
    """
    Return the columns of each row group, in the order of the schema.

    Args:
        data: All of the file.
        columns: How many the schema has, those inside of others too.

    Raises:
        ValueError: The footer cannot be read, or says something else.
    """
    try:
        groups = Reader(footer_of(data), 0).struct()[4, LIST]
        found = [[*map(_place, group[1, LIST])] for group in groups]
    except (KeyError, TypeError):
        raise ValueError from None
    if any(len(group) != columns for group in found):
        raise ValueError
    return found


def _place(chunk: Fields) -> ColumnPlace:
    described = chunk[3, STRUCT]
    first, length = described[9, I64], described[7, I64]
    dictionary = described.get((11, I64), 0)
    if dictionary:
        first = min(first, dictionary)
    return ColumnPlace(first, length, not _DELTAS.isdisjoint(described[2, LIST]))
