"""
Columns: what the head of a column says about the cells under it.

Cells are parted by a tab, a semicolon, a bar, a comma, or by two spaces and more; of
these columns the head tells where they begin. A line is a head if it has labels, and if
the row below it begins with none: else it is a list of fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sdrag.detectors.local.fields import (
    AS_SPELLED,
    LABEL,
    Field,
    type_of_label,
    typed_value,
    words_of_label,
)
from sdrag.detectors.local.tokens import Candidate

_MAY_HEAD = re.compile(
    r"^[ \t|>]*\"?[^\W\d][\w ./'()-]{0,40}?\"?[ ]?(?:[\t;|,]|[ ]{2})[^\n.!?]{0,400}$",
    re.MULTILINE,
)
_RULE = re.compile(r"[\s|:+=-]*$")
_SPACES = "  "
_SEPARATORS = ("\t", ";", "|", ",", _SPACES)
_SPACED = re.compile(r"\S+(?: \S+)*")
_MOST_WORDS = 4


class Head(NamedTuple):
    """
    The line with the heads of columns.

    Args:
        start: Where it starts.
        end: Where it ends.
        separator: What is between two cells.
        cells: Where each head starts and ends in the line.
        types: Of the values of each column; none where the head is no label.
    """

    start: int
    end: int
    separator: str
    cells: Sequence[tuple[int, int]]
    types: Sequence[str]


def column_labels(text: str) -> Iterator[Field]:
    """Yield the heads of columns that are labels; they tell nothing of what follows."""
    for head in _heads(text):
        for (first, last), type_ in zip(head.cells, head.types, strict=True):
            if type_:
                end = head.start + last
                end -= last - first - len(text[head.start + first : end].rstrip(' |"'))
                yield Field(head.start + first, end, LABEL, end)


def column_values(text: str) -> Iterator[Candidate]:
    """Yield the cells of the columns that labels head, down to another line."""
    for head in _heads(text):
        start, end = _row_below(text, head)
        while start < end:
            cells = _row(text[start:end], head)
            if not cells:
                break
            for type_, (first, last) in zip(head.types, cells, strict=True):
                if type_ and type_ != LABEL and first < last:
                    yield from typed_value(text, start + first, start + last, type_)
            start, end = end + 1, _line_end(text, end + 1)


def _heads(text: str) -> Iterator[Head]:
    for match in _MAY_HEAD.finditer(text):
        head = _head(text, *match.span())
        if head is None:
            continue
        start, end = _row_below(text, head)
        row = _row(text[start:end], head)
        first = next(i for i, type_ in enumerate(head.types) if type_)
        if row and not _type(text[start:end][slice(*row[first])]):
            yield head


def _head(text: str, start: int, end: int) -> Head | None:
    """Return the head of a table, if a line may be one."""
    line = text[start:end]
    separator = next((mark for mark in _SEPARATORS if mark in line), None)
    if separator is None:
        return None
    cells = list(_cells(line, separator))
    if any(len(words_of_label(line[a:b])) > _MOST_WORDS for a, b in cells):
        return None
    types = [_type(line[first:last]) for first, last in cells]
    telling = [type_ for type_ in types if type_ and type_ != LABEL]
    if len(telling) > 1 or (telling and telling[0] != AS_SPELLED):
        people = ["PERSON" if type_ == AS_SPELLED else type_ for type_ in types]
        return Head(start, end, separator, cells, people)
    return None


def _type(cell: str) -> str:
    """Return the type of a cell that is a label as a whole."""
    words = [word for word, _ in words_of_label(cell)]
    type_, length = type_of_label(words)
    return type_ if length == len(words) else ""


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _row_below(text: str, head: Head) -> tuple[int, int]:
    """Return the row below a head, past a rule."""
    start = head.end + 1
    end = _line_end(text, start)
    if (
        head.separator in {"|", _SPACES}
        and start < end
        and _RULE.match(text, start, end)
    ):
        start, end = end + 1, _line_end(text, end + 1)
    return start, end


def _row(line: str, head: Head) -> Sequence[tuple[int, int]]:
    """Return where the cells of a row are, or nothing where it is of no such table."""
    if head.separator != _SPACES:
        cells = list(_cells(line, head.separator))
        return cells if len(cells) == len(head.cells) else ()
    if not line.strip():
        return ()
    spaced = list(_cells(line, _SPACES))
    starts = [first for first, _ in head.cells]
    return [
        next((cell for cell in spaced if first <= cell[0] + 1 < last), (0, 0))
        for first, last in pairwise([*starts, len(line) + len(starts)])
    ]


def _cells(line: str, separator: str) -> Iterator[tuple[int, int]]:
    """Yield where the cells of a row are; quotation marks may hold the separator."""
    if separator == _SPACES:
        yield from (match.span() for match in _SPACED.finditer(line))
        return
    start = 0
    quoted = False
    for position, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            yield start, position
            start = position + 1
    yield start, len(line)
