"""
Parquet files: their rows, as rows of JSON lines would be.

pyarrow reads them, within limits that are taken from the file's own metadata. A file
that lies about itself can still cost memory: open Parquet files that you trust. Types
that another library has registered are refused unopened, because building one may run
code: some of Ray's are pickles.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import date, time
from typing import Any

from sdrag.errors import require_extra
from sdrag.studio.documents.formats import (
    ID_KEYS,
    MAX_UNPACKED,
    TEXT_KEYS,
    Record,
    Remarks,
    UnreadableError,
    record_of,
)

MAX_ROWS = 1_000_000
"""The most rows of a file."""

_AT_ONCE = 1000
_MOST_AT_ONCE = 5 * MAX_UNPACKED
"""Where single values may be large, fewer rows are read at once."""
_MAX_DEPTH = 32
_ERRORS = (LookupError, OSError, OverflowError, RecursionError, TypeError, ValueError)
_REGISTERED = b"ARROW:extension:name"


def read_parquet(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """
    Read a document of each row.

    A column `metadata` is an object or the JSON of one. Without it, all columns but
    those of the id and the text are the metadata. Times become ISO strings.
    """
    with require_extra("parquet", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 -- an extra
    try:
        _check_types(data)
        file = ParquetFile(
            pa.BufferReader(data),
            coerce_int96_timestamp_unit="us",
            schema_depth_limit=_MAX_DEPTH,
        )
        for number, row in enumerate(_rows(file), start=1):
            yield record_of(_with_metadata(row, number), remarks)
    except (*_ERRORS, pa.ArrowException):
        raise UnreadableError("is no valid Parquet file") from None


def _rows(file: Any) -> Iterator[dict[str, Any]]:
    """Yield rows with the values that JSON would have held."""
    names = file.schema_arrow.names
    if not names or len(set(names)) != len(names):
        raise UnreadableError("has no columns, or two of one name")
    if file.metadata.num_rows > MAX_ROWS:
        raise UnreadableError(f"holds more than {MAX_ROWS:,} rows")
    groups = map(file.metadata.row_group, range(file.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    _check_size(size)
    at_once = max(1, min(_AT_ONCE, _MOST_AT_ONCE // max(1, size)))
    plain, size = _plain_schema(file.schema_arrow), 0
    for batch in file.iter_batches(at_once, use_threads=False):
        dense = batch.cast(plain, safe=False)
        size += dense.nbytes
        _check_size(size)
        for row in dense.to_pylist(maps_as_pydicts="strict"):
            yield json.loads(json.dumps(row, default=_as_text))


def _check_types(data: bytes) -> None:
    """Look for registered types in the footer's bytes: parsing it may build them."""
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[max(0, len(data) - 8 - length) :]
    # The schema is in base64, where a word is written in one of three ways.
    marks = [base64.b64encode(bytes(by) + _REGISTERED) for by in range(3)]
    if any(mark[4 if by else 0 : -4] in footer for by, mark in enumerate(marks)):
        raise UnreadableError("has columns of a type that only another program knows")


def _check_size(size: int) -> None:
    if size > MAX_UNPACKED:
        raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")


def _plain_schema(schema: Any) -> Any:
    """Return a schema without references, and without times that Python lacks."""
    from pyarrow import timestamp, types  # noqa: PLC0415 -- an extra

    for number, field in enumerate(schema):
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_timestamp(kind) and kind.unit == "ns":
            kind = timestamp("us", kind.tz)
        schema = schema.set(number, field.with_type(kind))
    return schema


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise UnreadableError("holds bytes that are no UTF-8 text") from None
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _with_metadata(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a row with its metadata in one place."""
    if "metadata" not in row:
        kept = {key: row[key] for key in (*TEXT_KEYS, *ID_KEYS) if key in row}
        rest = {key: value for key, value in row.items() if key not in kept}
        has_text = any(isinstance(kept.get(key), str) for key in TEXT_KEYS)
        return {**kept, "metadata": rest} if has_text else row
    metadata = row["metadata"]
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            metadata = ()
    if metadata is not None and not isinstance(metadata, dict):
        raise UnreadableError(f"row {number} has metadata that are no object")
    return {**row, "metadata": metadata or {}}
