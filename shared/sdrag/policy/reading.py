"""
Reading YAML within bounds, and saying what is wrong with a policy and where.

No error quotes a constraint. What is wrong is returned and not raised where it is
caught: Python would hang on it the error below, which quotes the policy. A constraint's
text that holds a colon reads as a key, so inside `constraints` only a key that looks
like a misspelt one is named.

Lists that a policy has in files of their own become part of it, of its hash too. A file
is in the policy's folder or below it, so that a policy opens nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import yaml

from sdrag.errors import PolicyError
from sdrag.sections import Section

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


MAX_POLICY_BYTES = 1_000_000
_MAX_PLACES = 100_000
_MAX_DEPTH = 20
_LONGEST_NUMBER = 100
_TEXT = "tag:yaml.org,2002:str"
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
_WORD = re.compile(r"[A-Za-z_]\w{0,39}", re.ASCII)

Place = tuple[str | int, ...]
"""The keys and indices that lead to a value."""
Lines = dict[Place, int]
"""The line of each key in the file, counted from 1."""


def text_of(path: Path) -> str:
    """Return what is in the file."""
    fault = "is too large for a policy"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_POLICY_BYTES + 1)
        if len(data) <= MAX_POLICY_BYTES:
            return data.decode("utf-8")
    except UnicodeDecodeError:
        fault = "is not UTF-8"
    except (OSError, ValueError) as error:
        fault = f"cannot be read ({type(error).__name__})"
    missing = "FileNotFoundError" in fault
    raise PolicyError(
        f"The policy file{_show(path) if missing else ''} {fault}.",
        hint=_nearest_file(path)
        or "Give the path of a YAML file, or a list of sentences: even one is in a"
        " list. Policy.parse reads YAML text.",
    )


def _show(path: Path) -> str:
    """Name what can be nothing but a path; a sentence or a policy's text has spaces."""
    named = path.suffix.lower() in _SUFFIXES and not re.search(r"\s", str(path))
    return f" {path}" if named else ""


def _nearest_file(path: Path) -> str:
    """Name the file in its folder that was probably meant."""
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix in _SUFFIXES]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(path.name, set(names) - {path.name}, n=1)
    return f"Did you mean {path.with_name(near[0])}?" if near and _show(path) else ""


def parse_yaml(text: str) -> tuple[dict[str, Any], Lines] | PolicyError:
    """
    Read YAML; its places are counted before anything is made of them.

    A list is a list of constraints.
    """
    if len(text) > MAX_POLICY_BYTES:
        return PolicyError("The text is too large for a policy.")
    line = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        lines: Lines = {}
        is_list = isinstance(node, yaml.SequenceNode)
        _note_lines(node, ("constraints",) if is_list else (), lines)
        if not isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            return PolicyError(
                "A policy is a mapping, or a list of constraints.",
                line=1,
                hint="Write `constraints:`, and below it `- ` before each sentence.",
            )
        make = loader.construct_document
        return ({"constraints": make(node)} if is_list else make(node)), lines
    except PolicyError as error:
        return error.sealed()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
    except Exception:  # noqa: BLE001, S110 -- tags make the library raise anything
        pass
    return PolicyError("This is not YAML.", line=line)


def _note_lines(node: yaml.Node | None, place: Place, lines: Lines) -> None:
    """
    Remember on which line each key is; refuse a key that occurs twice.

    An alias is walked wherever it is used, so a few lines of aliases of aliases would
    be walked for ever: places and depth are bounded.
    """
    if node is None:
        return
    line = node.start_mark.line + 1
    lines.setdefault(place, line)
    if len(lines) > _MAX_PLACES or len(place) > _MAX_DEPTH:
        raise PolicyError("The policy holds too much, or too deeply.", line=line)
    if isinstance(node, yaml.ScalarNode):
        # `1:1:1` is a number to the base 60: a long one would be read for hours.
        if node.tag != _TEXT and len(node.value) > _LONGEST_NUMBER:
            raise PolicyError("A value is too long for a number or date.", line=line)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, _name(key))
            if inner in lines:
                raise PolicyError(
                    "A key occurs twice.",
                    line=key.start_mark.line + 1,
                    key=_dot(place if "constraints" in place else inner),
                )
            _note_lines(key, inner, lines)
            _note_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _note_lines(value, (*place, index), lines)


def _name(key: yaml.Node) -> str:
    """Return a key's own words; one that is no scalar has none, and is no key here."""
    if not isinstance(key, yaml.ScalarNode):
        raise PolicyError("A key is one word.", line=key.start_mark.line + 1)
    return str(key.value)


def _nearest(lines: Lines, place: Place) -> int | None:
    """Return the line of the key at `place`, or of the closest one above it."""
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return lines.get(())


def _dot(place: Place) -> str:
    """Return a place as it is written in errors, such as `disclosure.bind_top_n`."""
    return ".".join(str(part) for part in place)


