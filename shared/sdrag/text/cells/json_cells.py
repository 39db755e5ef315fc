"""
JSON and what looks like it: literals of Python and JavaScript, whole or cut off.

One pass over the tokens, with a list in place of a recursion, so no depth is too much.
A text that stops in the middle is read to where it stops; at what is no token of JSON,
reading ends, and the rest is for other readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.cells.cell import Cell, Form, Role

_OPENS = re.compile(
    r"(?<![\w\]])[{\[](?=\s*+(?:[\"'{\[]|[}\]]\s*+$|-?\d++\s*+[,\]]"
    r"|(?:true|false|null|None|True|False)\b|[A-Za-z_][\w-]*+\s*+:))"
)
_TOKEN = re.compile(
    r"\s*+(?:(?P<quote>[\"'])|(?P<mark>[{}\[\](),:])|(?P<bare>[^\s{}\[\](),:\"']++))"
)
_STRINGS = {
    '"': re.compile(r"(?:[^\"\\\n]|\\.)*+", re.DOTALL),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*+", re.DOTALL),
}
_COLON = re.compile(r"\s*+:")
_BARE = re.compile(
    r"[+-]?(?:\d[\d_]*+(?:\.\d*+)?(?:[eE][+-]?\d+)?|0[xX][\da-fA-F]+|Infinity|NaN)"
    r"|true|false|null|undefined|None|True|False|[A-Za-z_$][\w$.-]*+"
)
_HEADS = frozenset(("columns", "header", "headers", "fields", "cols"))
_HEAD = re.compile(r"[a-z_][\w .-]{0,40}")
_CLOSES = {"{": "}", "[": "]", "(": ")"}
_QUOTED: dict[str, Form] = {'"': "double", "'": "single"}


def find_json(text: str, start: int, end: int) -> Iterator[tuple[int, int, list[Cell]]]:
    """Yield where JSON is in a stretch, with its cells."""
    position = start
    while match := _OPENS.search(text, position, end):
        cells, done = _read(text, match.start(), end)
        keys = any(cell.role == "key" for cell in cells)
        quoted = sum(cell.form in {"double", "single"} for cell in cells)
        alone = not text[start : match.start()].strip() and (
            done == end or not text[done:end].strip()
        )
        is_json = keys or quoted > 1 or (alone and cells)
        if is_json and not _is_cut(text, match.start(), done):
            yield match.start(), done, cells
        position = max(done, match.end())


def _is_cut(text: str, start: int, end: int) -> bool:
    """Say whether it is no JSON but a part of a quoted cell, with a bracket in it."""
    line = text.rfind("\n", 0, start) + 1
    return text[end - 1] not in "}]" and text.count('"', line, start) % 2 == 1


class _Reader:
    """The state of one pass."""

    def __init__(self, text: str, end: int) -> None:
        self.text, self.end = text, end
        self.cells: list[Cell] = []
        self.open: list[str] = []
        self.labels: list[str] = []
        """Of each container, its own label and then its present key."""
        self.rows: list[list[str]] = []
        """Of each container, its values so far."""
        self.heads: list[str] = []
        """Of lists in a list: what the first one, or one of columns, calls them."""
        self.key = ""
        self.position = 0
        self.is_open = True
        """Whether a value or key may follow."""

    def value(self, start: int, end: int, form: Form) -> None:
        """Add a value; an empty one is none."""
        if start < end:
            path = tuple(filter(None, self.labels[-6:]))[-4:]
            label = self._head() or self.key or (path[-1] if path else "")
            role: Role = "field" if label else "value"
            self.cells.append(Cell(start, end, role, label, form, hard=True, path=path))
        self.rows[-1].append(self.text[start:end] if form != "bare" else "")

    def _head(self) -> str:
        """Return what the columns of lists in a list call the present value."""
        column = len(self.rows[-1])
        is_row = self.open[-2:] == ["[", "["]
        return self.heads[column] if is_row and column < len(self.heads) else ""

    def enter(self, mark: str) -> None:
        self.open.append(mark)
        self.rows.append([])
        self.labels.append(self.key)
        self.key = ""

    def leave(self) -> None:
        is_list, row, label = self.open.pop() == "[", self.rows.pop(), self.labels.pop()
        is_first = self.open[-1:] == ["["] and not self.heads
        if is_list and (label.lower() in _HEADS or (is_first and len(row) > 1)):
            self.heads = row if all(map(_HEAD.fullmatch, row)) else []
        self.key = ""


def _read(text: str, start: int, end: int) -> tuple[list[Cell], int]:
    """Return the cells of what begins at a bracket, and where it ends."""
    reader = _Reader(text, end)
    reader.position = position = start
    while match := _TOKEN.match(text, position, end):
        reader.position = position
        if match["mark"]:
            position = match.end()
            if not _step(reader, match["mark"]):
                return reader.cells, match.start()
            if not reader.open:
                return reader.cells, position
            continue
        stop = _scalar(reader, match)
        if stop == position:
            return reader.cells, position
        position = stop
    return reader.cells, min(position, end)


def _step(reader: _Reader, mark: str) -> bool:
    """Take a bracket, comma or colon; return False if it can't stand here."""
    was_open, reader.is_open = reader.is_open, mark not in "}])"
    if mark in _CLOSES:
        if not was_open:
            return False
        reader.enter(mark)
        return True
    if mark in "}])":
        if not reader.open or _CLOSES[reader.open[-1]] != mark:
            return False
        reader.leave()
        return True
    if mark == "," and reader.open and reader.open[-1] == "{":
        reader.key = ""
    return True


def _scalar(reader: _Reader, match: re.Match[str]) -> int:
    """Take a string or a bare word, as key or value; return where it ends."""
    text, end = reader.text, reader.end
    if not reader.is_open:
        return reader.position
    reader.is_open = False
    if match["quote"]:
        first = match.end()
        inner = _STRINGS[match["quote"]].match(text, first, end)
        last = inner.end() if inner else first
        form = _QUOTED[match["quote"]]
        stop = last + 1 if last < end and text[last] == match["quote"] else last
    else:
        word = _BARE.match(text, match.start("bare"), match.end("bare"))
        if word is None or word.end() != match.end("bare"):
            return reader.position
        first, last, form = *word.span(), "bare"
        stop = last
    is_key = reader.open[-1] == "{" and not reader.key and _COLON.match(text, stop, end)
    if is_key:
        reader.key = text[first:last] or "?"
        if first < last:
            path = tuple(filter(None, reader.labels[-6:]))[-4:]
            reader.cells.append(
                Cell(first, last, "key", "", form, hard=True, path=path)
            )
    elif form == "bare" and reader.open[-1] == "{" and not reader.key:
        return reader.position  # no JSON: a set, a template, a block of code
    else:
        reader.value(first, last, form)
    return stop
