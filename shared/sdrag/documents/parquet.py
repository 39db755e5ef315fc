"""
Parquet files: their rows as rows of JSON lines would be, and documents as such a file.

pyarrow reads them, within limits that are taken from the file's own metadata. A file
that lies about itself can still cost memory: open Parquet files that you trust. Types
that another library has registered are refused unopened, because building one may run
code: some of Ray's are pickles.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdrag.documents.content import ID_KEYS, MAX_UNPACKED, TEXT_KEYS, UnreadableError
from sdrag.errors import require_extra

if TYPE_CHECKING:
    import pyarrow as pa

MAX_ROWS = 1_000_000
"""The most rows of a file that is read whole."""

_INVALID = "is no valid Parquet file"
_AT_ONCE = 1000
_MOST_AT_ONCE = 5 * MAX_UNPACKED
"""Where single values may be large, fewer rows are read at once."""
_MAX_DEPTH = 32
_ERRORS = (OSError, OverflowError, RecursionError, TypeError, ValueError)
_REGISTERED = b"ARROW:extension:name"


def parquet_rows(source: bytes | Path) -> Iterator[dict[str, Any]]:
    """
    Yield the rows of a file.

    A column `metadata` is an object or the JSON of one. Without it, all columns but
    those of the id and the text are the metadata. Times become ISO strings.

    Args:
        source: All of the file; or its path, and then a row group is held at once and
            a file may have any number of them.

    Raises:
        UnreadableError: It cannot be read; the message says why in no word of it.
        MissingExtraError: The extra `parquet` is missing.
    """
    held = isinstance(source, bytes)
    number = unpacked = dense = 0
    with _reading():
        file = _open(source)
        columns = _read_columns(file.schema_arrow.names)
        if held and file.metadata.num_rows > MAX_ROWS:
            raise UnreadableError(f"holds more than {MAX_ROWS:,} rows")
        for index in range(file.num_row_groups):
            size = file.metadata.row_group(index).total_byte_size
            if not held:
                unpacked = dense = 0
            unpacked = _check(size, unpacked)
            rows = max(1, min(_AT_ONCE, _MOST_AT_ONCE // max(1, size)))
            for batch in file.iter_batches(rows, [index], columns, use_threads=False):
                read = [_dense(column) for column in batch]
                dense = _check(sum(c.nbytes for c in read), dense)
                for row in _rows(batch.schema.names, read):
                    number += 1
                    yield _document(row, number)


def row_count(path: Path) -> int:
    """
    Return how many rows a file says it has.

    Raises:
        UnreadableError: It cannot be read.
        MissingExtraError: The extra `parquet` is missing.
    """
    with _reading():
        return int(_open(path).metadata.num_rows)


@contextmanager
def _reading() -> Iterator[None]:
    with require_extra("parquet", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet  # noqa: PLC0415 -- an extra
    try:
        yield
    except (*_ERRORS, pa.ArrowException):
        raise UnreadableError(_INVALID) from None


def _open(source: bytes | Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415 -- an extra
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 -- an extra

    held = isinstance(source, bytes)
    data = pa.BufferReader(source) if held else pa.memory_map(str(source))
    _check_types(data)
    file = ParquetFile(
        data, coerce_int96_timestamp_unit="us", schema_depth_limit=_MAX_DEPTH
    )
    names = file.schema_arrow.names
    if not names or len(set(names)) != len(names):
        raise UnreadableError("has no columns, or two of one name")
    return file


def _check_types(data: Any) -> None:
    """Look for registered types in the footer's bytes: parsing it may build them."""
    data.seek(max(0, data.size() - 8))
    length = int.from_bytes(data.read(4), "little")
    data.seek(max(0, data.size() - 8 - length))
    footer = data.read(length)
    data.seek(0)
    # The schema is in base64, where a word is written in one of three ways.
    marks = [base64.b64encode(bytes(by) + _REGISTERED) for by in range(3)]
    if any(mark[4 if by else 0 : -4] in footer for by, mark in enumerate(marks)):
        raise UnreadableError("has columns of a type that only another program knows")


def _check(size: int, before: int) -> int:
    if before + size > MAX_UNPACKED:
        raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")
    return before + size


def _read_columns(names: list[str]) -> list[str]:
    """Leave out columns that nobody reads, such as vectors next to the metadata."""
    if "metadata" in names and not set(names).isdisjoint(TEXT_KEYS):
        return [name for name in names if name in {"metadata", *TEXT_KEYS, *ID_KEYS}]
    return names


def _dense(column: pa.Array) -> pa.Array:
    """Return a column without references, and without times that Python lacks."""
    from pyarrow import timestamp, types  # noqa: PLC0415 -- an extra

    if types.is_dictionary(column.type):
        return column.dictionary_decode()
    if types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(timestamp("us", column.type.tz), safe=False)
    return column


def _rows(
    names: Sequence[str], columns: Sequence[pa.Array]
) -> Iterator[dict[str, Any]]:
    """Yield rows with the values that JSON would have held."""
    try:
        values = [column.to_pylist(maps_as_pydicts="strict") for column in columns]
    except KeyError:
        raise UnreadableError("names a key of a map twice") from None
    for row in zip(*values, strict=True):
        yield json.loads(json.dumps(dict(zip(names, row, strict=True)), default=_plain))


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise UnreadableError("holds bytes that are no UTF-8 text") from None
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _document(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a row with its metadata in one place."""
    if "metadata" not in row:
        text = next((key for key in TEXT_KEYS if isinstance(row.get(key), str)), None)
        used = {text, next((key for key in ID_KEYS if row.get(key) is not None), None)}
        if text is None:
            return row
        rest = {key: value for key, value in row.items() if key not in used}
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


def as_parquet(rows: Iterable[dict[str, Any]]) -> bytes:
    """
    Return a Parquet file of `id`, `content` and `metadata`, which is JSON text.

    Raises:
        MissingExtraError: The extra `parquet` is missing.
    """
    with require_extra("parquet", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 -- an extra
    held = [
        {**row, "metadata": json.dumps(row["metadata"], ensure_ascii=False)}
        for row in rows
    ]
    columns = {
        name: pa.array([row[name] for row in held], pa.string())
        for name in ("id", "content", "metadata")
    }
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=10_000, compression="zstd")
    return file.getvalue()