def explain_problems(
    problems: Sequence[ErrorDetails], lines: Lines, document: type[Section]
) -> PolicyError:
    """Make an error of what pydantic says of a policy."""
    errors = [_problem(problem, lines, document) for problem in problems]
    errors.sort(key=lambda error: error.line or 0)
    first, *others = errors
    first.others = tuple(others)
    return first


def _problem(
    problem: ErrorDetails, lines: Lines, document: type[Section]
) -> PolicyError:
    place = tuple(problem["loc"])
    line = _nearest(lines, place)
    if problem["type"] == "extra_forbidden":
        return _explain_unknown(place, line, document)
    said = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "model_type":
        said = "A sentence is expected here, or a mapping of keys"
    return PolicyError(f"{said}.", line=line, key=_dot(place))


def _explain_unknown(
    place: Place, line: int | None, document: type[Section]
) -> PolicyError:
    """Name an unknown key where it may be shown, and the nearest known one."""
    name, section = str(place[-1]), _section_at(place[:-1], document)
    known = get_close_matches(name, section.model_fields, n=1, cutoff=0.7)
    if place[0] == "constraints" and not known:
        return PolicyError(
            "There is an unknown key here.",
            line=line,
            key=_dot(place[:-1]),
            hint="A text that holds a colon is in quotes.",
        )
    shown = place if known or _WORD.fullmatch(name) else place[:-1]
    hint = f"Did you mean `{known[0]}`?" if known else ""
    return PolicyError("There is no such key.", line=line, key=_dot(shown), hint=hint)


def _section_at(place: Place, document: type[Section]) -> type[Section]:
    """Return the class of the section at a place where an unknown key is."""
    section = document
    for part in place:
        if isinstance(part, str) and part in section.model_fields:
            annotation = section.model_fields[part].annotation
            section = next(sections_in(annotation), section)
    return section


def sections_in(annotation: Any) -> Iterator[type[Section]]:
    """Yield the sections that are in an annotation, such as `Section | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from sections_in(inner)


_FILLED = {"keep": "words", "patterns": "pattern"}
"""Where an entry may name a file, and the key of what that lists."""


def with_lists(value: dict[str, Any], lines: Lines, folder: Path) -> dict[str, Any]:
    """
    Return what a policy's file says, each `file` replaced by what it lists.

    Raises:
        PolicyError: A file is none that can be read; names its line in the policy.
    """
    return {
        name: _fill_below(each, (name,), lines, folder) for name, each in value.items()
    }


def _fill_below(value: Any, place: Place, lines: Lines, folder: Path) -> Any:
    """Fill the entries of `keep` and `patterns`, and the `keep` of constraints."""
    if isinstance(value, list):
        return [
            _fill_below(each, (*place, number), lines, folder)
            for number, each in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    if place[0] == "constraints" and len(place) == 2 and "keep" in value:
        filled = _fill_below(value["keep"], (*place, "keep"), lines, folder)
        return {**value, "keep": filled}
    field = next((_FILLED[name] for name in place if name in _FILLED), "")
    if not field or "file" not in value or field in value:
        return value
    return _fill(value, field, (*place, "file"), lines, folder)


def _fill(
    entry: dict[str, Any], field: str, place: Place, lines: Lines, folder: Path
) -> dict[str, Any]:
    listed = _read(entry["file"], folder)
    if isinstance(listed, str):
        raise PolicyError(
            f"This file {listed}.",
            line=lines.get(place),
            key=".".join(map(str, place)),
            hint="Name a file in the policy's folder: text with one entry a line, or a"
            " YAML list.",
        )
    return {field: listed} | {n: said for n, said in entry.items() if n != "file"}


def _read(name: Any, folder: Path) -> tuple[str, ...] | str:
    """Return what a file lists, or what is wrong with it."""
    data = _bytes_of(name, folder)
    if isinstance(data, str):
        return data
    if len(data) > MAX_POLICY_BYTES:
        return f"is larger than {MAX_POLICY_BYTES:,} bytes"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    if "\0" in text:
        return "is not UTF-8 text"
    lines = map(str.strip, text.splitlines())
    entries: Any = [line for line in lines if line and not line.startswith("#")]
    if Path(name).suffix.lower() in _SUFFIXES:
        try:
            entries = yaml.load(text, yaml.BaseLoader)  # noqa: S506 -- makes texts alone
        except Exception:  # noqa: BLE001 -- the library quotes what it reads
            entries = None
    if not isinstance(entries, list) or not all(isinstance(e, str) for e in entries):
        return "is no YAML list of texts"
    return tuple(entries) or "lists nothing"


def _bytes_of(name: str, folder: Path) -> bytes | str:
    fault = "cannot be read"
    try:
        root = folder.resolve()
        path = (root / name).resolve()
        if Path(name).is_absolute() or not path.is_relative_to(root):
            return "is not in the policy's folder or below it"
        if not path.exists():
            return "does not exist"
        if path.is_file():  # a pipe would be waited for
            with path.open("rb") as file:
                return file.read(MAX_POLICY_BYTES + 1)
    except (OSError, TypeError, ValueError) as error:
        fault = f"cannot be read ({type(error).__name__})"
    return fault
