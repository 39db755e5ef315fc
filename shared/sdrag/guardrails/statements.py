"""
What a passage states, one thing each: sentences, list items, rows and labelled values.

A figure belongs to its label, its list item, its row and its column. So a passage is
cut into statements that hold what each figure belongs to: `vacation: 20 days` under
*Employees are eligible for:* is *Employees are eligible for, vacation 20 days*, and a
cell is its row and its column with its value. Everything else is a sentence as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from sdrag.detectors.local.tables import common_words
from sdrag.text.sentences import sentences

_BULLET = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_LABEL = re.compile(r"[\s*_]*([^\s:*_][^:.!?\n]{0,60}?)[*_]*:[*_]*\s+(?=\S)")
_STRUCTURE = re.compile(r"[|\t]|:\s|\n")
_MOST_WORDS = 6
"""Words of a label, of a title, and of a value without a figure."""


def statements(text: str) -> list[str]:
    """Cut a passage into what it states, in its order."""
    if not _STRUCTURE.search(text):
        return [span.of(text) for span in sentences(text)]
    parts: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.split("\n") if line.strip()]
        for is_table, group in groupby(lines, key=lambda line: bool(_cells(line))):
            kept = list(group)
            parts += _table([*map(_cells, kept)]) if is_table else _under(kept)
    return parts


def _cells(line: str) -> list[str]:
    if line.count("|") < 2 and "\t" not in line:
        return []
    return [cell.strip() for cell in re.split(r"[|\t]", line.strip().strip("|"))]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """State each cell with its row and, under a head without figures, its column."""
    kept = [row for row in rows if re.search(r"\w", "".join(row))]
    head = kept[0] if kept and not re.search(r"\d", "".join(kept[0])) else ()
    for row in kept[1:] if head and len(kept) > 1 else kept:
        columns = [*head, *[""] * len(row)]
        for column, cell in [*zip(columns, row, strict=False)][1:] or [("", row[0])]:
            yield f"{_small(columns[0])} {row[0]}, {_small(column)} {cell}.".strip()


def _under(lines: Sequence[str]) -> Iterator[str]:
    """State list items and labelled values with the line that they stand under."""
    above = ""
    pieces = [*_pieces(lines), ("", False)]
    for (piece, is_item), (_, item_follows) in pairwise(pieces):
        label, value = _labelled(piece)
        inner, inner_value = _labelled(value)
        if inner:
            above, label, value = label, inner, inner_value
        stated = f"{_small(label)} {value}" if label else piece
        if above and (label or is_item):
            yield f"{above}, {stated}"
            continue
        yield stated
        title = _is_brief(piece) and piece[-1].isalnum() and item_follows
        if piece.endswith(":") or title or _HEADING.match(piece):
            above = piece.strip("#: ")
        elif label and len(lines) > 1 and value[:1].isupper() and _is_brief(value):
            above = value  # of a record, whose first line says whose it is
        else:
            above = ""


def _pieces(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield list items and labelled lines whole, and sentences of running text."""
    running = ""
    for line in [*lines, ""]:
        bullet = _BULLET.match(line)
        apart = bullet or not line or _HEADING.match(line) or _labelled(line)[0]
        if running and (apart or running.endswith(":")):
            yield from ((span.of(running), False) for span in sentences(running))
            running = ""
        if bullet:
            yield line[bullet.end() :].strip(), True
        elif _HEADING.match(line):
            yield line, False
        else:
            running = f"{running}\n{line}".strip()


def _labelled(piece: str) -> tuple[str, str]:
    """Part a short label and its value, where that is a figure or a few words."""
    match = _LABEL.match(piece)
    if match is None:
        return "", ""
    label, value = match[1].strip(), piece[match.end() :].strip()
    nested = _LABEL.match(value) is not None
    figure = re.search(r"\d", value) is not None
    if (nested or _is_brief(label)) and (nested or figure or _is_brief(value)):
        return label, value
    return "", ""


def _small(label: str) -> str:
    """Write an ordinary word small: a capital would make a name of it."""
    first = label.split(maxsplit=1)[0] if label else ""
    return label[0].lower() + label[1:] if first.lower() in common_words() else label


def _is_brief(text: str) -> bool:
    return bool(text) and len(text.split()) <= _MOST_WORDS and not text[:1].isdigit()
