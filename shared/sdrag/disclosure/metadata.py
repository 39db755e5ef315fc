"""
The metadata that leaves: the keys that a policy lists, redacted like text.

Strings among the allowed values are texts of their own: the locator and the model read
them with the passages. Numbers, booleans and `None` leave unless they are spelt like
something that was found. No value of another type leaves. A value is copied before it
is read, and the copy is what is read and rewritten, at every depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sdrag.text.nested_values import TooLarge, Walk

__all__ = ["leaves", "plain", "rewritten", "spelt"]

Plain = str | int | float | bool | None

_LOADER_KEYS = {"lc", "__lc_escaped__"}  # CVE-2025-68664


class Withheld(Exception):  # noqa: N818 -- a signal within this module
    """A value cannot leave."""


def plain(metadata: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """
    Return copies of values that are plain data; a key whose value is not is left out.

    Args:
        metadata: Of one passage; its size is bounded.
        keys: That may leave, on the top level: a key inside a value is none of them.
    """
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


def leaves(metadata: Mapping[str, Any]) -> list[Plain]:
    """Return all values inside plain data that hold no other, and all keys."""
    found: list[Plain] = []
    walk = Walk(found.append, found.append)
    for value in metadata.values():
        walk.copy(value)
    return found


def rewritten(
    metadata: Mapping[str, Any], rewrite: Callable[[str], str | None]
) -> dict[str, Any]:
    """
    Return a copy in which every string went through `rewrite`.

    Args:
        metadata: Plain data that is allowed to leave.
        rewrite: Gives the redacted string, or `None` when it is withheld; the key it
            is under is then left out.
    """

    def changed(value: Plain) -> Plain:
        if isinstance(value, str):
            result = rewrite(value)
            if result is None:
                raise Withheld
            return result
        if rewrite(spelt(value)) != spelt(value):
            raise Withheld
        return value

    def changed_key(key: Plain) -> str:
        return _loadable(spelt(changed(key)))

    walk = Walk(changed, changed_key)
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        try:
            kept[key] = walk.copy(value)
        except Withheld:
            continue
    return kept


def spelt(value: Plain) -> str:
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
