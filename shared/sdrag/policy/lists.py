"""
Lists that a policy has in files of their own, such as one of a staff.

They are read with the policy's own file and become part of it, of its hash too. A file
is in the policy's folder or below it, so that a policy opens nothing else. What is in
it is in no error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sdrag.errors import PolicyError
from sdrag.policy.reading import MAX_POLICY_BYTES, Lines, Place

_FILLED = {"keep": "words", "patterns": "pattern"}
"""Where an entry may name a file, and the key of what that lists."""
_YAML = frozenset({".json", ".yaml", ".yml"})
_COMMENT = "#"


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
    """Return an entry with what its file lists."""
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
    is_yaml = Path(name).suffix.lower() in _YAML
    entries = _yaml_list(text) if is_yaml else tuple(_lines_of(text))
    if entries is None:
        return "is no YAML list of texts"
    return entries or "lists nothing"


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


def _lines_of(text: str) -> Iterator[str]:
    """Yield the lines that say something; one that begins with # is a comment."""
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(_COMMENT):
            yield line


def _yaml_list(text: str) -> tuple[str, ...] | None:
    try:
        loaded = yaml.load(text, yaml.BaseLoader)  # noqa: S506 -- makes texts alone
    except Exception:  # noqa: BLE001 -- the library quotes what it reads
        return None
    if not isinstance(loaded, list) or not all(isinstance(e, str) for e in loaded):
        return None
    return tuple(loaded)
