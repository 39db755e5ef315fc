"""
A structure written as lines of `label: value`, and the way back.

Rules and networks know forms and prose, and no brackets, tags or heads of columns that
stand far above. So they are shown each value on a line of its own behind its label,
with escapes undone. What they find in a label is found nowhere; what they find in a
value is found where that stands.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from sdrag.text.cells.cell import NAMING, Cell, Layout, word_set
from sdrag.vocabulary import Confidential, Span

_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APART = re.compile(r"[\s_.:/-]+")
_GENERIC = word_set(
    "name names id ids no number nr value values text type code line line1 line2 data"
    " item items entry entries first last full given display label title key"
)
"""Labels that say what a value is only with what they are in."""
_PARTS = word_set("first last middle given family")
_PEOPLE = word_set(
    "name names person people patient patients customer client user contact employee"
    " author owner guest member student pupil tenant applicant driver parent child"
)
"""Whoever has a first name and a last one."""
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_PAIR = re.compile('""')
_ATOMS = {
    "double": _ESCAPE,
    "single": _ESCAPE,
    "markup": _ENTITY,
    "doubled": _PAIR,
}
_KEYS = word_set("id ids pid uuid guid hash sha port serial epoch timestamp")
"""What machines count by: a number behind it is no telephone number."""
_LONGEST_LABEL, _LONGEST_CAPITALS = 60, 5


@dataclass(frozen=True, slots=True, repr=False)
class PlainView(Confidential):
    """
    A text as lines of `label: value`.

    Args:
        text: The lines.
        pieces: For each stretch of a value: where it is in the lines, from and to, and
            where in the text that was read.
    """

    text: str
    pieces: tuple[tuple[int, int, int, int], ...]

    def spans(self, span: Span) -> Iterator[Span]:
        """Yield where what is found in the lines stands in the text that was read."""
        start = end = -1
        for first, last, origin, origin_end in self._touched(span):
            same = last - first == origin_end - origin
            begin = origin + max(0, span.start - first) if same else origin
            stop = origin_end - max(0, last - span.end) if same else origin_end
            if begin == end:
                end = stop
                continue
            if start >= 0:
                yield Span(start, end)
            start, end = begin, stop
        if start >= 0:
            yield Span(start, end)

    def within_values(self, span: Span) -> Iterator[Span]:
        """Yield what of a span of the lines is of values, and not of labels."""
        start = end = -1
        for first, last, *_ in self._touched(span):
            begin, stop = max(first, span.start), min(last, span.end)
            if begin == end:
                end = stop
                continue
            if start >= 0:
                yield Span(start, end)
            start, end = begin, stop
        if start >= 0:
            yield Span(start, end)

    def _touched(self, span: Span) -> Iterator[tuple[int, int, int, int]]:
        index = max(0, bisect_right(self.pieces, (span.start, len(self.text) + 1)) - 1)
        while index < len(self.pieces) and self.pieces[index][0] < span.end:
            if self.pieces[index][1] > span.start:
                yield self.pieces[index]
            index += 1


def plain_view(layout: Layout) -> PlainView | None:
    """Return a structure as lines; nothing for a text that has none."""
    return _write(layout) if layout.is_hard else None


def label_words(label: str) -> str:
    """Return the words of a label: `dateOfBirth`, `DATE_OF_BIRTH`."""
    return " ".join(_APART.sub(" ", _HUMP.sub(" ", label)).split())


def _write(layout: Layout) -> PlainView:
    lines: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    position = 0
    done = -1

    def add(said: str, origin: int = -1, length: int = 0) -> None:
        nonlocal position
        lines.append(said)
        if origin >= 0 and said:
            pieces.append((position, position + len(said), origin, origin + length))
        position += len(said)

    for cell in layout.cells:
        if not cell.hard:
            gap = layout.text[done : cell.start] if done >= 0 else ""
            if position and (done < 0 or len(gap) > _LONGEST_GAP):
                gap = "\n\n"
            add(gap)
            add(layout.text[cell.start : cell.end], cell.start, cell.end - cell.start)
            done = cell.end
        elif cell.role not in NAMING:
            lead = _lead(cell)
            add((("\n" if lead else "\n\n") if position else "") + lead)
            for said, origin, length in _undo(layout.text, cell):
                add(said, origin, length)
            done = -1
        else:
            done = -1
    for cell in layout.cells:
        key = layout.text[cell.start : cell.end]
        if cell.hard and cell.role in NAMING and _may_tell(key, cell):
            add("\n\n")
            add(key, cell.start, len(key))
    return PlainView("".join(lines), tuple(pieces))


_LONGEST_GAP = 200
_FEWEST_DIGITS = 4
_PROGRAM = re.compile(r"[a-z$_][\w$.-]*|[A-Z][A-Z\d_.-]*")


def _may_tell(key: str, cell: Cell) -> bool:
    """Say whether a key may be a value, as an address under which a sum stands is."""
    if "@" in key or sum(map(str.isdigit, key)) >= _FEWEST_DIGITS:
        return True
    return cell.role != "code" and not _PROGRAM.fullmatch(key)


def _lead(cell: Cell) -> str:
    """Return the label as words, with what it is in where it says little."""
    label = label_words(cell.label)
    if not label or len(label) > _LONGEST_LABEL:
        return ""
    outer = [label_words(each) for each in cell.path if each != cell.label]
    if label.lower() in _PARTS and _PEOPLE.intersection(
        " ".join(outer).lower().split()
    ):
        label = f"{label} name"
    elif label.lower() in _GENERIC and outer:
        label = f"{outer[-1]} {label}"
    if " " in label or not label.isupper() or len(label) > _LONGEST_CAPITALS:
        label = label.capitalize()
    last = label.rpartition(" ")[2].lower()
    return f"{label.rstrip(':')}{':' if last in _KEYS else ': '}"


def _undo(text: str, cell: Cell) -> Iterator[tuple[str, int, int]]:
    """Yield what a value says, piece by piece, without escapes."""
    atoms = _ATOMS.get(cell.form)
    done = cell.start
    for match in atoms.finditer(text, cell.start, cell.end) if atoms else ():
        if done < match.start():
            yield text[done : match.start()], done, match.start() - done
        yield _say(match.group()), match.start(), len(match.group())
        done = match.end()
    if done < cell.end:
        yield text[done : cell.end], done, cell.end - done


def _say(atom: str) -> str:
    """Return the character that an escape stands for."""
    if atom[0] == "&":
        return html.unescape(atom)
    if atom[0] == '"':
        return '"'
    with suppress(ValueError):
        said: str = json.loads(f'"{atom}"')
        return said if not 0xD800 <= ord(said) <= 0xDFFF else "\ufffd"
    return atom[1:] if atom[1] != "x" else bytes.fromhex(atom[2:]).decode("latin-1")
