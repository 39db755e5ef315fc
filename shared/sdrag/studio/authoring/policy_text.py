"""
Editing the text of a policy: it stays as its author laid it out.

An edit moves, adds or comments out the lines of one constraint, or puts a value into
one of its lists; the lines around them are not touched. What stands in brackets or
braces makes ruamel.yaml's round trip. Each result is read again, and must say what was
asked for with all comments of its author; where it does not, the edit is refused.
A constraint that is switched off stays behind `#~ `, and so can be switched on again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from textwrap import dedent
from typing import Any, Literal

import yaml

from sdrag.errors import MissingExtraError, PolicyError, UsageError, require_extra
from sdrag.policy import Policy
from sdrag.policy.reading import parse_yaml

_OFF = "#~ "
_ITEM = re.compile(r"( *)- ")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_NOTHING = re.compile(r"^\s*(?:#.*|---)$", re.MULTILINE)
_MARK = "\ufeff"
_WIDTH = 1_000_000
"""No line is folded."""

Entries = list[Any]


def read_policy(text: str) -> Policy:
    """Read a policy; a text that says nothing has no constraints."""
    return Policy.parse(_normalise(text)[0])


def add(text: str, sentence: str, examples: Sequence[Any] = ()) -> str:
    """Return a policy with one more constraint."""
    if not (sentence := " ".join(sentence.split())):
        raise UsageError("Write a sentence first.")
    row = {"examples": [*examples]} if examples else {}
    entry = {"text": sentence, **row} if row else sentence
    return _edit(
        text, lambda entries: entries.append(entry), lambda e: e.add(sentence, row)
    )


def append(text: str, number: int, key: str, value: Any) -> str:
    """Return a policy with a value more in a list of a constraint."""

    def change(entries: Entries) -> None:
        entry = entries[number]
        if not isinstance(entry, dict):
            entries[number] = entry = {"text": entry}
        given = entry.get(key, [])
        given = given if isinstance(given, list) else [given]
        if value not in given:
            entry[key] = [*given, value]

    return _edit(text, change, lambda edited: edited.append(number, key, value))


def set_value(text: str, number: int, key: str, value: str | None) -> str:
    """Return a policy with one word under a key of a constraint; None takes it away."""

    def change(entries: Entries) -> None:
        entry = entries[number]
        if not isinstance(entry, dict):
            entries[number] = entry = {"text": entry}
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = value

    return _edit(text, change, lambda edited: edited.set_value(number, key, value))


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
    bare, restore = _normalise(text)
    lines = _Lines(bare).lines
    if not (on := _switched_off(lines).get(line - 1, [])):
        raise UsageError("There is no such constraint.")
    lines[line - 1 : line - 1 + len(on)] = on
    Policy.parse(edited := "\n".join(lines))
    return restore(edited)


def find_disabled(text: str) -> list[dict[str, Any]]:
    """Return the constraints that are switched off, by their first lines."""
    listed = _switched_off(text.split("\n")).items()
    return [{"line": at + 1, "text": _sentence(on)} for at, on in listed]


def _switched_off(lines: Sequence[str]) -> dict[int, list[str]]:
    """Return the lines of each constraint that is switched off, by its first."""
    found: dict[int, list[str]] = {}
    start, indent = -1, 0
    for number, line in enumerate(lines):
        bare = line.removeprefix(_OFF)
        item = _ITEM.match(bare)
        if bare == line:
            start = -1
        elif item and (start < 0 or len(item[1]) <= indent):
            start, indent = number, len(item[1])
        if start >= 0:
            found.setdefault(start, []).append(bare)
    return found


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
    """Return a policy that says what a change makes of its constraints."""
    bare, restore = _normalise(text)
    expected = _read(bare)
    try:
        change(expected.setdefault("constraints", []))
    except IndexError:
        raise UsageError("There is no such constraint.") from None
    if expected == _read(bare):
        return text
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
        except MissingExtraError:
            raise
        except Exception:  # noqa: BLE001, S112 -- the libraries raise anything
            continue
        if is_right and all(comment in edited for comment in comments):
            Policy.parse(edited)
            return restore(edited)
    raise UsageError("This cannot be edited by sentence.", hint="Edit the YAML.")


def _normalise(text: str) -> tuple[str, Callable[[str], str]]:
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
    read = parse_yaml(text)
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


def _round_trip(text: str, change: Callable[[Any], object]) -> str:
    """Return a policy changed as a whole; ruamel.yaml lays it out."""
    with require_extra("cli", "Editing a policy"):
        from ruamel.yaml import YAML  # noqa: PLC0415 -- an extra
    yaml_, stream = YAML(), StringIO()
    yaml_.preserve_quotes = True
    yaml_.width = _WIDTH
    yaml_.indent(mapping=2, sequence=4, offset=2)
    root = yaml_.load(text)
    change(root if isinstance(root, list) else root.setdefault("constraints", []))
    yaml_.dump(root, stream)
    return dedent(stream.getvalue())


def _bare(sentence: str) -> str:
    """Return a sentence as YAML, in quotes where it would be read otherwise."""
    try:
        is_plain = yaml.safe_load(f"- {sentence}") == [sentence]
    except yaml.YAMLError:
        is_plain = False
    return sentence if is_plain else _in_quotes(sentence)


def _in_quotes(value: Any) -> str:
    """Return a value as YAML with brackets and quotation marks."""
    return json.dumps(value, ensure_ascii=False)


class _Lines:
    """The lines of a policy, and which of them are of which constraint."""

    def __init__(self, text: str) -> None:
        key, listed = _constraints_of(text)
        if isinstance(listed, yaml.SequenceNode) and not listed.value:
            start, end = listed.start_mark.index, listed.end_mark.index
            text = text[:start].rstrip(" ") + text[end:]
        elif isinstance(listed, yaml.SequenceNode) and listed.flow_style:
            text = _round_trip(text, lambda entries: entries.fa.set_block_style())
        elif listed is None:
            text = f"{text.rstrip()}\nconstraints:\n"
        key, listed = _constraints_of(text)
        self.lines = text.split("\n")
        self.key = key.start_mark.line if key else -1
        self.indent, self.end = 0, self.key + 1
        self.starts, self.stops, self.nodes = list[int](), list[int](), list[Any]()
        if isinstance(listed, yaml.SequenceNode):
            self.nodes = listed.value
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

    def add(self, sentence: str, row: Mapping[str, Any]) -> str:
        """Return the text with one more constraint."""
        rows = [f"  {key}: {_in_quotes(value)}" for key, value in row.items()]
        key = "text: " if rows else ""
        return self._put(self.end, self.end, [f"- {key}{_bare(sentence)}", *rows])

    def append(self, number: int, key: str, value: Any) -> str:
        """Return the text with a value more in a list of a constraint."""
        quoted = _in_quotes(value)
        held = self._find_value(number, key)
        if held is None:
            return self._add_row(number, f"{key}: [{quoted}]")
        if held.flow_style:
            line, at = held.end_mark.line, held.end_mark.column - 1
            before, after = self.lines[line][:at], self.lines[line][at:]
            between = ", " if held.value else ""
            self.lines[line] = f"{before}{between}{quoted}{after}"
        else:
            last = _last_of(held)
            at = last.line + (last.column > 0)
            self.lines.insert(at, " " * held.start_mark.column + f"- {quoted}")
        return "\n".join(self.lines)

    def set_value(self, number: int, key: str, value: str | None) -> str:
        """Return the text with one word under a key of a constraint, or none."""
        held = self._find_value(number, key)
        if held is None:
            return self._add_row(number, f"{key}: {value}")
        line, start, end = (
            held.start_mark.line, held.start_mark.column, held.end_mark.column
        )  # fmt: skip
        if value is None:
            del self.lines[line]
        else:
            before = self.lines[line]
            self.lines[line] = f"{before[:start]}{value}{before[end:]}"
        return "\n".join(self.lines)

    def _find_value(self, number: int, key: str) -> Any:
        """Return the node under a key of a constraint, or None."""
        rows = getattr(self.nodes[number], "value", "")
        held = rows if isinstance(rows, list) else ()
        return next((value for name, value in held if name.value == key), None)

    def _add_row(self, number: int, row: str) -> str:
        """Return the text with one key more in a constraint."""
        start, stop, node = self.starts[number], self.stops[number], self.nodes[number]
        if isinstance(node, yaml.ScalarNode):
            first, *others = (line[self.indent :] for line in self.lines[start:stop])
            lines = [f"- text:{first[1:]}", *(f"  {each}" for each in (*others, row))]
            return self._put(start, stop, lines)
        self.lines.insert(stop, " " * node.start_mark.column + row)
        return "\n".join(self.lines)

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


def _last_of(node: yaml.Node) -> yaml.Mark:
    """Return where the last value in a value ends."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark


def _constraints_of(text: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key of the constraints, where there is one, and their list."""
    root = yaml.compose(text, yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return None, root
    keys = (pair for pair in root.value if pair[0].value == "constraints")
    return next(keys, (None, None))
