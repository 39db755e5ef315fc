"""
Editing a policy by its sentences: its text stays as its author laid it out.

An edit moves, adds, comments out or writes anew the lines of one constraint. The result
is read again: where its constraints are not what they must be, the edit is refused, and
its author writes YAML. A constraint that is switched off stays in the text behind
`#~ `, and so can be switched on again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from sdrag.disclosure.constraint_parser import parse
from sdrag.errors import PolicyError
from sdrag.explanation import Explainer
from sdrag.policy import Policy
from sdrag.policy.reading import parsed
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Constraint, Passage, Span
from sdrag.workbench.bodies import Asked
from sdrag.workbench.gate import RefusedError

_OFF = "#~ "
_BY_HAND = RefusedError(422, "This cannot be edited by sentence. Edit the YAML.")
Entries = list[Any]


def disabled(text: str) -> list[dict[str, Any]]:
    """Return the constraints that are switched off, by their first lines."""
    lines = text.split("\n")
    listed = []
    for number, line in enumerate(lines):
        if line.startswith(_OFF) and re.match(r"\s*- ", line[len(_OFF) :]):
            value = yaml.safe_load("\n".join(_switched_off(lines, number)))
            entry = value[0] if isinstance(value, list) else value
            sentence = entry.get("text", "") if isinstance(entry, dict) else entry
            listed.append({"line": number + 1, "text": str(sentence)})
    return listed


def edit(asked: Asked) -> dict[str, Any]:
    """
    Return the text of a policy after one edit.

    Raises:
        RefusedError: The policy is wrong, or is not laid out in lines.
    """
    change = {
        "add": _add,
        "move": _move,
        "disable": _disable,
        "enable": _enable,
        "stay": _stay,
    }[asked.change]
    return {"policy": change(_Lines(asked.policy), asked), "note": ""}


def must_go(asked: Asked, document: Passage) -> dict[str, Any]:
    """Return the policy with an example, and a sentence if a name is not hidden yet."""
    words = asked.words.strip()
    start = document.text.find(words)
    if not words or start < 0:
        raise RefusedError(422, "Select words of the document that must go.")
    place = Span(start, start + len(words))
    around = [s for s in sentences(document.text) if s.overlaps(place)]
    text = document.text[around[0].start : around[-1].end].strip() if around else words
    lines = _Lines(asked.policy)

    def with_example(entry: Any) -> Any:
        given = dict(entry) if isinstance(entry, dict) else {"text": entry}
        example = {"text": text, "hides": [words]}
        return {**given, "examples": [*given.get("examples", ()), example]}

    policy = lines.rewrite(asked.constraint, with_example)
    if _hides(policy, text, words):
        return {"policy": policy, "note": "An example was written. It holds already."}
    literal = f"Remove {words}"
    read = parse(Constraint("literal", literal))
    added = _add(_Lines(policy), asked.model_copy(update={"sentence": literal}))
    if read.kind == "named" and _hides(added, text, words):
        note = f"An example was written, and the sentence \u201c{literal}\u201d added."
        return {"policy": added, "note": note}
    note = (
        "An example was written, and does not hold yet: say in a sentence what these "
        "words are, or raise the sensitivity."
    )
    return {"policy": policy, "note": note}


def _hides(policy: str, text: str, words: str) -> bool:
    (explained,) = Explainer(Policy.parse(policy)).explain([Passage("text", text)])
    start = text.find(words)
    if explained.released is None:
        return True
    hidden = SpanUnion(found.span for found in explained.spans)
    return all(
        hidden.overlaps(Span(start + at, start + at + 1))
        for at, character in enumerate(words)
        if character.isalnum()
    )


class _Lines:
    """The lines of a policy, and which of them are of which constraint."""

    def __init__(self, text: str) -> None:
        try:
            Policy.parse(text)
            root = yaml.compose(text, yaml.SafeLoader)
            read = parsed(text)
        except (PolicyError, yaml.YAMLError):
            raise RefusedError(422, "Mend the problems of the policy first.") from None
        if isinstance(read, PolicyError):
            raise _BY_HAND
        self.entries: Entries = list(read[0].get("constraints") or ())
        self.lines = text.rstrip("\n").split("\n") if text.strip() else []
        self.indent, self.starts, self.end = 0, list[int](), len(self.lines)
        listed = root
        if isinstance(root, yaml.MappingNode):
            values = {key.value: (key, value) for key, value in root.value}
            if "constraints" not in values:
                self.lines.append("constraints:")
                self.end = len(self.lines)
                return
            key, listed = values["constraints"]
            self.end = key.start_mark.line + 1
        if not isinstance(listed, yaml.SequenceNode):
            return
        if listed.flow_style:
            raise _BY_HAND
        self.indent = listed.start_mark.column
        dash = re.compile(rf" {{{self.indent}}}-(\s|$)")
        first = listed.start_mark.line
        last = max(self._last(listed), first)
        self.starts = [n for n in range(first, last + 1) if dash.match(self.lines[n])]
        self.end = last + 1

    def _last(self, listed: yaml.SequenceNode) -> int:
        """Return the last line of the list that is no comment and not empty."""
        end = listed.end_mark
        last = end.line if end.column > self.indent else end.line - 1
        last = min(last, len(self.lines) - 1)
        while last > 0 and not self.lines[last].split("#")[0].strip():
            last -= 1
        return last

    def part(self, number: int) -> slice:
        """Return the lines of a constraint, with the comments right before it."""
        if not 0 <= number < len(self.starts):
            raise RefusedError(422, "There is no such constraint.")
        return slice(self._begin(number), self._stop(number))

    def _begin(self, number: int) -> int:
        start = self.starts[number]
        least = self.starts[number - 1] + 1 if number else 0
        while start > least and self.lines[start - 1].lstrip().startswith("# "):
            start -= 1
        return start

    def _stop(self, number: int) -> int:
        more = number + 1 < len(self.starts)
        return self._begin(number + 1) if more else self.end

    def write(self, entry: Any) -> list[str]:
        """Return the lines of a constraint as YAML."""
        dumped = yaml.safe_dump(
            [entry],
            sort_keys=False,
            allow_unicode=True,
            width=76,
            default_flow_style=None if isinstance(entry, dict) else False,
        )
        return [" " * self.indent + line for line in dumped.rstrip("\n").split("\n")]

    def rewrite(self, number: int, change: Callable[[Any], Any]) -> str:
        """Write one constraint anew."""
        part = self.part(number)
        start = self.starts[number]
        entry = change(self.entries[number])
        lines = [*self.lines[part.start : start], *self.write(entry)]
        expected = [*self.entries]
        expected[number] = entry
        return self.put(part, lines, expected)

    def put(self, part: slice, lines: list[str], expected: Entries) -> str:
        """Return the text with other lines, if its constraints are as expected."""
        changed = [*self.lines]
        changed[part] = lines
        text = "\n".join(changed) + "\n"
        read = parsed(text)
        if isinstance(read, PolicyError):
            raise _BY_HAND
        if (read[0].get("constraints") or []) != expected:
            raise _BY_HAND
        try:
            Policy.parse(text)
        except PolicyError as error:
            raise RefusedError(422, f"The policy would be wrong: {error}") from None
        return text


def _add(lines: _Lines, asked: Asked) -> str:
    sentence = " ".join(asked.sentence.split())
    if not sentence:
        raise RefusedError(422, "Write a sentence first.")
    end = lines.end
    return lines.put(slice(end, end), lines.write(sentence), [*lines.entries, sentence])


def _move(lines: _Lines, asked: Asked) -> str:
    first, second = sorted((asked.constraint, asked.constraint + asked.step))
    upper, lower = lines.part(first), lines.part(second)
    expected = [*lines.entries]
    expected[first], expected[second] = expected[second], expected[first]
    moved = [*lines.lines[lower], *lines.lines[upper]]
    return lines.put(slice(upper.start, lower.stop), moved, expected)


def _disable(lines: _Lines, asked: Asked) -> str:
    part = lines.part(asked.constraint)
    start = lines.starts[asked.constraint]
    off = [_OFF + line for line in lines.lines[start : part.stop]]
    expected = [*lines.entries]
    del expected[asked.constraint]
    if not expected:
        raise RefusedError(422, "This is the only sentence that is on. Add one first.")
    return lines.put(slice(start, part.stop), off, expected)


def _enable(lines: _Lines, asked: Asked) -> str:
    start = asked.constraint - 1
    on = _switched_off(lines.lines, start)
    if not on:
        raise RefusedError(422, "There is no such constraint.")
    text = "\n".join([*lines.lines[:start], *on, *lines.lines[start + len(on) :]])
    try:
        Policy.parse(text)
    except PolicyError as error:
        raise RefusedError(422, f"The policy would be wrong: {error}") from None
    return text + "\n"


def _switched_off(lines: list[str], start: int) -> list[str]:
    """Return the lines of the constraint that is switched off from a line on."""
    on: list[str] = []
    for line in lines[max(0, start) :]:
        bare = line[len(_OFF) :]
        if not line.startswith(_OFF) or (
            on
            and re.match(r"\s*- ", bare)
            and len(bare) - len(bare.lstrip()) <= len(on[0]) - len(on[0].lstrip())
        ):
            break
        on.append(bare)
    return on


def _stay(lines: _Lines, asked: Asked) -> str:
    words = " ".join(asked.words.split())
    if not any(map(str.isalnum, words)):
        raise RefusedError(422, "Select words that must stay.")

    def with_keep(entry: Any) -> Any:
        given = dict(entry) if isinstance(entry, dict) else {"text": entry}
        keeps = given.get("keep", [])
        keeps = keeps if isinstance(keeps, list) else [keeps]
        return {**given, "keep": [*keeps, *([] if words in keeps else [words])]}

    return lines.rewrite(asked.constraint, with_keep)
