"""
Placeholders inside cells: where one may stand, and how it is written there.

A span is cut to the cells that it is in, so no placeholder takes a quotation mark, a
bracket, a line end or the border of a cell along. Where a parser reads the text, it
reads it with placeholders too: a number becomes a string, and YAML gets quotation marks
where a placeholder would begin a list.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from sdrag.text import word_set
from sdrag.text.cells.cell import ENTITY, ESCAPE, NAMING, Cell, Layout, strip
from sdrag.vocabulary import Span

Edit = tuple[int, int, str]
"""From where to where is replaced, and by what; from may be to."""

_SPACE = word_set(r"\n \t \r \f \b \v")

_LONGEST_ESCAPE = 6
_LONGEST_ENTITY = 34
_SPACES = " \t\r\n"
_QUOTED = frozenset(("double", "single", "doubled"))
"""Forms in which a quotation mark is half of an escape."""
_SEPARATORS = frozenset(',;\t|"\n')


def clip(layout: Layout, span: Span, may_hide: Callable[[str], bool]) -> Iterator[Span]:
    """
    Yield what of a span may be replaced.

    Args:
        layout: Of the text.
        span: In it.
        may_hide: Whether words of a key, a header or of a machine may go; most say
            nothing of anybody by themselves. Of a structure all of a key goes or none.
    """
    text = layout.text
    for cell in layout.overlapping(span):
        start, end = max(cell.start, span.start), min(cell.end, span.end)
        if cell.role in NAMING and not _is_hidden(text, cell, start, end, may_hide):
            continue
        if cell.form in {"double", "single"} and "\\" in text[cell.start : cell.end]:
            start, end = _whole_escapes(text, cell, start, end)
        elif cell.form == "markup" and "&" in text[cell.start : cell.end]:
            first, last = _entity_at(text, cell, start), _entity_at(text, cell, end)
            start, end = first[0], last[1]
        edges = _SPACES if cell.form in _QUOTED else _SPACES + "\"'"
        if cell.form != "block" and "\n" not in text[start:end]:
            yield from _strip(text, start, end, edges)
            continue
        for match in _LINE.finditer(text, start, end):
            yield from _strip(text, *match.span(), edges)


_LINE = re.compile(r"[^\n]+")


def _strip(text: str, start: int, end: int, edges: str) -> Iterator[Span]:
    start, end = strip(text, start, end, edges)
    if start < end:
        yield Span(start, end)


def _is_hidden(
    text: str, cell: Cell, start: int, end: int, may_hide: Callable[[str], bool]
) -> bool:
    """Say whether what was found in a key goes; a word of a program goes whole."""
    if cell.hard or cell.role != "key":
        rest = text[cell.start : start] + text[end : cell.end]
        is_part = any(map(str.isalnum, rest))
        if is_part and not _is_phrase(text, cell, start, end):
            return False
        if not may_hide(text[cell.start : cell.end]):
            return False
    return may_hide(text[start:end])


def _is_phrase(text: str, cell: Cell, start: int, end: int) -> bool:
    """Say whether a key is words around a value: `Paid to Ann Lee`, not `Insurance`."""
    if cell.role == "code" or not _SEVERAL.search(text, cell.start, cell.end):
        return False
    return _VALUE.search(text, start, end) is not None


_SEVERAL = re.compile(r"[^\W_][^\w-]+[^\W_]")
_VALUE = re.compile(r"@|\d{3}|[^\W\d_]{2}[ ,]+[^\W\d_]{2}")


def _whole_escapes(text: str, cell: Cell, start: int, end: int) -> tuple[int, int]:
    """Move both ends of a span out of escapes."""
    first, last = _escape_at(text, cell, start)
    if first < start:
        start = last if text[first:last] in _SPACE else first
    first, last = _escape_at(text, cell, end)
    return start, last if first < end else end


def _escape_at(text: str, cell: Cell, position: int) -> tuple[int, int]:
    """Return the escape that a position is inside of, or the position."""
    for start in range(
        position - 1, max(cell.start, position - _LONGEST_ESCAPE) - 1, -1
    ):
        if text[start] != "\\":
            continue
        run = start
        while run > cell.start and text[run - 1] == "\\":
            run -= 1
        if (start - run) % 2:
            start -= 1  # noqa: PLW2901 -- the hyphen before it escapes it
        match = ESCAPE.match(text, start, cell.end)
        if match and match.end() > position:
            return match.span()
        break
    return position, position


def _entity_at(text: str, cell: Cell, position: int) -> tuple[int, int]:
    begins = text.rfind("&", max(cell.start, position - _LONGEST_ENTITY), position)
    match = ENTITY.match(text, begins, cell.end) if begins >= 0 else None
    return match.span() if match and match.end() > position else (position, position)


def place(layout: Layout, placeholders: Mapping[Span, str]) -> tuple[Edit, ...]:
    """
    Return the edits that put placeholders in place.

    Args:
        layout: Of the text.
        placeholders: By the spans that they replace. One that is in several cells is
            written as it is.
    """
    by_cell: dict[Cell, list[tuple[Span, str]]] = {}
    edits: list[Edit] = []
    for span, placeholder in sorted(placeholders.items()):
        cell = layout.at(span.start)
        if cell is None or cell.form == "text" or span.end > cell.end:
            edits.append((span.start, span.end, placeholder))
        else:
            by_cell.setdefault(cell, []).append((span, placeholder))
    keys: Counter[tuple[tuple[str, ...], str]] = Counter()
    for cell, rows in by_cell.items():
        if cell.role == "key" and cell.hard:
            # Of two equal keys a parser keeps the last, so they are numbered.
            span, placeholder = rows[0]
            keys[cell.path, placeholder] += 1
            if (number := keys[cell.path, placeholder]) > 1:
                rows[0] = span, f"{placeholder} {number}"
        edits += _write(layout.text, cell, rows)
    return tuple(sorted(edits, key=lambda edit: edit[:2]))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits, which are sorted and apart."""
    pieces: list[str] = []
    done = 0
    for start, end, placeholder in edits:
        pieces += [text[done:start], placeholder]
        done = max(done, end)
    return "".join([*pieces, text[done:]])


