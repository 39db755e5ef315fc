"""
Editing a policy by its sentences: its text stays as its author laid it out.

An edit moves, adds or comments out the lines of one constraint, or puts a key into it.
The result is read again: where its constraints are not what they must be, the edit is
refused, and its author writes YAML. A constraint that is switched off stays in the text
behind `#~ `, and so can be switched on again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import yaml

from sdrag.documents import chunks_of
from sdrag.errors import PolicyError, UsageError
from sdrag.explanation.explain import Explainer
from sdrag.explanation.explanations import Explanation
from sdrag.policy import Policy
from sdrag.policy.reading import parsed
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Passage, Span

_OFF = "#~ "
_ITEM = re.compile(r"\s*- ")
_MOST_TEXTS = 40
"""So many sentences of the documents are read for words that must stay or go."""


def add(text: str, sentence: str) -> str:
    """Return a policy with one more constraint."""
    sentence = " ".join(sentence.split())
    if not sentence:
        raise UsageError("Write a sentence first.")
    return _Lines(text).add(sentence)


def move(text: str, number: int, step: Literal[-1, 1]) -> str:
    """Return a policy with one constraint before or after its neighbour."""
    lines = _Lines(text)
    first, second = sorted((number, number + step))
    upper, lower = lines.part(first), lines.part(second)
    expected = [*lines.entries]
    expected[first], expected[second] = expected[second], expected[first]
    moved = [*lines.lines[lower], *lines.lines[upper]]
    return lines.put(slice(upper.start, lower.stop), moved, expected)


def disable(text: str, number: int) -> str:
    """Return a policy with one constraint commented out."""
    lines = _Lines(text)
    part = lines.part(number)
    start = lines.starts[number]
    off = [_OFF + line for line in lines.lines[start : part.stop]]
    expected = [*lines.entries[:number], *lines.entries[number + 1 :]]
    if not expected:
        lines.lines[lines.key] += " []"  # a key without a value is a mistake
    return lines.put(slice(start, part.stop), off, expected)


def enable(text: str, line: int) -> str:
    """Return a policy with the constraint switched on again that begins in a line."""
    Policy.parse(text)
    lines = _in_block_style(text).rstrip("\n").split("\n")
    on = _switched_off(lines, line - 1)
    if not on:
        raise UsageError("There is no such constraint.")
    edited = "\n".join([*lines[: line - 1], *on, *lines[line - 1 + len(on) :]]) + "\n"
    Policy.parse(edited)
    return edited


def disabled(text: str) -> list[dict[str, Any]]:
    """Return the constraints that are switched off, by their first lines."""
    lines = text.split("\n")
    listed = []
    for number, line in enumerate(lines):
        if line.startswith(_OFF) and _ITEM.match(line[len(_OFF) :]):
            value = yaml.safe_load("\n".join(_switched_off(lines, number)))
            entry = value[0] if isinstance(value, list) else value
            sentence = entry.get("text", "") if isinstance(entry, dict) else entry
            listed.append({"line": number + 1, "text": str(sentence)})
    return listed


def let_stay(
    text: str, words: Sequence[str], documents: Sequence[Passage]
) -> tuple[str, list[str]]:
    """
    Let words stay under each constraint that hides them in documents.

    Returns:
        The policy, and for each of the words what was done, or why they go on.
    """
    before, changed = Policy.parse(text), text
    # Whole documents: a name in one sentence hides its parts in another.
    held = [d for d in documents if any(each in d.text for each in words)]
    passages = [*chain.from_iterable(map(chunks_of, held)), *_alone(words, held)]
    read = Explainer(before).explain(passages)
    for each in words:
        hidden, kept = _constraints_over(read, each).hidden, " ".join(each.split())
        for number, rule in enumerate(before.rules):
            if rule.id in hidden:
                changed = _Lines(changed).append(number, "keep", kept)
    read_again = Explainer(Policy.parse(changed)).explain(passages)
    notes = []
    for each in words:
        hidden = _constraints_over(read, each).hidden
        note = f"`keep` under {_quote(before, hidden)}" if hidden else "stays already"
        if still := _constraints_over(read_again, each).hidden:
            note += f"; still hidden by {_quote(before, still)}: no keep opens an"
            note += " identifier, or what is a name elsewhere in the document"
        notes.append(note + _unless_there(each, documents))
    return changed, notes


def make_go(
    text: str, words: Sequence[str], documents: Sequence[Passage]
) -> tuple[str, list[str]]:
    """
    Write an example of words that must go, under a new sentence where none hides them.

    Returns:
        The policy, and for each of the words what was done.
    """
    policy = Policy.parse(text)
    # Sentences: an example is a text of its own.
    parts = (part.of(d.text) for d in documents for part in sentences(d.text))
    texts = dict.fromkeys(t for t in parts if any(each in t for each in words))
    passages = [Passage(text, text) for text in texts][:_MOST_TEXTS]
    read = Explainer(policy).explain([*passages, *_alone(words, passages)])
    changed, notes = text, []
    for each in words:
        over = _constraints_over(read, each)
        around = next((e.text for e in read if each in e.text), each)
        example = {"text": around.strip(), "hides": [each]}
        if over.gone:
            ids = [rule.id for rule in policy.rules]
            number = max(map(ids.index, over.hidden))
            changed = _Lines(changed).append(number, "examples", example)
            note = f"goes already, by {_quote(policy, over.hidden)}"
        else:
            sentence = f"Hide {_as_json(each)}"
            changed = _Lines(changed).add({"text": sentence, "examples": [example]})
            note = f"added {sentence}"
            if over.left:
                near = _quote(policy, over.left)
                note += f"; or perhaps, in its place, `sensitivity: high` under {near}"
        notes.append(note + _unless_there(each, documents))
    return changed, notes


def _unless_there(words: str, documents: Sequence[Passage]) -> str:
    there = any(words in document.text for document in documents)
    return "" if there else " (these documents do not have it)"


class _Over(NamedTuple):
    """The constraints that hide words, those that nearly do, and if all of them go."""

    hidden: Sequence[str]
    left: Sequence[str]
    gone: bool


def _alone(words: Sequence[str], passages: Sequence[Passage]) -> Iterator[Passage]:
    """Yield words that no passage has, as passages."""
    for each in words:
        if not any(each in passage.text for passage in passages):
            yield Passage(each, each)


def _constraints_over(explanations: Sequence[Explanation], words: str) -> _Over:
    hidden, left, gone = dict[str, None](), dict[str, None](), True
    for text, spans, nearly in ((e.text, e.spans, e.left) for e in explanations):
        start = text.find(words)
        if start < 0:
            continue
        at = Span(start, start + len(words))
        hidden |= dict.fromkeys(e.constraint_id for e in spans if e.span.overlaps(at))
        left |= dict.fromkeys(e.constraint_id for e in nearly if e.span.overlaps(at))
        covered = SpanUnion(e.span for e in spans)
        letters = (n for n, each in enumerate(words, start=start) if each.isalnum())
        gone = gone and all(covered.overlaps(Span(n, n + 1)) for n in letters)
    return _Over([*hidden], [*left], gone)


def _quote(policy: Policy, ids: Sequence[str]) -> str:
    quoted = (f"“{rule.text}” ({rule.id})" for rule in policy.rules if rule.id in ids)
    return ", ".join(quoted)


class _Lines:
    """The lines of a policy, and which of them are of which constraint."""

    def __init__(self, text: str) -> None:
        Policy.parse(text)
        self.text = _in_block_style(text)
        self.entries = _entries(self.text)
        self.lines = self.text.rstrip("\n").split("\n") if self.text.strip() else []
        self.indent, self.starts, self.end = 0, list[int](), len(self.lines)
        self.nodes: list[yaml.Node] = []
        root = yaml.compose(self.text, yaml.SafeLoader)
        key, listed = _constraints_of(root)
        self.key = key.start_mark.line if key else 0
        if key is not None:
            self.end = self.key + 1
        elif isinstance(root, yaml.MappingNode):
            self.lines.append("constraints:")
            self.end = len(self.lines)
        if not isinstance(listed, yaml.SequenceNode):
            return
        self.nodes = listed.value
        self.indent = listed.start_mark.column
        dash = re.compile(rf" {{{self.indent}}}-(\s|$)")
        last = self.text.count("\n", 0, _end_of(listed, self.text))
        lines = range(listed.start_mark.line, last + 1)
        self.starts = [number for number in lines if dash.match(self.lines[number])]
        self.end = last + 1

    def part(self, number: int) -> slice:
        """Return the lines of a constraint, with the comments right before it."""
        if not 0 <= number < len(self.starts):
            raise UsageError("There is no such constraint.")
        more = number + 1 < len(self.starts)
        stop = self._begin(number + 1) if more else self.end
        return slice(self._begin(number), stop)

    def _begin(self, number: int) -> int:
        start = self.starts[number]
        least = self.starts[number - 1] + 1 if number else 0
        while start > least and self.lines[start - 1].lstrip().startswith("# "):
            start -= 1
        return start

    def add(self, entry: str | dict[str, Any]) -> str:
        """Return the text with one more constraint."""
        end, indent = self.end, " " * self.indent
        if isinstance(entry, str):
            written = [f"{indent}- {_in_yaml(entry)}"]
        else:
            keys = (f"{key}: {_in_yaml(value)}" for key, value in entry.items())
            written = [f"{indent}{'  ' if n else '- '}{k}" for n, k in enumerate(keys)]
        return self.put(slice(end, end), written, [*self.entries, entry])

    def append(self, number: int, key: str, value: Any) -> str:
        """Return the text with a value more in a list of a constraint."""
        self.part(number)
        entry = self.entries[number]
        changed = dict(entry) if isinstance(entry, dict) else {"text": entry}
        given = changed.get(key, [])
        given = given if isinstance(given, list) else [given]
        if value in given:
            return self.text
        changed[key] = [*given, value]
        expected = [*self.entries]
        expected[number] = changed
        text = _insert(self.text, self.nodes[number], key, _as_json(value))
        return _checked(text, expected)

    def put(self, part: slice, lines: list[str], expected: list[Any]) -> str:
        """Return the text with other lines, if its constraints are as expected."""
        changed = [*self.lines]
        changed[part] = lines
        return _checked("\n".join(changed) + "\n", expected)


def _checked(text: str, expected: list[Any]) -> str:
    """Return a policy whose constraints are as expected."""
    if _entries(text) != expected:
        raise UsageError("This cannot be edited by sentence.", hint="Edit the YAML.")
    Policy.parse(text)
    return text


def _entries(text: str) -> list[Any]:
    read = parsed(text)
    return (
        [] if isinstance(read, PolicyError) else [*(read[0].get("constraints") or ())]
    )


def _constraints_of(
    root: yaml.Node | None,
) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key of the constraints, where there is one, and their list."""
    if not isinstance(root, yaml.MappingNode):
        return None, root
    keys = (pair for pair in root.value if pair[0].value == "constraints")
    return next(keys, (None, None))


