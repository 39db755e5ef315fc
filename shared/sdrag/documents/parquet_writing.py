"""
Documents as a Parquet file: a row for each, of `id`, `content` and `metadata`.

The metadata are a column of structs where Arrow holds all of them as they are. Else,
where documents have other keys or types than their neighbours, they are JSON text.
`parquet_rows` reads both.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sdrag.errors import require_extra

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_parquet"]

_IN_GROUP = 10_000
"""So many rows are in a row group, which a reader holds at once."""

_MAX_DEPTH = 8
"""More than this in one another is JSON text."""


def as_parquet(rows: Iterable[dict[str, Any]]) -> bytes:
    """
    Return a Parquet file.

    Args:
        rows: Of `id`, `content` and `metadata`, with values that JSON has.

    Raises:
        MissingExtraError: The extra `parquet` is missing.
    """
    with require_extra("parquet", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 -- an extra
    held = list(rows)
    columns = {
        "id": pa.array([row["id"] for row in held], pa.string()),
        "content": pa.array([row["content"] for row in held], pa.string()),
        "metadata": _metadata([row["metadata"] for row in held]),
    }
    file = io.BytesIO()
    pq.write_table(
        pa.table(columns), file, row_group_size=_IN_GROUP, compression="zstd"
    )
    return file.getvalue()


def _metadata(found: Sequence[dict[str, Any]]) -> pa.Array:
    """Return a column of structs if it holds what was found, else of JSON."""
    import pyarrow as pa  # noqa: PLC0415 -- an extra

    written = [_json(one) for one in found]
    try:
        array = pa.array(found)
    except (pa.ArrowException, OverflowError, RecursionError):
        return pa.array(written, pa.string())
    if not _is_plain(array.type) or [*map(_json, array.to_pylist())] != written:
        return pa.array(written, pa.string())
    return array


def _is_plain(kind: pa.DataType, depth: int = 0) -> bool:
    """Say whether Parquet has the type: no empty struct, no list of nothing."""
    from pyarrow import types  # noqa: PLC0415 -- an extra

    if depth > _MAX_DEPTH or (types.is_struct(kind) and not kind.num_fields):
        return False
    if types.is_list(kind) and types.is_null(kind.value_type):
        return False
    inner = [kind.field(index).type for index in range(kind.num_fields)]
    return all(_is_plain(one, depth + 1) for one in inner)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
