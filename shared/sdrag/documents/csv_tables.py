"""
Tables of separated values, whose separator nobody says.

The separator is the one under which most rows are as long as the first. It is a guess:
where rows are longer than the first, or two separators fit equally well, there is a
doubt that whoever reads the file is told of.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from sdrag.vocabulary import Confidential

__all__ = ["Table", "read_table"]

_SEPARATORS = ",;\t|"
_NONE = "\x1f"
"""Separates nothing: a table of one column."""
_NAMED = re.compile(r"\s*sep=([^\w\s]|\t)\s*\n", re.IGNORECASE)
"""The first line by which Excel is told the separator."""
_SAMPLE = 1000

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, repr=False)
class Table(Confidential):
    """
    The rows of a file.

    Args:
        rows: Of cells; the first names the columns.
        doubt: Why the separator may be another one; empty where it is sure.
    """

    rows: Rows
    doubt: str

    def documents(self) -> Iterator[str]:
        """Yield each row as lines `column: value`; a lone row as its cells."""
        names, *rows = self.rows if len(self.rows) != 1 else [[], *self.rows]
        for row in rows:
            pairs = zip_longest(names, row, fillvalue="")
            lines = (
                f"{name}: {value}" if name else value for name, value in pairs if value
            )
            yield "\n".join(lines)


def read_table(text: str) -> Table:
    """
    Read a table.

    Args:
        text: Of the file.

    Raises:
        csv.Error: It is none.
    """
    if named := _NAMED.match(text):
        rows = _rows(text[named.end() :], named[1])
        return Table(rows, _longer(rows))
    sample = "".join(io.StringIO(text, newline="").readlines()[:_SAMPLE])
    fits = {mark: _fit(_rows(sample, mark)) for mark in _SEPARATORS}
    mark, best = max(fits.items(), key=lambda item: item[1])
    if not best[0]:
        rows = _rows(text, _NONE)
        split = any(_splits(_rows(sample, other)) for other in _SEPARATORS)
        return Table(rows, "has a first row without a separator" if split else "")
    rows = _rows(text, mark)
    alike = sum(share == best[0] for share, _ in fits.values()) > 1
    return Table(rows, "fits several separators" if alike else _longer(rows))


def _rows(text: str, mark: str) -> Rows:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    return [row for row in rows if row]


def _fit(rows: Rows) -> tuple[float, int]:
    """Return the share of rows that are as long as the first, and its length."""
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    alike = sum(len(row) == len(rows[0]) for row in rows)
    return alike / len(rows), len(rows[0])


def _splits(rows: Rows) -> bool:
    """Say whether all rows but the first have the same number of cells, over one."""
    lengths = {len(row) for row in rows[1:]}
    return len(lengths) == 1 and lengths != {1}


def _longer(rows: Rows) -> str:
    longer = any(len(row) > len(rows[0]) for row in rows)
    return "has rows that are longer than the first" if longer else ""
