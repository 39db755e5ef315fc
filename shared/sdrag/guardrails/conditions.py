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
class Eq:
    """The value under `key` is `value`."""

    key: str
    value: Scalar

    def __post_init__(self) -> None:
        _check(self.key, self.value)


@dataclass(frozen=True, slots=True)
class In:
    """The value under `key` is one of `values`."""

    key: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise UsageError("`In` needs at least one value.")
        for value in self.values:
            _check(self.key, value)


@dataclass(frozen=True, slots=True)
class Contains:
    """The value under `key` is a list that holds `value`."""

    key: str
    value: Scalar

    def __post_init__(self) -> None:
        _check(self.key, self.value)


@dataclass(frozen=True, slots=True)
class Lte:
    """The number under `key` is `value` or less."""

    key: str
    value: int | float

    def __post_init__(self) -> None:
        _check(self.key, self.value)
        if isinstance(self.value, bool):
            raise UsageError("`Lte` needs a number, got bool.")


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _check_parts(self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _check_parts(self.parts)


Condition = Eq | In | Contains | Lte | And | Or


def unlisted(condition: Condition) -> Condition | None:
    """
    Return the strongest condition that asks for no list, and admits no less.

    For stores whose language knows none; what it lets through is checked afterwards.

    Returns:
        None where nothing is left to ask for.
    """
    match condition:
        case Contains():
            return None
        case Or(parts):
            return None if None in map(unlisted, parts) else condition
        case And(parts):
            kept = tuple(part for part in map(unlisted, parts) if part is not None)
            return And(kept) if kept else None
    return condition


def as_chroma(condition: Condition) -> dict[str, Any]:
    """Translate a condition into Chroma's `where`."""
    match condition:
        case Eq(key, value):
            return {key: {"$eq": value}}
        case In(key, values):
            return {key: {"$in": list(values)}}
        case Contains(key, value):
            return {key: {"$contains": value}}
        case Lte(key, value):
            return {key: {"$lte": value}}
        case And(parts):
            return _compound("$and", parts)
        case Or(parts):
            return _compound("$or", parts)


def both(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> dict[str, Any]:
    """AND a translated condition with the `where` that the host gave."""
    return {"$and": [dict(theirs), dict(ours)]} if theirs else dict(ours)


def _compound(operator: str, parts: tuple[Condition, ...]) -> dict[str, Any]:
    """Chroma refuses a compound of one part."""
    inner = [as_chroma(part) for part in parts]
    return inner[0] if len(inner) == 1 else {operator: inner}


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


def _check_parts(parts: tuple[Condition, ...]) -> None:
    if not parts:
        raise UsageError("`And` and `Or` need at least one part.")
