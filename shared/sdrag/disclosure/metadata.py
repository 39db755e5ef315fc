"""
The metadata that leaves: by allow-list, and redacted like text.

Strings among the allowed values are texts of their own: they are handed to the locator
and the model with the passages, and swept like them. Values of other plain types pass
unless they read like something that was found; everything else stays behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

__all__ = ["allowed", "plain_values", "rewritten", "strings"]

_LOADER_KEYS = {"lc", "__lc_escaped__"}  # CVE-2025-68664
_DEPTH = 4


class Withheld(Exception):  # noqa: N818 -- a signal within this module
    """A value cannot leave."""


def allowed(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the allowed part of the metadata."""
    return {key: metadata[key] for key in keys if key in metadata}


def strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield every string inside a value, keys of mappings included."""
    if isinstance(value, str):
        yield str.__str__(value)
    elif depth < _DEPTH and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings(key, depth + 1)
            yield from strings(inner, depth + 1)
    elif depth < _DEPTH and isinstance(value, (list, tuple)):
        for inner in value:
            yield from strings(inner, depth + 1)


def plain_values(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield how every value inside is spelt that is no string; keys included."""
    if depth < _DEPTH and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from plain_values(key, depth + 1)
            yield from plain_values(inner, depth + 1)
    elif depth < _DEPTH and isinstance(value, (list, tuple)):
        for inner in value:
            yield from plain_values(inner, depth + 1)
    elif value is None or isinstance(value, (bool, int, float)):
        with suppress(Withheld):
            yield _spelt(_bare(value))


def rewritten(
    metadata: Mapping[str, Any], rewrite: Callable[[str], str | None]
) -> dict[str, Any]:
    """
    Return a copy in which every string went through `rewrite`.

    Args:
        metadata: What is allowed to leave.
        rewrite: Gives the redacted string, or `None` when it is withheld; the key it
            stands under is then left out.
    """
    kept = {}
    for key, value in metadata.items():
        try:
            kept[key] = _value(value, rewrite, 0)
        except Withheld:
            continue
    return kept


def _value(value: Any, rewrite: Callable[[str], str | None], depth: int) -> Any:
    if depth > _DEPTH:
        raise Withheld
    if isinstance(value, str):
        result = rewrite(str.__str__(value))
        if result is None:
            raise Withheld
        return result
    if value is None or isinstance(value, (bool, int, float)):
        bare = _bare(value)
        if rewrite(_spelt(bare)) != _spelt(bare):
            raise Withheld
        return bare
    if isinstance(value, Mapping) and not _LOADER_KEYS & set(map(str, value)):
        return {
            _value(str(key), rewrite, depth + 1): _value(inner, rewrite, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_value(inner, rewrite, depth + 1) for inner in value]
    raise Withheld


def _bare(value: float | bool | None) -> float | bool | None:  # noqa: FBT001 -- as below
    """Return a number as such: a member of an enumeration has a name too."""
    if isinstance(value, float):
        return float.__float__(value)
    return value if value is None or isinstance(value, bool) else int.__int__(value)


def _spelt(value: float | bool | None) -> str:  # noqa: FBT001 -- any plain value
    try:
        return str(value)
    except ValueError:  # an int of thousands of digits has no spelling
        raise Withheld from None
