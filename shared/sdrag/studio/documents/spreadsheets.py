"""
Excel workbooks: the cells that readers see, a table for each sheet.

openpyxl reads them; it comes with the extra `documents`. Values are those that Excel
stored, not the formulas behind them. What is hidden, drawn or attached is not read, and
is counted.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from sdrag.errors import require_extra
from sdrag.studio.documents.formats import (
    MAX_UNPACKED,
    Record,
    Remarks,
    UnreadableError,
    parsing,
    records_of,
)

MAX_CELLS = 2_000_000
"""The most cells of a workbook: some programs write empty ones by the million."""

_UNREAD_PARTS = {
    "xl/activeX/": "controls",
    "xl/charts/chart": "charts",
    "xl/ctrlProps/": "controls",
    "xl/drawings/drawing": "drawings",
    "xl/embeddings/": "embedded files",
    "xl/externalLinks/externalLink": "links to other workbooks",
    "xl/media/": "pictures",
    "xl/pivotCache/pivotCacheRecords": "sources of pivot tables",
    "xl/threadedComments/": "threads of comments",
    "xl/vbaProject.bin": "macros",
}
"""Parts of the archive of which nothing is read, by how their names begin."""


def read_xlsx(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read each row of each sheet as lines `column: value`, as of CSV."""
    with require_extra("documents", "Excel workbooks"):
        from openpyxl import load_workbook  # noqa: PLC0415 -- an extra
    with parsing("Excel workbook"):
        _check_parts(data, remarks.unread)
        stored = load_workbook(io.BytesIO(data), data_only=True)
        written = load_workbook(io.BytesIO(data), data_only=False)
        tables = dict(_tables(stored, written, remarks.unread))
    for name, rows in tables.items():
        remarks.guesses.append(f"has a table of {len(rows):,} lines")
        yield from records_of(rows, name if len(tables) > 1 else "")


def _check_parts(data: bytes, unread: Counter[str]) -> None:
    """Refuse what unpacks to too much, and count the parts that are not read."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise UnreadableError(f"unpacks to more than {MAX_UNPACKED:,} bytes")
    for entry in entries:
        for beginning, noun in _UNREAD_PARTS.items():
            unread[noun] += entry.filename.startswith(beginning)


def _tables(
    stored: Any, written: Any, unread: Counter[str]
) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the visible sheets by their names, with the rows that are not empty."""
    for sheet in stored.worksheets:
        if sheet.sheet_state != "visible":
            unread["hidden sheets"] += 1
            continue
        if sheet.max_row * sheet.max_column > MAX_CELLS:
            raise UnreadableError(f"has a sheet of more than {MAX_CELLS:,} cells")
        if rows := _rows(sheet, written[sheet.title], unread):
            yield sheet.title, rows
    unread["sheets that are charts"] += len(stored.chartsheets)


def _rows(sheet: Any, written: Any, unread: Counter[str]) -> list[list[str]]:
    """Return the cells of a sheet without empty rows, columns, and hidden ones."""
    hidden = _hidden_columns(sheet)
    table: list[list[str]] = []
    unseen: set[int] = set()
    for cells in sheet.iter_rows():
        if sheet.row_dimensions[cells[0].row].hidden:
            unread["hidden rows"] += any(cell.value is not None for cell in cells)
            continue
        for cell in cells:
            unread["comments"] += cell.comment is not None
            if cell.value is None:
                formula = written.cell(cell.row, cell.column).value
                unread["formulas without a value"] += formula is not None
        unseen |= {
            cell.column
            for cell in cells
            if cell.column in hidden and cell.value is not None
        }
        table.append([_text(c.value) for c in cells if c.column not in hidden])
    unread["hidden columns"] += len(unseen)
    return _without_empty(table)


def _hidden_columns(sheet: Any) -> frozenset[int]:
    """Return the numbers of the columns that are hidden, alone or in a group."""
    return frozenset(
        number
        for dimension in sheet.column_dimensions.values()
        if dimension.hidden
        for number in range(dimension.min, dimension.max + 1)
    )


def _without_empty(table: list[list[str]]) -> list[list[str]]:
    """Leave out rows and columns without a value."""
    filled = [row for row in table if any(row)]
    used = [any(column) for column in zip(*filled, strict=True)]
    return [[c for c, keep in zip(row, used, strict=True) if keep] for row in filled]


def _text(value: object) -> str:
    """Return a cell as a text: a whole number without a point, a day without a time."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else str(value.date())
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
