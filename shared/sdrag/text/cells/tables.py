"""
Rows of cells: CSV with any separator, tables of Markdown, fixed columns.

A table is a run of lines with the same number of separators; lines of a title may be
above it. Its first row is its head if it reads as labels do: short, without figures.
Quotation marks hold separators and line ends, as in RFC 4180. Of fixed columns the head
says where they begin.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sdrag.text.cells.cell import Cell, Form, Role, strip

SEPARATORS = ("\t", ";", "|", ",")
_RULE = re.compile(
    r"(?=[^\n]*-)[ \t]*+\|?(?:[ \t]*+:?-++:?[ \t]*+(?:\||$))*+[ \t]*+$"
    r"|[-=+| ]{5,}$"
)
_LABEL = re.compile(r"[^\W\d_#][\w .,'/()&#%\u00ba-]*\??$|#$|(?i:no|id|nr)\.?$")
_PROSE_END = re.compile(r"[.!?]$")
_MOST_WORDS = 5
_LONGEST_LABEL = 40
_SPACED = re.compile(r"\S+(?: \S+)*")

Line = tuple[int, int]


class Row(NamedTuple):
    """A row: its cells, each with whether it is in quotation marks, and its lines."""

    cells: Sequence[tuple[int, int, bool]]
    lines: int


def read_table(
    text: str, lines: Sequence[Line], first: int
) -> tuple[int, list[Cell]] | None:
    """
    Return the line behind a table that begins with a line, and its cells; or nothing.

    Whether it is one is told by its first rows, so lines that only look like one are
    not read again and again.
    """
    for separator in SEPARATORS:
        if separator in text[slice(*lines[first])]:
            table = _separated(text, lines, first, separator)
            if table is not None:
                return table
    return _fixed(text, lines, first)


def _separated(
    text: str, lines: Sequence[Line], first: int, separator: str
) -> tuple[int, list[Cell]] | None:
    rows, done, ruled = _rows(text, lines, first, separator, _SAMPLE)
    many = len(rows[0].cells)
    if many < _FEWEST_COLUMNS or (len(rows) < _FEWEST_ROWS and not ruled):
        return None
    heads = [text[a:b].strip("*_` ") for a, b, _ in rows[0].cells]
    sides = [text[slice(*row.cells[0][:2])] for row in rows]
    is_list = not ruled and many == _FEWEST_COLUMNS and _are_known(sides)
    headed = ruled or (not is_list and _are_labels(heads))
    if not ruled and not is_list and not _is_table(text, rows, separator, headed):
        return None
    if len(rows) > _SAMPLE:
        rows, done, _ = _rows(text, lines, first, separator, len(lines))
    if is_list:
        return done, list(_sides(text, rows))
    return done, list(_cells(text, rows, heads if headed else None, separator))


_SAMPLE = 20
_FEWEST_COLUMNS = _FEWEST_ROWS = 2


def _rows(
    text: str, lines: Sequence[Line], first: int, separator: str, limit: int
) -> tuple[list[Row], int, bool]:
    """Return rows of as many cells, the line behind them, and if one is a rule."""
    framed = text[slice(*lines[first])].lstrip().startswith("|")
    rows = [_row(text, lines, first, separator, framed=framed)]
    done, ruled = first + rows[0].lines, False
    while done < len(lines) and len(rows) <= limit:
        start, end = lines[done]
        if separator == "|" and len(rows) == 1 and _RULE.match(text[start:end]):
            ruled, done = True, done + 1
            continue
        row = _row(text, lines, done, separator, framed=framed)
        if len(row.cells) != len(rows[0].cells):
            break
        rows.append(row)
        done += row.lines
    return rows, done, ruled


def _is_table(text: str, rows: Sequence[Row], separator: str, headed: bool) -> bool:  # noqa: FBT001
    """Say whether rows of as many cells are a table, and no lines of prose."""
    many = len(rows[0].cells)
    if separator == "\t":
        return headed or many > 2 or len(rows) > 2
    if separator != ",":
        return headed or (many > 2 and len(rows) > 2)
    cells = [text[a:b] for row in rows for a, b, quoted in row.cells if not quoted]
    spaced = sum(cell.startswith(" ") for cell in cells)
    if headed:
        return spaced == 0 or (many > 2 and len(rows) > 1)
    return many > 2 and spaced * 4 <= len(cells)


def _are_labels(heads: Sequence[str]) -> bool:
    """Say whether a first row reads as heads of columns."""
    if not any(heads) or len({*heads}) < len(heads) - heads.count(""):
        return False
    return all(
        not head
        or (
            len(head) <= _LONGEST_LABEL
            and len(head.split()) <= _MOST_WORDS
            and _LABEL.match(head)
            and sum(map(str.isdigit, head)) < 3
        )
        for head in heads
    )


_KNOWN = re.compile(
    r"(?:name|surname|town|city|country|phone|mobile|tel|e-?mail|dob|born|date|id|no"
    r"|number|address|age|job|role|status|sex|gender|plan|notes?|type|ref|reference)s?$"
)


def _are_known(sides: Sequence[str]) -> bool:
    """Say whether the first cells of rows are labels, more of them than one."""
    return len(sides) > 1 and all(
        _KNOWN.search(side.strip("*_`: ").lower()) is not None for side in sides
    )


def _sides(text: str, rows: Sequence[Row]) -> Iterator[Cell]:
    """Yield the cells of rows of a label and a value."""
    for row in rows:
        (a, b, _), (start, end, quoted) = row.cells
        if text[a:b].strip():
            yield Cell(a, b, "header", "", "csv", hard=True)
        label = text[a:b].strip("*_`: ")
        written: Form = "doubled" if quoted else "text"
        if text[start:end].strip():
            yield Cell(start, end, "field", label, written, hard=True)


def _cells(
    text: str, rows: Sequence[Row], heads: Sequence[str] | None, separator: str
) -> Iterator[Cell]:
    form: Form = "text" if separator == "|" else "csv"
    for number, row in enumerate(rows):
        for column, (left, right, quoted) in enumerate(row.cells):
            start, end = strip(text, left, right)
            if start >= end:
                continue
            if heads is not None and not number:
                yield Cell(start, end, "header", "", "csv", hard=True)
                continue
            label = heads[column] if heads else ""
            role: Role = "field" if label else "value"
            written: Form = "doubled" if quoted and separator != "|" else form
            yield Cell(start, end, role, label, written, hard=True)


def _row(
    text: str, lines: Sequence[Line], index: int, separator: str, *, framed: bool
) -> Row:
    """Return the row that begins with a line, and how many lines it takes."""
    start, end = lines[index]
    if separator == "|":
        return Row(_barred(text, start, end, framed=framed), 1)
    cells: list[tuple[int, int, bool]] = []
    position, taken = start, 1
    limit = lines[min(index + _MOST_LINES, len(lines) - 1)][1]
    while True:
        if _OPENS.match(text, position, end):
            quoted = _QUOTED.match(text, position, limit)
            if quoted is None:
                return Row((), 1)
            while lines[index + taken - 1][1] < quoted.end(1):
                taken += 1
            cells.append((*quoted.span(1), True))
            position, end = quoted.end(), lines[index + taken - 1][1]
            if position < end and text[position] != separator:
                return Row((), 1)
        else:
            mark = text.find(separator, position, end)
            last = end if mark < 0 else mark
            cells.append((position, last, False))
            position = last
        if position >= end:
            return Row(cells, taken)
        position += 1


_MOST_LINES = 30
_OPENS = re.compile(r'[ ]*+"')
_QUOTED = re.compile(r'[ ]*+"((?:[^"]|"")*+)"[ ]*+')
_BAR = re.compile(r"(?<!\\)\|")


def _barred(
    text: str, start: int, end: int, *, framed: bool
) -> list[tuple[int, int, bool]]:
    """Return the cells between bars; `framed` rows have one at both ends."""
    bars = [match.start() for match in _BAR.finditer(text, start, end)]
    starts = [start, *(bar + 1 for bar in bars)]
    cells = [(*pair, False) for pair in zip(starts, [*bars, end], strict=True)]
    if framed and cells and text[start:end].lstrip().startswith("|"):
        cells = cells[1:]
        if cells and text[start:end].rstrip().endswith("|"):
            cells = cells[:-1]
    return cells


def _fixed(
    text: str, lines: Sequence[Line], index: int
) -> tuple[int, list[Cell]] | None:
    """Return fixed columns under a head."""
    start, end = lines[index]
    line = text[start:end]
    heads = [(m.start(), m.end()) for m in _SPACED.finditer(line)]
    if "  " not in line.strip():
        return None
    names = [line[a:b] for a, b in heads]
    if len(heads) < 2 or line[:1].isspace() or not _are_labels(names):
        return None
    if any(_PROSE_END.search(name) or len(name.split()) > 3 for name in names):
        return None
    columns = [a for a, _ in heads]
    cells = [
        Cell(start + a, start + b, "header", "", "text", hard=True) for a, b in heads
    ]
    done = index + 1
    if done < len(lines) and _RULE.match(text[slice(*lines[done])]):
        done += 1
    first = done
    while done < len(lines):
        row = list(_aligned(text, *lines[done], columns))
        if not row or (len(row) == 1 and row[0][2] != 0 and len(columns) > 2):
            break
        cells += (
            Cell(a, b, "field", names[column], "text", hard=True)
            for a, b, column in row
        )
        done += 1
    return (done, cells) if done > first else None


def _aligned(
    text: str, start: int, end: int, columns: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield the parts of a line that begin where columns do; nothing of another."""
    parts = []
    for match in _SPACED.finditer(text[start:end]):
        column = bisect_right(columns, match.start() + 1) - 1
        fits = abs(match.start() - columns[column]) <= _MOST_SHIFT
        if column < 0 or not (fits or _FIGURES.match(match.group())):
            return
        parts.append((start + match.start(), start + match.end(), column))
    yield from parts


_MOST_SHIFT = 1
_FIGURES = re.compile(r"[\W\d]+\w{0,3}$")
"""What may be aligned to the right."""
