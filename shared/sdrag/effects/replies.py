"""
JSON in the words of a model: strict, else JSON5, else unreadable.

A model may put its JSON into talk or a code fence, quote with single marks, leave out
the quotes of a key or leave a comma behind. JSON5 reads that and raises where a value
breaks off. No library mends the reply: a mended list that was cut off is a shorter one.
A reply is read as a whole or not at all, so no text within a broken string is taken for
a value of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import json5

from sdrag.errors import ModelReplyError

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")
MAX_REPLY = 200_000
"""Characters; a longer reply is not read."""
_MAX_JSON5 = 20_000
"""Characters; the parser is written in Python."""

_OPENING = re.compile(r"[{\[]")


def read_reply(reply: str, shape: type[M]) -> M:
    """
    Read the first JSON object of a reply, in a list or by itself.

    Raises:
        ModelReplyError: There is none of that shape; the error quotes nothing.
    """
    values = read_json(reply) if len(reply) <= MAX_REPLY else []
    items = (item for v in values for item in (v if isinstance(v, list) else [v]))
    value = next((item for item in items if isinstance(item, dict)), None)
    try:
        return shape.model_validate(value)
    except ValueError:
        message = f"A reply of {len(reply)} characters is no {shape.__name__}."
    raise ModelReplyError(message)


def read_json(text: str) -> list[object]:
    """Return the objects and lists in a text, outermost only; none if one is broken."""
    try:
        return _strict_values(text)
    except (ValueError, RecursionError):
        pass
    opening, end = _OPENING.search(text), max(text.rfind("}"), text.rfind("]")) + 1
    body = text[opening.start() : end] if opening else ""
    cut_off = _OPENING.search(text, end) is not None
    # What stands in a comment may be what is missing.
    if cut_off or len(body) > _MAX_JSON5 or "//" in body or "/*" in body:
        return []
    try:
        return [
            json5.loads(
                body, object_pairs_hook=_as_object, parse_constant=_refuse_constant
            )
        ]
    except (ValueError, RecursionError):
        return []


def _strict_values(text: str) -> list[object]:
    values: list[object] = []
    opening = _OPENING.search(text)
    while opening:
        value, end = _STRICT.raw_decode(text, opening.start())
        values.append(value)
        opening = _OPENING.search(text, end)
    return values


def _as_object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Make an object in which no value replaces another."""
    entries: dict[str, object] = {}
    for key, value in pairs:
        if entries.setdefault(key, value) != value:
            raise ValueError("a key has two values")
    return entries


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_as_object, parse_constant=_refuse_constant
)
