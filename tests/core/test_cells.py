"""A text is read as what it is: which stretch is a key, a value, a speaker."""

from __future__ import annotations

from sdrag.text.cells import read_cells
from tests.support.tables import each_row, read_table

CASES = read_table(__file__, "cells.toml")["case"]


@each_row("case", CASES)
def test_cells_are_told_by_their_place(case):
    """JSON, YAML, XML, rows, forms, logs, chats, mail; prose has none."""
    text = case["text"]
    found = [
        f"{cell.role}|{cell.label}|{text[cell.start : cell.end].strip()}"
        for cell in read_cells(text).cells
        if cell.role not in {"prose", "code"}
    ]
    assert found == case["cells"]
