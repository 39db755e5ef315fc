"""
From a text to its cells: which reader reads which stretch, and the reader of lines.

Lines are forms, settings, logs, heads of mail, and who speaks. What is before a colon
or an equals sign names what is behind it. A line that no pattern takes is prose, and so
is what has words between two cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.text import word_set
from sdrag.text.cells.cell import Cell, Layout
from sdrag.text.cells.data_cells import (
    find_comments,
    find_json,
    is_flow,
    is_yaml,
    read_yaml,
)
from sdrag.text.cells.markup import is_markup, read_markup
from sdrag.text.cells.speech import (
    CUE,
    GREETING,
    LEVEL,
    find_signature,
    find_speaker,
    find_turns,
    find_writers,
)
from sdrag.text.cells.tables import SEPARATORS, read_table

_ANSWER = re.compile(r"[ \t]*(?P<key>[QA]|Question|Answer|THE [A-Z]{3,12})[.:](?=\s)")
_LOG = re.compile(
    r"[\[(]?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"
    r"(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2}[ ]{1,2}\d{1,2}[ ]\d\d:\d\d:\d\d)[\])]?"
    rf"(?:[ ]{{1,4}}\[?{LEVEL}\]?:?(?=\s))?|[\[<]?{LEVEL}[\]>]?:?(?=\s)"
)
_MARK = r"(?:\*\*|__|`|\*)"
_FIELD = re.compile(
    r"[ \t>]*+(?:(?:[-*+\u2022]|\d{1,3}[.)]|\[[ x]\])[ \t]++)?"
    rf"(?:(?:export|set|let|const|var|local)[ ])?{_MARK}?[\"']?"
    r"(?:(?P<key>[^\W\d_][\w .,/'\u2019()&#\[\]-]{0,47}?)[\"']?"
    rf"(?::{_MARK}|{_MARK}?[ \t]{{0,4}}:(?=[\s\"'`]|$))"
    r"|(?P<name>[A-Za-z_$][\w.$-]{0,47})[\"']?[ \t]{0,4}(?::?=(?![=>~])))[ \t]*+"
    rf"{_MARK}?(?P<value>[^\n]*)$"
)
_ITEM = re.compile(r"[ \t>]*+(?:[-*+\u2022]|\d{1,3}[.)])[ \t]++(?P<item>\S[^\n]*)$")
_PAIR = re.compile(
    r"(?<![\w.?&-])(?P<key>[A-Za-z_][\w.-]{0,47})="
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]*+)(?P=quote)"
    r"|(?P<plain>[^\s\"'=,;&|)\]}?][^\n\"'=,;&|)\]}?]*?)"
    r"(?=[ ]{1,8}[A-Za-z_][\w.-]{0,47}=|[\"',;&|)\]}?\n]|[ ]{0,8}$))"
)
_QUERY = re.compile(r"(?<=[?&;])(?P<key>[\w.\[\]%-]{1,48})=(?P<value>[^\s&;#\"'<>]+)")
_LINE = re.compile(r"[^\n]++")
_MOST_WORDS = 6
_GREETED = 2
"""So many lines under a greeting may hold a name, blank ones among them."""

Line = tuple[int, int]


def _read_plain(text: str, lines: Sequence[Line]) -> Iterator[Cell]:
    """Yield the cells of lines, in order; what no pattern takes is prose."""
    done = lines[0][0] if lines else 0
    for cell in _read(text, lines):
        if cell.start >= done:
            yield from _between(text, done, cell.start)
            yield cell
            done = cell.end
    yield from _between(text, done, lines[-1][1] if lines else 0)


def _between(text: str, start: int, end: int) -> Iterator[Cell]:
    """Yield what has words between two cells."""
    for match in _LINE.finditer(text, start, end):
        if any(map(str.isalnum, match.group())):
            yield Cell(*match.span(), "prose")


def _read(text: str, lines: Sequence[Line]) -> Iterator[Cell]:
    """Yield what patterns take, line by line."""
    turns = find_turns(text, lines)
    label, greeted = "", 0
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        greeted = max(0, greeted - 1)
        if not line.strip():
            continue
        signed = find_signature(line) if greeted else None
        greeted = _GREETED + 1 if GREETING.match(line) else 0
        field, item = _FIELD.match(line), _ITEM.match(line)
        if signed:
            yield Cell(start + signed[0], start + signed[1], "speaker", "speaker")
        elif label and item and not field:
            begin = start + item.start("item")
            yield from _labelled(text[begin:end].rstrip(), begin, label)
            continue
        else:
            after = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
            yield from _line(start, line, find_speaker(line, after, turns), field)
        is_head = field and field["key"] and not field["value"].strip()
        label = field["key"] if field and is_head and _is_label(field["key"]) else ""


def _line(
    start: int,
    line: str,
    speaker: tuple[tuple[int, int], int, str] | None,
    field: re.Match[str] | None,
) -> Iterator[Cell]:
    """Yield the cells of a line that is not blank."""
    if speaker:
        (first, last), begin, label = speaker
        yield from _code(start, line[:first])
        while line[last - 1] in " \t,-":
            last -= 1
        yield Cell(start + first, start + last, "speaker", label)
        yield from _prose(line[begin:], start + begin)
    elif match := _ANSWER.match(line):
        yield Cell(start + match.start("key"), start + match.end("key"), "key")
        yield from _prose(line[match.end() :], start + match.end())
    elif CUE.match(line):
        yield from _code(start, line)
    elif match := _LOG.match(line):
        yield from _code(start, match.group())
        yield from _prose(line[match.end() :], start + match.end(), logged=True)
    elif field and _is_label(field["key"] or field["name"]):
        yield from _field(start, line, field)
    else:
        yield from _prose(line, start)


def _code(start: int, text: str) -> Iterator[Cell]:
    if text.strip():
        yield Cell(start, start + len(text), "code", "time")


_SAYS = re.compile(
    r", |\b(?:said|says|say|asked|asks|wrote|writes|replied|replies|told|tells|added"
    r"|answered|is|are|was|were|has|have|had)\b"
)
"""What is in a sentence before a colon, and in no label."""


def _is_label(key: str) -> bool:
    if len(key.split()) > _MOST_WORDS or key.count("(") != key.count(")"):
        return False
    return _SAYS.search(key) is None


def _field(start: int, line: str, field: re.Match[str]) -> Iterator[Cell]:
    """Yield a key and its value, without marks around it."""
    group = "key" if field["key"] else "name"
    is_setting = group == "name"
    value = field["value"].rstrip()
    offset = start + field.start("value")
    if is_setting and _PAIR.search(value):
        yield from _prose(line, start, logged=True)
        return
    first, last = field.span(group)
    yield Cell(start + first, start + last, "key", hard=is_setting)
    quote = value[:1]
    close = value.find(quote, 1) if quote and quote in "\"'" else -1
    if close > 1:
        yield Cell(offset + 1, offset + close, "field", field[group], hard=is_setting)
        yield from _prose(value[close + 1 :], offset + close + 1)
    elif is_setting and value:
        yield Cell(offset, offset + len(value), "field", field[group], hard=True)
    elif _QUERY.search(value) or _PAIR.search(value):
        yield from _prose(value, offset)
    else:
        yield from _labelled(value, offset, field[group])


def _labelled(text: str, offset: int, label: str) -> Iterator[Cell]:
    """Yield a value, and in front of an address whose it is."""
    done = 0
    for cell in find_writers(text, offset):
        if text[done : cell.start - offset].strip(" ,;\"'"):
            begin, stop = offset + done, cell.start
            yield Cell(begin, stop, "field", label)
        yield cell
        done = cell.end - offset
    if text[done:].strip():
        begin, stop = offset + done, offset + len(text)
        yield Cell(begin, stop, "field", label)


_FITS = re.compile(r"[^a-z]|[^ ]*\d")
_UNITS = word_set(
    "and of de la von van der den eur usd gbp pounds euros dollars pence cents years"
    " old jan feb mar apr may jun jul aug sep oct nov dec january february march april"
    " june july august september october november december"
)


def _end_of_value(text: str) -> int:
    """
    Return where a value without quotation marks ends: `age=47 rejected by gate`.

    Behind one that begins with a small letter nothing tells, so all of it counts.
    """
    words = text.split(" ")
    many = 1
    if not _FITS.match(words[0]):
        return len(text)
    while many < len(words) and (
        _FITS.match(words[many]) or words[many].lower().strip(".,") in _UNITS
    ):
        many += 1
    return len(" ".join(words[:many]))


def _prose(text: str, offset: int, *, logged: bool = False) -> Iterator[Cell]:
    """
    Yield the pairs that are in prose: `name=rosa`, `?name=rosa`, `Rosa <r@x.org>`.

    `logged`: a machine wrote it, so each pair is by itself.
    """
    pairs: list[tuple[int, tuple[Cell, ...]]] = []
    if "=" in text:
        for match in (*_QUERY.finditer(text), *_PAIR.finditer(text)):
            group = match.lastgroup or "value"
            hard = logged and group != "value"
            key, value = match.span("key"), match.span(group)
            if group == "plain":
                value = value[0], value[0] + _end_of_value(match[group])
            first, last = offset + value[0], offset + value[1]
            field = Cell(first, last, "field", match["key"], hard=hard)
            named = Cell(offset + key[0], offset + key[1], "key", hard=hard)
            pairs.append((named.start, (named, field)))
    pairs += ((cell.start, (cell,)) for cell in find_writers(text, offset))
    done = offset
    for start, cells in sorted(pairs):
        if start >= done and cells[-1].start < cells[-1].end:
            yield from cells
            done = cells[-1].end


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
    plain: list[Line] = []
    index = 0
    while index < len(lines):
        first, last = lines[index]
        is_row = _MAY_BE_ROW.search(text, first, last) and index + 1 < len(lines)
        table = read_table(text, lines, index) if is_row else None
        if table is None:
            plain.append(lines[index])
            index += 1
            continue
        yield from _read_plain(text, plain)
        plain = []
        yield from table[1]
        index = table[0]
    yield from _read_plain(text, plain)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where lines are, without what ends them."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        last = stop - 1 if stop > start and text[stop - 1] == "\r" else stop
        yield start, last
        start = stop + 1
