"""
The rows of a Parquet file, as rows of JSON lines would be.

`parquet_footer` says where columns are. `parquet_limits` looks at a file before it is
unpacked; `parquet_pages` reads for it what its pages say. `parquet_values` turns values
into those of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import compress
from typing import TYPE_CHECKING, Any

from sdrag.documents.parquet_footer import row_groups
from sdrag.documents.parquet_limits import (
    INVALID,
    Unpacked,
    check_columns,
    check_types,
)
from sdrag.documents.parquet_values import plain_rows
from sdrag.documents.records import ID_KEYS, MAX_UNPACKED, TEXT_KEYS, UnreadableError
from sdrag.errors import require_extra

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["parquet_rows", "row_count"]

_AT_ONCE = 1000
_MOST_AT_ONCE = 5 * MAX_UNPACKED
"""Where single values are large, fewer rows are read at once."""

_LIMITS = {
    "schema_depth_limit": 32,
    "thrift_string_size_limit": 20_000_000,
    "thrift_container_size_limit": 1_000_000,
}


def parquet_rows(data: Any, *, whole: bool = True) -> Iterator[dict[str, Any]]:
    """
    Yield the rows of a file.

    A column `metadata` is an object or the JSON of one. Without it, all columns but
    those of the id and the text are the metadata. Times become ISO strings.

    Args:
        data: All of the file, as bytes or a buffer.
        whole: Whether all rows are held by the caller. If not, the limits are those of
            a row group, and a file may have any number of them.

    Raises:
        UnreadableError: It cannot be read; the message says why in no word of it.
        MissingExtraError: The extra `parquet` is missing.
    """
    number = 0
    with _reading():
        for batch in _batches(_view(data), whole=whole):
            for row in plain_rows(batch):
                number += 1
                yield _document(row, number)


def row_count(data: Any) -> int:
    """
    Return how many rows the footer of a file says it has.

    Raises:
        UnreadableError: It cannot be read.
        MissingExtraError: The extra `parquet` is missing.
    """
    with _reading():
        return int(_opened(_view(data)).metadata.num_rows)


@contextmanager
def _reading() -> Iterator[None]:
    with require_extra("parquet", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet  # noqa: PLC0415 -- an extra
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, RecursionError, ValueError):
        raise UnreadableError(INVALID) from None


def _view(data: Any) -> memoryview:
    return memoryview(data).cast("B")


def _opened(data: memoryview, **options: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 -- an extra
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 -- an extra

    check_types(data)
    return ParquetFile(
        pa.BufferReader(pa.py_buffer(data)),
        pre_buffer=False,
        coerce_int96_timestamp_unit="us",
        **_LIMITS,
        **options,
    )


def _batches(data: memoryview, *, whole: bool) -> Iterator[pa.RecordBatch]:
    footer = _opened(data).metadata
    leaves = [footer.schema.column(index) for index in range(footer.num_columns)]
    groups = row_groups(data, len(leaves))
    shared = [
        leaf.path
        for leaf, *places in zip(leaves, *groups, strict=True)
        if leaf.physical_type == "BYTE_ARRAY"
        if not any(place.has_deltas for place in places)
    ]
    file = _opened(data, metadata=footer, read_dictionary=shared)
    check_columns(file)
    columns = _read_columns(file.schema_arrow.names)
    read = [_is_below(leaf.path, columns) for leaf in leaves]
    held = Unpacked()
    for number, group in enumerate(groups):
        if not whole:
            held = Unpacked()
        unpacked = held.add_pages(data, [*compress(group, read)])
        rows = max(1, min(_AT_ONCE, _MOST_AT_ONCE // max(1, unpacked)))
        for batch in file.iter_batches(rows, [number], columns, use_threads=False):
            held.add_rows(batch)
            yield batch


def _is_below(path: str, columns: Collection[str]) -> bool:
    """Say whether a path is below one of the columns; names may have dots."""
    parts = path.split(".")
    return any(".".join(parts[:end]) in columns for end in range(1, len(parts) + 1))


def _read_columns(names: list[str]) -> list[str]:
    """Leave out columns that nobody reads, such as vectors next to the metadata."""
    if "metadata" in names and not set(names).isdisjoint(TEXT_KEYS):
        return [name for name in names if name in {"metadata", *TEXT_KEYS, *ID_KEYS}]
    return names


def _document(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a row with its metadata in one place."""
    if "metadata" not in row:
        text = next((key for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
        own = {text, next((key for key in ID_KEYS if row.get(key) is not None), None)}
        if text is None:
            return row
        rest = {key: value for key, value in row.items() if key not in own}
        return {**row, "metadata": rest}
    metadata = row["metadata"]
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            metadata = ()
    if metadata is not None and not isinstance(metadata, dict):
        raise UnreadableError(f"row {number} has metadata that are no object")
    return {**row, "metadata": metadata or {}}
