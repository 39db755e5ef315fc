"""
JSON and what looks like it, such as literals of Python and JavaScript; and YAML.

Of JSON, whole or cut off, one pass over the tokens, with a list in place of a
recursion, so no depth is too much. At what is no token of JSON reading ends, and the
rest is for other readers. YAML is read by the scanner of PyYAML, as far as it scans.

A form of `Name: Rosa` is YAML too. Which it is decides only how a placeholder is
written, so it is told by what no form has: an indented list or mapping under a key, a
line of three hyphens, keys that are all words of a program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

import yaml

from sdrag.text.cells.cell import Cell, Form, Role, innermost, strip

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
            path = innermost(self.labels)
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
    position = start
    while match := _TOKEN.match(text, position, end):
        reader.position = position
        if match["mark"]:
            position = match.end()
            if not _step(reader, match["mark"]):
                return reader.cells, match.start()
            if not reader.open:
                break
        else:
            position = _scalar(reader, match)
            if position == reader.position:
                break
    return reader.cells, position


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
            path = innermost(reader.labels)
            cell = Cell(first, last, "key", "", form, hard=True, path=path)
            reader.cells.append(cell)
    elif form == "bare" and reader.open[-1] == "{" and not reader.key:
        return reader.position  # no JSON: a set, a template, a block of code
    else:
        reader.value(first, last, form)
    return stop


_LINE = re.compile(
    r"^(?P<indent>[ ]*+)(?P<item>(?:-[ ]+)*+)"
    r"(?P<key>[\"']?[\w.$/-]+(?: [\w.$/-]+){0,4}[\"']?)[ ]?:(?=[ ]|$)(?P<value>.*)$"
    r"|^[ ]*+-(?:[ ].*)?$|^[ ]*+#.*$|^(?:---|\.\.\.|%YAML).*$|^[ ]+\S.*$|^[ ]*$"
    r"|^[}\]].*$"
)
_WORD = re.compile(r"[a-z_$][\w$.-]*")
_SENTENCE = re.compile(r"\w \w.*[.!?]$")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONGEST = 400_000
_CONTROL = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


def is_yaml(text: str, start: int, end: int) -> bool:
    """Say whether a stretch is YAML, and no form of fields."""
    body = text[start:end]
    if ":" not in body or len(body) > _LONGEST or _CONTROL.search(body):
        return False
    lines = [_LINE.fullmatch(line) for line in body.splitlines()]
    keyed = [line for line in lines if line and line["key"]]
    if not keyed or not all(lines):
        return False
    sure = body.lstrip().startswith(("---\n", "%YAML")) or _has_flow(body)
    if sure or len(lines) == 1:
        return sure  # a word and a colon are a sentence as well
    programs = sum(
        _WORD.fullmatch(line["key"].strip("\"'")) is not None for line in keyed
    )
    sentences = sum(_SENTENCE.search(line["value"]) is not None for line in keyed)
    turns = [line["key"] for line in keyed if line["item"]]
    is_talk = len(turns) == len(lines) and len({*turns}) > 1
    flat = [line["key"] for line in keyed if not (line["indent"] or line["item"])]
    if len(flat) == len(keyed) > len({*flat}):
        return False  # records, one below the other: a mapping has each key once
    if programs == len(keyed) and sentences * 3 < len(keyed) * 2 and not is_talk:
        return True
    listed, mapped = _find_nesting(list(filter(None, lines)))
    return mapped or (listed and programs > 0)


_FLOW = re.compile(
    r"^[ ]*+(?:-[ ]++)*+(?:[^\n: A-Z][^\n:]*+:[ ]++)?[{\[]", re.MULTILINE
)


def _has_flow(body: str) -> bool:
    """Say whether a value is a mapping or list in brackets, and all of it parses."""
    if not _FLOW.search(body):
        return False
    with suppress(yaml.YAMLError, ValueError, RecursionError):
        return any(
            isinstance(event, yaml.CollectionStartEvent) and event.flow_style
            for event in [*yaml.parse(body, Loader=_LOADER)]
        )
    return False


def _find_nesting(lines: list[re.Match[str]]) -> tuple[bool, bool]:
    """Say whether a list, and whether a mapping, is under a key."""
    listed = mapped = under = False
    for line in lines:
        if line["key"]:
            listed |= under and bool(line["item"])
            mapped |= under and bool(line["indent"]) and not line["item"]
            value = line["value"].strip()
            under = not value or (value[0] in "&|>!" and " " not in value)
            listed |= value[:1] in {"|", "&", "*"} and " " not in value
            listed |= value[:1] + value[-1:] in {"[]", "{}"}
        else:
            listed |= under and line.group().strip()[:2] in {"-", "- "}
    return listed, mapped


def is_flow(text: str, start: int, end: int) -> bool:
    """Say whether a stretch is YAML in brackets, and no JSON."""
    body = text[start:end].strip()
    if body[:1] + body[-1:] not in {"{}", "[]"} or len(body) > _LONGEST:
        return False
    if _CONTROL.search(body):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(body)
        return False
    return _has_flow(body)


def read_yaml(text: str, start: int, end: int) -> tuple[list[Cell], int]:
    """Return the cells of a stretch of YAML, and where reading stopped."""
    cells: list[Cell] = []
    reached = start
    try:
        for cell in _scan(text, start, end):
            cells.append(cell)
            reached = cell.end
    except (yaml.YAMLError, ValueError, RecursionError):
        stop = text.find("\n", reached, end)
        return cells, end if stop < 0 else stop + 1
    return cells, end


def _scan(text: str, start: int, end: int) -> Iterator[Cell]:
    """Yield cells as the scanner goes."""
    labels: list[str] = []
    key, is_key, depth = "", False, 0
    for token in yaml.scan(text[start:end], Loader=_LOADER):
        kind = type(token).__name__
        if kind.endswith("StartToken") and kind != "StreamStartToken":
            labels.append(key)
            depth += kind.startswith("Flow")
            key = "" if "Mapping" in kind else key
        elif kind in _ENDS:
            key = labels.pop() if labels else ""
            depth -= kind.startswith("Flow")
        elif kind == "KeyToken":
            key, is_key = "", True
        elif kind == "ScalarToken":
            cell = _cell(text, start, token, depth, labels, key)
            if is_key:
                key, is_key = str(getattr(token, "value", "")), False
                cell = cell and cell._replace(role="key", label="")
            if cell:
                yield cell


_ENDS = frozenset(("BlockEndToken", "FlowMappingEndToken", "FlowSequenceEndToken"))
_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*+(?=\S)([^\n]*)")


def find_comments(text: str, start: int, end: int) -> Iterator[Cell]:
    """Yield the comments in what is between two cells."""
    for match in _COMMENT.finditer(text, start, end):
        if match[1].strip():
            yield Cell(*match.span(1), "prose")


def _cell(
    text: str, start: int, token: object, depth: int, labels: list[str], key: str
) -> Cell | None:
    first = start + token.start_mark.index  # type: ignore[attr-defined]
    last = start + token.end_mark.index  # type: ignore[attr-defined]
    style: str | None = token.style  # type: ignore[attr-defined]
    form: Form = "flow" if depth else "plain"
    if style in {'"', "'"}:
        first, last = first + 1, last - 1
        form = "double" if style == '"' else "single"
    elif style:
        first, form = text.find("\n", first, last) + 1 or last, "block"
    first, last = strip(text, first, last, " \t\r\n")
    if first >= last:
        return None
    path = innermost(labels)
    label = key or (path[-1] if path else "")
    role: Role = "field" if label else "value"
    return Cell(first, last, role, label, form, hard=True, path=path)