def _in_block_style(text: str) -> str:
    """Return a policy whose constraints stand in lines and not in brackets."""
    _, listed = _constraints_of(yaml.compose(text, yaml.SafeLoader))
    if not isinstance(listed, yaml.SequenceNode) or not listed.flow_style:
        return text
    start, end = listed.start_mark.index, listed.end_mark.index
    items = (text[n.start_mark.index : n.end_mark.index] for n in listed.value)
    lines = "".join(f"\n  - {' '.join(item.split())}" for item in items)
    return text[:start].rstrip(" ") + lines + text[end:]


def _insert(text: str, node: yaml.Node, key: str, value: str) -> str:
    """Return a text with a value more in the list of a constraint under a key."""
    start, end = node.start_mark.index, _end_of(node, text)
    line = f"{' ' * node.start_mark.column}{key}: [{value}]"
    if isinstance(node, yaml.ScalarNode):
        sentence = "text: " + text[start:end].replace("\n", "\n  ")
        text = f"{text[:start]}{sentence}{text[end:]}"
        return _insert_line(text, start + len(sentence), line)
    assert isinstance(node, yaml.MappingNode)
    values = {name.value: held for name, held in node.value}
    if key not in values:
        if node.flow_style:
            return f"{text[: end - 1]}, {line.lstrip()}{text[end - 1 :]}"
        return _insert_line(text, end, line)
    held = values[key]
    start, end = held.start_mark.index, _end_of(held, text)
    if not isinstance(held, yaml.SequenceNode):
        return f"{text[:start]}[{text[start:end]}, {value}]{text[end:]}"
    if held.flow_style:
        comma = ", " if held.value else ""
        return f"{text[: end - 1]}{comma}{value}{text[end - 1 :]}"
    return _insert_line(text, end, f"{' ' * held.start_mark.column}- {value}")


def _insert_line(text: str, place: int, line: str) -> str:
    """Return a text with a line after the one that a place is in."""
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return f"{text[:end]}\n{line}{text[end:]}"


def _end_of(node: yaml.Node, text: str) -> int:
    """Return where a node ends; a block's own mark is behind what follows it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last, text)
    end: int = node.end_mark.index
    return len(text[:end].rstrip())


def _in_yaml(value: Any) -> str:
    """Return a value on one line: a plain sentence bare, all else as JSON."""
    if isinstance(value, str) and yaml.safe_load(f"- {value}") == [value]:
        return value
    return _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
