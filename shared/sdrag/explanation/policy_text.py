"""
Editing the text of a policy: it stays as its author laid it out.

An edit moves, adds or comments out the lines of one constraint, or puts a value into
one of its lists; the lines around them are not touched. Where lines do not do, such as
with lists that an anchor shares, the whole text makes ruamel.yaml's round trip. Each
result is read again, and must say what was asked for with all comments of its author.
A constraint that is switched off stays behind `#~ `, and so can be switched on again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from itertools import pairwise
from textwrap import dedent
from typing import Any, Literal

import yaml

from sdrag.errors import PolicyError, UsageError, require_extra
from sdrag.policy import Policy
from sdrag.policy.reading import parsed

_OFF = "#~ "
_ITEM = re.compile(r"\s*- ")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_NOTHING = re.compile(r"^\s*(?:#.*|---)$", re.MULTILINE)
_MARK = "\ufeff"
_WIDTH = 1_000_000
"""No line is folded."""

Entries = list[Any]


def read_policy(text: str) -> Policy:
    """Read a policy; a text that says nothing has no constraints."""
    return Policy.parse(_normalised(text)[0])


def add(text: str, entry: str | dict[str, Any]) -> str:
    """Return a policy with one more constraint."""
    if isinstance(entry, str):
        entry = _bare(" ".join(entry.split()))
    else:
        rest = {key: _in_quotes(given) for key, given in entry.items()}
        entry = {**rest, "text": _bare(entry["text"])}
    if not entry:
        raise UsageError("Write a sentence first.")
    return _edit(text, lambda entries: entries.append(entry), lambda e: e.add(entry))


def append(text: str, number: int, key: str, value: Any) -> str:
    """Return a policy with a value more in a list of a constraint."""
    value = _in_quotes(value)

    def change(entries: Entries) -> None:
        entry = entries[number]
        if not isinstance(entry, dict):
            entries[number] = entry = {"text": entry}
        if value not in (given := _listed(entry, key)):
            entry[key] = _in_brackets([*given, value])

    return _edit(text, change, lambda edited: edited.append(number, key, value))


def move(text: str, number: int, step: Literal[-1, 1]) -> str:
    """Return a policy with one constraint before or after its neighbour."""
    first, second = sorted((number, number + step))
    if first < 0:
        raise UsageError("There is no such constraint.")

    def change(entries: Entries) -> None:
        entries.insert(first, entries.pop(second))

    return _edit(text, change, lambda edited: edited.swap(first, second))


def disable(text: str, number: int) -> str:
    """Return a policy with one constraint commented out."""
    if _is_json(text):
        raise UsageError("JSON has no comments.", hint="Delete the sentence instead.")
    return _edit(
        text, lambda e: e.pop(number), lambda e: e.comment_out(number), whole=False
    )


def enable(text: str, line: int) -> str:
    """Return a policy with the constraint switched on again that begins in a line."""
    bare, restore = _normalised(text)
    lines = _Lines(bare).lines
    on = _switched_off(lines, line - 1)
    if not on:
        raise UsageError("There is no such constraint.")
    edited = "\n".join([*lines[: line - 1], *on, *lines[line - 1 + len(on) :]])
    Policy.parse(edited)
    return restore(edited)


def disabled(text: str) -> list[dict[str, Any]]:
    """Return the constraints that are switched off, by their first lines."""
    lines = text.split("\n")
    listed = []
    for number, line in enumerate(lines):
        if line.startswith(_OFF) and _ITEM.match(line[len(_OFF) :]):
            listed.append(
                {"line": number + 1, "text": _sentence(_switched_off(lines, number))}
            )
    return listed


def _sentence(lines: Sequence[str]) -> str:
    """Return the sentence of a constraint; its first line where only all tell it."""
    try:
        (entry,) = yaml.safe_load("\n".join(lines))
    except (yaml.YAMLError, TypeError, ValueError):
        return lines[0].strip(" -")
    return str(entry.get("text", "") if isinstance(entry, dict) else entry)


def _edit(
    text: str,
    change: Callable[[Entries], object],
    lay_out: Callable[[_Lines], str],
    *,
    whole: bool = True,
) -> str:
    """
    Return a policy that says what a change makes of its constraints.

    Raises:
        PolicyError: It is none, or what it would say is none.
        UsageError: There is no such constraint, or no text says it.
    """
    bare, restore = _normalised(text)
    expected = _read(bare)
    try:
        change(expected.setdefault("constraints", []))
    except IndexError:
        raise UsageError("There is no such constraint.") from None
    comments = [comment.strip() for comment in _COMMENT.findall(bare)]
    ways: list[Callable[[], str]] = [lambda: lay_out(_Lines(bare))]
    if _is_json(bare):
        ways = [lambda: _as_json(bare, expected)]
    elif whole:
        ways.append(lambda: _round_trip(bare, change))
    for way in ways:
        try:
            edited = way()
            is_right = _read(edited) == expected
        except Exception:  # noqa: BLE001, S112 -- the libraries raise anything
            continue
        if is_right and all(comment in edited for comment in comments):
            Policy.parse(edited)
            return restore(edited)
    raise UsageError("This cannot be edited by sentence.", hint="Edit the YAML.")


def _normalised(text: str) -> tuple[str, Callable[[str], str]]:
    """Return a policy with plain line ends, and what gives it its own again."""
    bare = text.removeprefix(_MARK).replace("\r\n", "\n")
    if not _NOTHING.sub("", bare).strip():
        bare = f"{bare.rstrip()}\nconstraints: []\n".lstrip("\n")
    mark = _MARK if text.startswith(_MARK) else ""
    end = "\r\n" if "\r\n" in text else "\n"
    Policy.parse(bare)
    return bare, lambda edited: mark + edited.replace("\n", end)


def _read(text: str) -> dict[str, Any]:
    """Return what a policy says, as data in which nothing is shared."""
    read = parsed(text)
    if isinstance(read, PolicyError):
        raise read
    data: dict[str, Any] = json.loads(json.dumps(read[0], default=str))
    return data


def _is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix(_MARK))
    except ValueError:
        return False
    return True


def _as_json(text: str, data: dict[str, Any]) -> str:
    indent = re.search(r"\n( +)", text)
    value = data if text.lstrip().startswith("{") else data["constraints"]
    spaces = len(indent[1]) if indent else None
    written = json.dumps(value, ensure_ascii=False, indent=spaces)
    return written + text[len(text.rstrip()) :]


def _yaml(offset: int = 2) -> Any:
    with require_extra("cli", "Editing a policy"):
        from ruamel.yaml import YAML  # noqa: PLC0415 -- an extra
    made = YAML()
    made.preserve_quotes = True
    made.width = _WIDTH
    made.indent(mapping=2, sequence=offset + 2, offset=offset)
    return made


def _dump(value: Any, offset: int = 2) -> str:
    stream = StringIO()
    _yaml(offset).dump(value, stream)
    return dedent(stream.getvalue())


def _keep_anchors(value: Any) -> None:
    """Have anchors written that no alias of the same lines refers to."""
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, (dict, list)) else ():
        _keep_anchors(each)
    if hasattr(value, "anchor"):
        value.anchor.always_dump = True


def _bare(sentence: str) -> Any:
    """Return a sentence, in quotes where YAML would read it otherwise."""
    try:
        is_plain = yaml.safe_load(f"- {sentence}") == [sentence]
    except yaml.YAMLError:
        is_plain = False
    return sentence if is_plain else _in_quotes(sentence)


def _in_quotes(value: Any) -> Any:
    """Return a value as YAML with brackets and quotation marks."""
    return _yaml().load(json.dumps(value, ensure_ascii=False))


def _in_brackets(values: Sequence[Any]) -> Any:
    made = _yaml().load("[]")
    made.fa.set_flow_style()
    made.extend(values)
    return made


def _listed(entry: Mapping[str, Any], key: str) -> list[Any]:
    given = entry.get(key, [])
    return [*given] if isinstance(given, list) else [given]


def _round_trip(text: str, change: Callable[[Entries], object]) -> str:
    """Return a policy changed as a whole; ruamel.yaml lays it out."""
    root = _yaml().load(text)
    change(root if isinstance(root, list) else root.setdefault("constraints", []))
    return _dump(root)


class _Lines:
    """The lines of a policy, and which of them are of which constraint."""

    def __init__(self, text: str) -> None:
        key, listed = _constraints_of(text)
        if isinstance(listed, yaml.SequenceNode) and listed.flow_style:
            text = _in_block_style(text, listed)
        elif listed is None:
            text = f"{text.rstrip()}\nconstraints:\n"
        key, listed = _constraints_of(text)
        self.entries = _read(text).get("constraints") or []
        self.lines = text.split("\n")
        self.key = key.start_mark.line if key else -1
        self.indent, self.end = 0, self.key + 1
        self.starts, self.stops = list[int](), list[int]()
        if isinstance(listed, yaml.SequenceNode):
            self._find(yaml.scan(text), listed)
            self.end = self.stops[-1]

    def _find(self, tokens: Iterable[yaml.Token], listed: yaml.SequenceNode) -> None:
        """Find the first line of each constraint, and the one after its last."""
        for token in tokens:
            start, end = token.start_mark, token.end_mark
            if not listed.start_mark.index <= start.index < listed.end_mark.index:
                continue
            if isinstance(token, yaml.BlockEntryToken):
                self.indent = self.indent if self.starts else start.column
                if start.column == self.indent:
                    self.starts.append(start.line)
                    self.stops.append(start.line + 1)
            if self.starts and not isinstance(token, yaml.BlockEndToken):
                last = end.line if end.column else end.line - 1
                while not self.lines[last].strip():  # of a block scalar
                    last -= 1
                self.stops[-1] = max(self.stops[-1], last + 1)

    def add(self, entry: Any) -> str:
        """Return the text with one more constraint."""
        return self._put(self.end, self.end, _dump([entry]).rstrip().split("\n"))

    def append(self, number: int, key: str, value: Any) -> str:
        """Return the text with a value more in a list of a constraint."""
        start, stop = self.starts[number], self.stops[number]
        first, *others = (line[self.indent :] for line in self.lines[start:stop])
        entry = self.entries[number]
        if not isinstance(entry, dict):
            row = f"{key}: [{json.dumps(value, ensure_ascii=False)}]"
            lines = [f"- text:{first[1:]}", *(f"  {each}" for each in (*others, row))]
            return self._put(start, stop, lines)
        source = "\n".join([first.replace("-", " ", 1), *others, ""])
        root = _yaml().load(f"_: [{_anchors_for(source)}]\n_entry:\n{source}")
        held, given = root["_entry"].get(key), _listed(entry, key)
        if value in given:
            return "\n".join(self.lines)
        if isinstance(held, list):
            held.append(value)
        else:
            root["_entry"][key] = _in_brackets([*given, value])
        _keep_anchors(root["_entry"])
        dumped = _dump(root, _offset_in(root["_entry"])).partition("_entry:")[2]
        first, *others = dedent(dumped).strip().split("\n")
        lines = [f"- {first}", *(f"  {line}" if line else "" for line in others)]
        return self._put(start, stop, lines)

    def swap(self, first: int, second: int) -> str:
        """Return the text with two neighbours exchanged, their comments with them."""
        start, middle, stop = map(self._begin, (first, second, second + 1))
        self.lines[start:stop] = self.lines[middle:stop] + self.lines[start:middle]
        return "\n".join(self.lines)

    def comment_out(self, number: int) -> str:
        """Return the text with a constraint commented out."""
        start, stop = self.starts[number], self.stops[number]
        self.lines[start:stop] = [_OFF + line for line in self.lines[start:stop]]
        if len(self.starts) == 1:  # a key without a value is a mistake
            if self.key < 0:
                self.lines.insert(0, "constraints:")
            key = max(self.key, 0)
            self.lines[key] = self.lines[key].replace(":", ": []", 1)
        return "\n".join(self.lines)

    def _begin(self, number: int) -> int:
        """Return the line of a constraint, or of the comments right before it."""
        if number == len(self.starts):
            return self.end
        start = self.starts[number]
        least = self.stops[number - 1] if number else 0
        while start > least and self.lines[start - 1].lstrip().startswith("# "):
            start -= 1
        return start

    def _put(self, start: int, stop: int, lines: Sequence[str]) -> str:
        indent = " " * self.indent
        self.lines[start:stop] = [indent + line if line else "" for line in lines]
        return "\n".join(self.lines)


def _anchors_for(source: str) -> str:
    """Return the anchors of which lines have no more than aliases, over nothing."""
    tokens = [*yaml.scan(source)]
    names = {token.value for token in tokens if isinstance(token, yaml.AliasToken)}
    names -= {token.value for token in tokens if isinstance(token, yaml.AnchorToken)}
    return ", ".join(f"&{name} {{}}" for name in sorted(names))


def _offset_in(entry: Any) -> int:
    """Return how far the lists of a constraint stand to the right of their keys."""
    lists: Iterable[Any] = (v for v in entry.values() if isinstance(v, list))
    block = (each for each in lists if not each.fa.flow_style())
    return next((each.lc.col - entry.lc.col for each in block), 2)


def _constraints_of(text: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key of the constraints, where there is one, and their list."""
    root = yaml.compose(text, yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return None, root
    keys = (pair for pair in root.value if pair[0].value == "constraints")
    return next(keys, (None, None))


def _in_block_style(text: str, listed: yaml.SequenceNode) -> str:
    """Return a policy whose constraints stand in lines and not in brackets."""
    start, end = listed.start_mark.index, listed.end_mark.index
    places = [(node.start_mark.index, node.end_mark.index) for node in listed.value]
    lines = []
    for (left, right), (after, _) in pairwise([*places, (end, end)]):
        comments = "".join(f" {each}" for each in _COMMENT.findall(text[right:after]))
        lines.append(f"\n  - {' '.join(text[left:right].split())}{comments}")
    return text[:start].rstrip(" ") + "".join(lines) + text[end:]


def _switched_off(lines: list[str], start: int) -> list[str]:
    """Return the lines of the constraint that is switched off from a line on."""
    on: list[str] = []
    for line in lines[max(0, start) :]:
        bare = line[len(_OFF) :]
        if not line.startswith(_OFF) or (
            on
            and _ITEM.match(bare)
            and len(bare) - len(bare.lstrip()) <= len(on[0]) - len(on[0].lstrip())
        ):
            break
        on.append(bare)
    return on
