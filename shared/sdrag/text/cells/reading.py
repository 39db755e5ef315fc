"""From a text to its cells: which reader reads which stretch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.cells.cell import Cell, Layout
from sdrag.text.cells.json_cells import find_json
from sdrag.text.cells.lines import read_lines
from sdrag.text.cells.markup import is_markup, read_markup
from sdrag.text.cells.tables import SEPARATORS, read_table
from sdrag.text.cells.yaml_cells import find_comments, is_flow, is_yaml, read_yaml

_STRUCTURE = re.compile(r"[:={}\[\]<>|;\t]|[ ]{2}|,\S|\n|\bu/\w|#|chat")
_FENCE = re.compile(r"^[ ]{0,3}(?:```|~~~)[ ]?[\w.+-]*[ ]*$", re.MULTILINE)
_HEADS = re.compile(r"[\w -]+(?:[,;\t|][\w -]+)+")
_FEWEST_ROWS = 2
_MAY_BE_ROW = re.compile("[" + "".join(SEPARATORS) + "]|[^ \n][ ]{2,}[^ \n]")


def read_cells(text: str) -> Layout:
    """
    Cut a text into cells, each with its label and its role.

    A text that is half of a structure is read as far as that goes, and the rest as
    lines; it never raises. Linear in the text.
    """
    if not _STRUCTURE.search(text):
        return Layout(text, (Cell(0, len(text), "prose"),) if text else ())
    cells = _read_rows(text) or _read_zones(text)
    return Layout(text, tuple(cell for cell in cells if cell.start < cell.end))


def _read_rows(text: str) -> list[Cell]:
    """Return the cells of a text that is one table with heads, whatever is in them."""
    lines = list(_split(text, 0, len(text)))
    if len(lines) < _FEWEST_ROWS or not _HEADS.fullmatch(text, *lines[0]):
        return []
    table = read_table(text, lines, 0)
    return table[1] if table and table[0] == len(lines) else []


def _read_zones(text: str) -> Iterator[Cell]:
    """Yield the cells of what is between fences, and of what is inside them."""
    done = 0
    for match in _FENCE.finditer(text):
        yield from _read_zone(text, done, match.start())
        done = match.end()
    yield from _read_zone(text, done, len(text))


def _read_zone(text: str, start: int, end: int) -> Iterator[Cell]:
    """Yield the cells of a stretch without fences."""
    if not text[start:end].strip():
        return
    if is_yaml(text, start, end) or is_flow(text, start, end):
        cells, stop = read_yaml(text, start, end)
        done = start
        for cell in cells:
            yield from find_comments(text, done, cell.start)
            yield cell
            done = cell.end
        yield from find_comments(text, done, stop)
        start = stop
    if is_markup(text, start, end):
        yield from read_markup(text, start, end)
        return
    done = start
    for first, last, cells in find_json(text, start, end):
        yield from _read_lines(text, done, first)
        yield from cells
        done = last
    yield from _read_lines(text, done, end)


def _read_lines(text: str, start: int, end: int) -> Iterator[Cell]:
    """Yield the cells of lines: tables first, then what is around them."""
    lines = list(_split(text, start, end))
    plain: list[tuple[int, int]] = []
    index = 0
    while index < len(lines):
        first, last = lines[index]
        is_row = _MAY_BE_ROW.search(text, first, last) and index + 1 < len(lines)
        table = read_table(text, lines, index) if is_row else None
        if table is None:
            plain.append(lines[index])
            index += 1
            continue
        yield from read_lines(text, plain)
        plain = []
        yield from table[1]
        index = table[0]
    yield from read_lines(text, plain)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where lines are, without what ends them."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        last = stop - 1 if stop > start and text[stop - 1] == "\r" else stop
        yield start, last
        start = stop + 1
