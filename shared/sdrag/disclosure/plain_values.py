"""
Values of metadata as plain data: copied, listed with their keys, and rewritten.

What no plain data is, or is too large, is left out with its key, and so is what a
loader would make an object of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sdrag.text.nested import TooLarge, Walk

Plain = str | int | float | bool | None

_LOADER_KEYS = {"lc", "__lc_escaped__"}  # CVE-2025-68664


class Withheld(Exception):  # noqa: N818 -- a signal within this module
    """A value cannot leave."""


def copy_plain(metadata: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Copy values that are plain data; a key whose value is not is left out."""
    walk = Walk(_bare, _bare_key)
    kept: dict[str, Any] = {}
    for key in keys:
        if key in metadata:
            left = walk.left
            try:
                kept[key] = walk.copy(metadata[key])
            except (Withheld, TooLarge):
                walk.left = left
    return kept


def find_labelled(metadata: Mapping[str, Any]) -> list[tuple[str, Plain]]:
    """Return all values that hold no other, each with its key; and keys, with none."""
    values: list[tuple[str, Plain]] = []
    walk = Walk(
        lambda value: values.append((walk.label, value)),
        lambda key: values.append(("", key)),
    )
    for walk.label, value in metadata.items():
        walk.copy(value)
    return values


def rewrite_values(
    metadata: Mapping[str, Any], rewrite: Callable[[str, str], str | None]
) -> dict[str, Any]:
    """Return a copy in which every value, as spelt, went through `rewrite`."""

    def change(label: str, value: Plain) -> Plain:
        spelt = spell(value)
        result = rewrite(label, spelt)
        if result is None:
            raise Withheld
        return value if result == spelt else result

    def change_key(key: Plain) -> str:
        return _loadable(spell(change("", key)))

    walk = Walk(lambda value: change(walk.label, value), change_key)
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        walk.label = key
        try:
            kept[key] = walk.copy(value)
        except Withheld:
            continue
    return kept


def spell(value: Plain) -> str:
    """Return how a value of plain data is written."""
    return value if isinstance(value, str) else str(value)


def _bare(value: Any) -> Plain:
    """Return a value as such: a member of an enumeration has a name too."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _writable(int.__int__(value))
    raise Withheld


def _bare_key(key: Any) -> Plain:
    bare = _bare(key)
    if isinstance(bare, str):
        _loadable(bare)
    return bare


def _loadable(key: str) -> str:
    if key in _LOADER_KEYS:
        raise Withheld
    return key


def _writable(value: int) -> int:
    try:
        str(value)
    except ValueError:  # an int of thousands of digits has no spelling
        raise Withheld from None
    return value
