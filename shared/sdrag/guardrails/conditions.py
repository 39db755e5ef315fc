"""
Conditions on metadata, in no store's dialect.

A vector store filters before it searches, each in a language of its own. A guard says
what it wants in this one: six forms, frozen, over scalars. Adapters translate it and
AND it with the host's own filter. Filter languages have been injected through their
keys and through untyped values (CVE-2025-67644, CVE-2026-22730), so a key is a plain
identifier and a value a string, a number or a boolean, from the moment it exists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sdrag.errors import UsageError

Scalar = str | int | float | bool
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class _Test:
    """A key, and the value that it is compared with."""

    key: str
    value: Scalar

    def __post_init__(self) -> None:
        _check(self.key, self.value)


class Eq(_Test):
    """The value under `key` is `value`."""


class Contains(_Test):
    """The value under `key` is a list that holds `value`."""


class Lte(_Test):
    """The number under `key` is `value` or less."""

    def __post_init__(self) -> None:
        _check(self.key, self.value)
        if isinstance(self.value, (bool, str)):
            raise UsageError(f"`Lte` needs a number, got {type(self.value).__name__}.")


@dataclass(frozen=True, slots=True)
class In:
    """The value under `key` is one of `values`."""

    key: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        _check_any(self.values)
        for value in self.values:
            _check(self.key, value)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Conditions that are taken together."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _check_any(self.parts)


class And(_Parts):
    """Every part holds."""


class Or(_Parts):
    """At least one part holds."""


Condition = Eq | In | Contains | Lte | And | Or
_CHROMA = {Eq: "$eq", Contains: "$contains", Lte: "$lte"}


def drop_lists(condition: Condition) -> Condition | None:
    """
    Return the strongest condition, if any, that asks for no list, and admits no less.

    For stores whose language knows none; what it lets through is checked afterwards.
    """
    match condition:
        case Contains():
            return None
        case Or(parts):
            return None if None in map(drop_lists, parts) else condition
        case And(parts):
            kept = tuple(part for part in map(drop_lists, parts) if part is not None)
            return And(kept) if kept else None
    return condition


def as_chroma(condition: Condition) -> dict[str, Any]:
    """Translate a condition into Chroma's `where`."""
    match condition:
        case Eq(key, value) | Contains(key, value) | Lte(key, value):
            return {key: {_CHROMA[type(condition)]: value}}
        case In(key, values):
            return {key: {"$in": list(values)}}
        case And((part,)) | Or((part,)):  # Chroma refuses a compound of one part
            return as_chroma(part)
        case And(parts):
            return {"$and": list(map(as_chroma, parts))}
        case Or(parts):
            return {"$or": list(map(as_chroma, parts))}


def both(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> dict[str, Any]:
    """AND a translated condition with the `where` that the host gave."""
    return {"$and": [dict(theirs), dict(ours)]} if theirs else dict(ours)


def _check(key: object, value: object) -> None:
    if not isinstance(key, str) or not _KEY.match(key):
        raise UsageError(
            "A filter key must be a plain identifier of at most 64 characters."
        )
    if not isinstance(value, (str, int, float)) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise UsageError(
            "A filter value must be a string, a finite number or a boolean, got"
            f" {type(value).__name__}."
        )


def _check_any(parts: tuple[object, ...]) -> None:
    if not parts:
        raise UsageError("`In`, `And` and `Or` need at least one value or part.")
