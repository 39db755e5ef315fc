"""
What a Parquet file may unpack to, and what in it is not opened at all.

A few bytes can stand for as many as one likes: in packed pages, in runs of one value,
and in references to one value. All three are measured before memory is taken for them.
What a library would build from a description in the file is refused, because building
it may run code: types that Ray registers can read pickles.
"""

from __future__ import annotations

import base64
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sdrag.documents.parquet_pages import page_sizes
from sdrag.documents.records import MAX_UNPACKED, UnreadableError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ColumnChunkMetaData, RowGroupMetaData

__all__ = ["INVALID", "MAX_VALUES", "Unpacked", "check_columns", "check_types"]

INVALID = "is no valid Parquet file"

MAX_VALUES = 10_000_000
"""The most cells, or items of lists in cells, that a file may hold."""

MAX_ROWS = 1_000_000
"""The most rows, however little is in them."""

_PAGE = 100
"""So many values a page counts for: its header takes time to read."""

_MAX_COLUMNS = 1000
_TAIL = 8
"""The last bytes of a file: the length of its footer, and a mark."""


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
        UnreadableError: There are some, or there is no footer.
    """
    length = int.from_bytes(data[-_TAIL:-4], "little")
    footer = bytes(data[-_TAIL - length : -_TAIL])
    if len(footer) != length or bytes(data[-4:]) != b"PAR1":
        raise UnreadableError(INVALID)
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

    def add_pages(
        self, data: memoryview, group: RowGroupMetaData, columns: Collection[str]
    ) -> int:
        """
        Add a row group before it is unpacked; return its bytes.

        Raises:
            UnreadableError: It is too much.
            ValueError: There are no such pages.
        """
        before = self.pages
        for column in map(group.column, range(group.num_columns)):
            if _is_of(column.path_in_schema, columns):
                for page in page_sizes(data, *_place(column)):
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


def _is_of(path: str, columns: Collection[str]) -> bool:
    """Say whether a path is below one of the columns; names may have dots."""
    parts = path.split(".")
    return any(".".join(parts[:end]) in columns for end in range(1, len(parts) + 1))


def _place(column: ColumnChunkMetaData) -> tuple[int, int]:
    """Return where the pages of a column begin, and their length."""
    first = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset:
        first = min(first, column.dictionary_page_offset)
    return first, column.total_compressed_size


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
