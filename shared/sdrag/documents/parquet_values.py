"""The values of a Parquet file, as JSON would have held them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time
from typing import TYPE_CHECKING, Any

from sdrag.documents.records import UnreadableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["plain_rows"]


def plain_rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """
    Yield rows by the names of their columns.

    Raises:
        UnreadableError: There is a value that JSON has no place for.
    """
    names = batch.schema.names
    columns = [column.cast(_coarse(column.type), safe=False) for column in batch]
    try:
        values = [column.to_pylist(maps_as_pydicts="strict") for column in columns]
    except KeyError:
        raise UnreadableError("names a key of a map twice") from None
    for row in zip(*values, strict=True):
        yield {name: _plain(one) for name, one in zip(names, row, strict=True)}


def _coarse(kind: pa.DataType) -> pa.DataType:
    """Return a type without nanoseconds, which Python has no times of."""
    import pyarrow as pa  # noqa: PLC0415 -- an extra
    from pyarrow import types  # noqa: PLC0415 -- an extra

    if types.is_map(kind):
        return pa.map_(kind.key_type, _coarse(kind.item_type))
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_coarse(kind.value_type)))
    if types.is_struct(kind):
        return pa.struct([one.with_type(_coarse(one.type)) for one in kind])
    if types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if types.is_time64(kind) else kind


def _plain(value: Any) -> Any:
    """Return what JSON would have held."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return _text(value)
        case date() | time():
            return value.isoformat()
        case dict():
            return {str(_plain(key)): _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return str(value)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise UnreadableError("holds bytes that are no UTF-8 text") from None
