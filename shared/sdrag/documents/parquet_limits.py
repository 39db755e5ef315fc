"""
What a Parquet file may unpack to, and what in it is not opened at all.

A small file can hold a huge text: in compressed pages, in runs of one value, and in
references to one value. All three are measured before memory is taken for them.
What a library would build from a description in the file is refused, because building
it may run code: types that Ray registers can read pickles.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdrag.documents.parquet_footer import ColumnPlace, footer_of
from sdrag.documents.parquet_pages import page_sizes
from sdrag.documents.records import MAX_UNPACKED, UnreadableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["INVALID", "MAX_VALUES", "Unpacked", "check_columns", "check_types"]

INVALID = "is no valid Parquet file"

MAX_VALUES = 10_000_000
"""The most cells, or items of lists in cells, that a file may hold."""

MAX_ROWS = 1_000_000
"""The most rows, however little is in them."""

_PAGE = 100
"""So many values a page counts for: its header takes time to read."""

_MAX_COLUMNS = 1000


def _aligned(word: bytes) -> tuple[bytes, ...]:
    """Return what a word is in base64, wherever it begins in the text."""
    encoded = (base64.b64encode(bytes(by) + word) for by in range(3))
    return tuple(one[4 * (by > 0) : -4] for by, one in enumerate(encoded))


_REGISTERED = _aligned(b"ARROW:extension:name")
"""What a footer holds if it names a type that a library has registered."""


def check_types(data: memoryview) -> None:
    """
    Refuse types that a library would build, before one opens the file.

    Raises:
        UnreadableError: There are some.
        ValueError: There is no footer.
    """
    footer = bytes(footer_of(data))
    if any(mark in footer for mark in _REGISTERED):
        raise UnreadableError("has columns of a type that only another program knows")


def check_columns(file: Any) -> None:
    """
    Refuse columns that make no rows.

    Raises:
        UnreadableError: There are none, too many, or two of one name.
    """
    names = file.schema_arrow.names
    if not names or file.metadata.num_columns > _MAX_COLUMNS:
        raise UnreadableError(f"has not from 1 to {_MAX_COLUMNS:,} columns")
    if len(set(names)) != len(names):
        raise UnreadableError("has two columns of one name")


class Unpacked:
    """What was unpacked of a file, or of a row group."""

    def __init__(self) -> None:
        self.pages = self.values = self.rows = self.expanded = 0

    def add_pages(self, data: memoryview, columns: Sequence[ColumnPlace]) -> int:
        """
        Add a row group before it is unpacked; return its bytes.

        Raises:
            UnreadableError: It is too much.
            ValueError: There are no such pages.
        """
        before = self.pages
        for column in columns:
            for page in page_sizes(data, column.start, column.length):
                self.pages += page.unpacked
                self.values += page.values + _PAGE
                self._check()
        return self.pages - before

    def add_rows(self, batch: pa.RecordBatch) -> None:
        """
        Add rows before each value is made of what it refers to.

        Raises:
            UnreadableError: They are too much.
        """
        self.rows += batch.num_rows
        self.expanded += sum(map(_expanded, batch.columns))
        self._check()

    def _check(self) -> None:
        if max(self.pages, self.expanded) > MAX_UNPACKED:
            raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")
        if self.values > MAX_VALUES:
            raise UnreadableError(f"holds more than {MAX_VALUES:,} values")
        if self.rows > MAX_ROWS:
            raise UnreadableError(f"holds more than {MAX_ROWS:,} rows")


def _expanded(array: pa.Array) -> int:
    """Return the bytes of an array whose values are not shared any more."""
    from pyarrow import types  # noqa: PLC0415 -- an extra

    if types.is_dictionary(array.type):
        return _referred(array)
    if types.is_map(array.type):
        return _expanded(array.keys) + _expanded(array.items)
    if types.is_struct(array.type):
        return sum(map(_expanded, array.flatten()))
    if types.is_nested(array.type):
        return _expanded(array.values)
    return int(array.nbytes)


def _referred(array: pa.DictionaryArray) -> int:
    import pyarrow as pa  # noqa: PLC0415 -- an extra
    import pyarrow.compute as pc  # noqa: PLC0415 -- an extra

    lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
    return pc.sum(lengths.take(array.indices)).as_py() or 0
