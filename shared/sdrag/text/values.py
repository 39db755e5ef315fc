"""
Nested values: one walk through mappings and lists, and copies with rewritten texts.

Whatever reads a value, and whatever rewrites it, takes the same walk, to a bounded
depth and size. So nothing leaves that was not read. Both bounds hold for values that
contain themselves too.

A tool can write more than text: state updates, events, items of a store, questions to a
human. Such a value is read twice by the same rule. The first reading collects its
texts, and the second builds a copy of what was released of them. Keys and numbers are
texts too, since a key can be a name and a number can be a phone number. Only the keys
that frameworks and schemas use themselves are left as they are. The copy holds plain
data only. An object of a framework is rebuilt by the adapter that knows it; any other
is replaced, since nobody can check it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

from pydantic import BaseModel

from sdrag.errors import InputTooLargeError

__all__ = [
    "DROPPED",
    "MOST_DEPTH",
    "MOST_VALUES",
    "Rebuild",
    "Rebuilt",
    "Recurse",
    "Rewrite",
    "TooLarge",
    "Walk",
    "rewrite_value",
    "texts_in",
]

MOST_DEPTH = 32
"""How many mappings and lists may be inside each other."""

MOST_VALUES = 4096
"""How many values, keys and containers are read: an embedding is no larger."""

Change = Callable[[Any], Any]
Unpack = Callable[[Any, Change], Any]


class TooLarge(Exception):  # noqa: N818 -- a signal, and no fault of anybody's
    """A value is deeper or has more parts than is read."""


class Rebuilt(NamedTuple):
    """A value that is copied already."""

    value: Any


class _Dropped(Enum):
    DROPPED = "dropped"


DROPPED: Final = _Dropped.DROPPED
"""In place of a key: its entry is left out."""


def _refuse() -> Any:
    raise TooLarge


class Walk:
    """
    Walk through values that share one bound on their size.

    Args:
        change: Takes each value that is no mapping and no list; returns its copy.
        change_key: The same for the keys of mappings; may return `DROPPED`.
        lists: The types that are walked through as lists.
        unpack: Takes each value before it is looked at, and what copies a part of it.
            Returns a value to walk through instead, or its copy as `Rebuilt`.
        too_deep: Returns what replaces a mapping or list that is too deep; by default
            raises `TooLarge`.
        most: How many values may be read.

    Attributes:
        left: How many values may still be read.
    """

    __slots__ = ("_change", "_change_key", "_lists", "_too_deep", "_unpack", "left")

    def __init__(
        self,
        change: Change,
        change_key: Change,
        lists: tuple[type, ...] = (list, tuple),
        *,
        unpack: Unpack | None = None,
        too_deep: Callable[[], Any] = _refuse,
        most: int = MOST_VALUES,
    ) -> None:
        self._change = change
        self._change_key = change_key
        self._lists = lists
        self._unpack = unpack
        self._too_deep = too_deep
        self.left = most

    def copy(self, value: Any, depth: int = 0) -> Any:
        """
        Return a copy of plain dicts and lists.

        Args:
            value: Any value; it is not changed.
            depth: How many mappings and lists it is inside of.

        Raises:
            TooLarge: It is too deep, or too many values were read.
        """
        self._count()
        if self._unpack is not None:
            value = self._unpack(value, lambda part: self.copy(part, depth + 1))
            if isinstance(value, Rebuilt):
                return value.value
        is_mapping = isinstance(value, Mapping)
        if not is_mapping and not isinstance(value, self._lists):
            return self._change(value)
        if depth >= MOST_DEPTH:
            return self._too_deep()
        if not is_mapping:
            return [self.copy(inner, depth + 1) for inner in value]
        entries = {self._key(key): inner for key, inner in value.items()}
        entries.pop(DROPPED, None)
        return {key: self.copy(inner, depth + 1) for key, inner in entries.items()}

    def _key(self, key: Any) -> Any:
        self._count()
        return self._change_key(key)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLarge


Rewrite = Callable[[str], str | None]
"""Returns what is released of a text, or `None` when it is withheld."""
Recurse = Callable[[Any], Any]
Rebuild = Callable[[Any, Recurse], Any]
"""Rebuilds an object of a framework; returns `NotImplemented` for any other object."""

_MOST_PARTS = 100_000
_FRAMEWORK_KEYS = frozenset(
    """
    action action_name action_request action_requests additionalProperties allOf
    allow_accept allow_edit allow_ignore allow_respond allowed_decisions anyOf args
    arguments config const content context data default delta description enum error
    event format id input items key kwargs label level message messages metadata method
    name oneOf options output page_content payload percent prefix progress prompt
    properties query question required response result review_configs role schema score
    source state status step text title tool tool_call_id tool_calls tool_input
    tool_name tool_output type url value
    """.split()  # noqa: SIM905 -- words are read more easily than a list of them
)
"""Keys that the messages, events and questions of frameworks have, and JSON Schema."""
_LISTS = (list, tuple, set, frozenset)
_SPELT = (date, time, timedelta, Decimal, UUID, PurePath)


def texts_in(value: Any, rebuild: Rebuild) -> tuple[str, ...]:
    """Return every text in a value, once each and in order."""
    found: dict[str, None] = {}

    def collect(text: str) -> str:
        found[text] = None
        return text

    rewrite_value(value, collect, withheld="", rebuild=rebuild)
    return tuple(text for text in found if text.strip())


def rewrite_value(
    value: Any, rewrite: Rewrite, *, withheld: str, rebuild: Rebuild
) -> Any:
    """
    Return a copy of a value in which every text is rewritten.

    An entry of a mapping is left out when its key is not released unchanged.

    Args:
        value: Any value; it is not changed.
        rewrite: Returns what is released of a text.
        withheld: Stands for a text that is withheld, and for what cannot be checked.
        rebuild: Rebuilds the objects that an adapter knows.

    Raises:
        InputTooLargeError: The value has too many parts, or parts that repeat.
    """

    def change(inner: Any) -> Any:
        return _scalar(inner, rewrite, withheld)

    def change_key(key: Any) -> Any:
        if not isinstance(key, (str, int)):
            return DROPPED
        text = str.__str__(key) if isinstance(key, str) else str(int(key))
        if text in _FRAMEWORK_KEYS or _released(text, rewrite) == text:
            return text
        return DROPPED

    def unpack(inner: Any, recurse: Recurse) -> Any:
        if isinstance(inner, Enum):
            inner = inner.value
        if inner is None or isinstance(inner, (bool, str, int, float)):
            return inner
        rebuilt = rebuild(inner, recurse)
        return _plain(inner) if rebuilt is NotImplemented else Rebuilt(rebuilt)

    walk = Walk(
        change,
        change_key,
        _LISTS,
        unpack=unpack,
        too_deep=lambda: withheld,
        most=_MOST_PARTS,
    )
    try:
        return walk.copy(value)
    except TooLarge:
        fault = InputTooLargeError(
            f"A value that a tool wrote has more than {_MOST_PARTS:,} parts.",
            hint="Write less at once.",
        )
    raise fault


def _scalar(value: Any, rewrite: Rewrite, withheld: str) -> Any:
    """Rewrite a text or a number; nobody can check an object of any other kind."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        released = _released(str.__str__(value), rewrite)
        return withheld if released is None else released
    if isinstance(value, (int, float)):
        return _number(value, rewrite, withheld)
    return withheld


def _released(text: str, rewrite: Rewrite) -> str | None:
    return rewrite(text) if text.strip() else text


def _number(value: float, rewrite: Rewrite, withheld: str) -> Any:
    """Keep a number whose digits are released; a subclass of a number is made plain."""
    bare: float = (
        float.__float__(value) if isinstance(value, float) else int.__int__(value)
    )
    try:
        text = str(bare)
    except ValueError:  # an int of thousands of digits has no spelling
        return withheld
    return bare if rewrite(text) == text else withheld


def _plain(value: Any) -> Any:
    """Return a record as a mapping and a date as a text; anything else unchanged."""
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields} | (
            value.model_extra or {}
        )
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value) if isinstance(value, _SPELT) else value