def _write(text: str, cell: Cell, rows: list[tuple[Span, str]]) -> Iterator[Edit]:
    """Yield the edits of one cell, as its form asks."""
    if cell.form == "bare":
        yield cell.start, cell.end, json.dumps(rows[0][1], ensure_ascii=False)
    elif cell.form in {"plain", "flow"}:
        yield from _quote(text, cell, rows, "'")
    elif cell.form == "csv" and any(
        not _SEPARATORS.isdisjoint(placeholder) for _, placeholder in rows
    ):
        yield from _quote(text, cell, rows, '"')
    else:
        for span, placeholder in rows:
            yield span.start, span.end, _escape(placeholder, cell)


def _escape(placeholder: str, cell: Cell) -> str:
    if cell.form == "double":
        return json.dumps(placeholder, ensure_ascii=False)[1:-1]
    if cell.form == "single":
        return placeholder.replace("'", "\u2019")
    if cell.form == "doubled":
        return placeholder.replace('"', '""')
    return html.escape(placeholder) if cell.form == "markup" else placeholder


def _quote(
    text: str, cell: Cell, rows: list[tuple[Span, str]], mark: str
) -> Iterator[Edit]:
    """Yield edits that put quotation marks around a cell, and double those in it."""
    (first, placeholder), *_ = rows
    if mark == "'" and (first.start, first.end) == (cell.start, cell.end):
        yield cell.start, cell.end, json.dumps(placeholder, ensure_ascii=False)
        return
    edits = [(s.start, s.end, said.replace(mark, mark * 2)) for s, said in rows]
    at = text.find(mark, cell.start, cell.end)
    while at >= 0:
        if not any(span.start <= at < span.end for span, _ in rows):
            edits.append((at, at, mark))
        at = text.find(mark, at + 1, cell.end)
    edits.sort(key=lambda edit: edit[:2])
    if edits[0][0] == cell.start:
        edits[0] = (edits[0][0], edits[0][1], mark + edits[0][2])
    else:
        edits.insert(0, (cell.start, cell.start, mark))
    if edits[-1][1] == cell.end:
        edits[-1] = (edits[-1][0], edits[-1][1], edits[-1][2] + mark)
    else:
        edits.append((cell.end, cell.end, mark))
    yield from edits
