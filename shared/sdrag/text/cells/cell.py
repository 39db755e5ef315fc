"""What a text consists of: cells, each with its label and its role."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from sdrag.vocabulary import Confidential, Span

Role = Literal["key", "header", "speaker", "field", "value", "code", "prose"]
"""
What a cell is to its text.

`key`: the name of a value, in JSON, a form or a setting. `header`: the head of a
column. `speaker`: who speaks, writes or signs. `field`: a value with a label. `value`:
one without. `code`: what machines wrote for machines: times of a log, attributes of a
page. `prose`: all else.
"""
NAMING: frozenset[Role] = frozenset(("key", "header", "code"))
"""Roles of what says what values are, and is no value."""

Form = Literal[
    "text",
    "double",
    "single",
    "bare",
    "plain",
    "flow",
    "block",
    "markup",
    "csv",
    "doubled",
]
"""
How a cell is written, which decides how a placeholder is.

`text`: as it is. `double`, `single`: inside such quotation marks, with escapes. `bare`:
a number or a word of JSON. `plain`, `flow`, `block`: a scalar of YAML without quotation
marks: on a line, inside brackets, on lines of its own. `markup`: of XML or HTML. `csv`:
of a row, without quotation marks; `doubled`: with them, each inside written twice.
"""


ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")


def innermost(labels: list[str]) -> tuple[str, ...]:
    """Return the labels of what a cell is in, as far as they tell."""
    return tuple(filter(None, labels[-6:]))[-4:]


def strip(text: str, start: int, end: int, edges: str | None = None) -> tuple[int, int]:
    """Return where a stretch begins and ends without such characters at its edges."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip(edges))
    return start, start + len(piece.strip(edges))


class Cell(NamedTuple):
    """
    A stretch of text that is one thing.

    Args:
        start: Its first character, without quotation marks and separators.
        end: Behind its last one.
        role: What it is to its text.
        label: The key, header or tag that says what it is, as written; for a speaker,
            `speaker`; or nothing.
        form: How it is written.
        hard: Whether it is of a structure that a parser reads: JSON, YAML, XML, CSV.
        path: The labels of what it is in, the outermost first.
    """

    start: int
    end: int
    role: Role
    label: str = ""
    form: Form = "text"
    hard: bool = False
    path: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        """Where it is."""
        return Span(self.start, self.end)


@dataclass(frozen=True, repr=False)
class Layout(Confidential):
    """
    The cells of a text, in order and apart; what is between them is structure.

    Args:
        text: What was read.
        cells: None of them empty.
    """

    text: str
    cells: tuple[Cell, ...]

    @cached_property
    def starts(self) -> list[int]:
        """Where each cell begins."""
        return [cell.start for cell in self.cells]

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is all prose."""
        return all(cell.role == "prose" for cell in self.cells)

    @cached_property
    def is_hard(self) -> bool:
        """Whether any of it is of a structure that a parser reads."""
        return any(cell.hard for cell in self.cells)

    def overlapping(self, span: Span) -> Iterator[Cell]:
        """Yield the cells that share a character with a span, in order."""
        index = max(0, bisect_right(self.starts, span.start) - 1)
        while index < len(self.cells) and self.cells[index].start < span.end:
            if self.cells[index].end > span.start:
                yield self.cells[index]
            index += 1

    def at(self, offset: int) -> Cell | None:
        """Return the cell that a character is in."""
        index = bisect_right(self.starts, offset) - 1
        if index < 0 or self.cells[index].end <= offset:
            return None
        return self.cells[index]
