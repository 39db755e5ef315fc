"""
YAML, by the scanner of PyYAML: as far as it scans.

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

from sdrag.text.cells.cell import Cell, Form, Role, strip

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
    said = sum(_SENTENCE.search(line["value"]) is not None for line in keyed)
    turns = [line["key"] for line in keyed if line["item"]]
    is_talk = len(turns) == len(lines) and len({*turns}) > 1
    flat = [line["key"] for line in keyed if not (line["indent"] or line["item"])]
    if len(flat) == len(keyed) > len({*flat}):
        return False  # records, one below the other: a mapping has each key once
    if programs == len(keyed) and said * 3 < len(keyed) * 2 and not is_talk:
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
    path = tuple(filter(None, labels[-6:]))[-4:]
    label = key or (path[-1] if path else "")
    role: Role = "field" if label else "value"
    return Cell(first, last, role, label, form, hard=True, path=path)
