"""
Reading JSON that stands in a model's words, and JSON that the model almost got right.

Small models quote with the wrong marks, leave out the quotes of a key, leave a comma
behind, or add a comment. That is read, and no more than that. Where a value breaks off
or makes no sense, everything still open there is marked as unread: a list that was cut
off is never a shorter one, and nothing that was left out is made up. So no library
mends the reply: those close what is open, and drop what they cannot place.

What was read over is not read again, so that no text within a string is ever taken for
a value of its own, and so that time is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final

__all__ = ["UNREAD", "Unread", "json_values", "lenient_values"]


class Unread(Enum):
    """Stands where something could not be read."""

    UNREAD = "unread"


UNREAD: Final = Unread.UNREAD

_TRIES = 50
_DEEPEST = 20
_OPENING = re.compile(r"[{\[]")
_CLOSING_QUOTES = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\N{LEFT DOUBLE QUOTATION MARK}": "\N{RIGHT DOUBLE QUOTATION MARK}\"",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "\N{RIGHT DOUBLE QUOTATION MARK}\"",
    "\N{DOUBLE LOW-9 QUOTATION MARK}": (
        "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\""
    ),
    "\N{LEFT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}'",
}
# A quote ends a string only where what follows it can follow a string: the one in
# O'Brien does not.
_STRINGS = {
    opening: re.compile(
        rf"(?:[^\\{closing}]|\\.|[{closing}](?!{{ends}}))*+[{closing}]".replace(
            "{ends}", r"\s*+[,:\]}]|\s++(?:#|//|/\*)"
        ),
        re.DOTALL,
    )
    for opening, closing in _CLOSING_QUOTES.items()
}
_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|\\['`]|\\|\"")
_SPACE = re.compile(r"\s*+")
_COMMENT = re.compile(r"(?:#|//)[^\n]*+|/\*.*?\*/", re.DOTALL)
_KEY = re.compile(r"[\w.-]++(?=\s*+:)")
_NUMBER = re.compile(r"-?\d{1,20}+(?:\.\d{1,20}+)?+(?:[eE][+-]?\d{1,3}+)?+")
_WORD = re.compile(r"[A-Za-z]++")
_WORDS = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}


def json_values(text: str) -> Iterator[object]:
    """
    Yield the JSON objects and lists that stand in a text, outermost only.

    Where an object gives one key two values, `UNREAD` stands under it.
    """
    place = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        place = opening.start()
        try:
            value, place = _STRICT.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            yield value


def lenient_values(text: str) -> Iterator[object]:
    """
    Yield the objects and lists that stand in a text as JSON, or almost.

    `UNREAD` stands last in a list, under a key, or under itself in an object, where
    these were not read to their end; what came before it was. It stands as the whole
    content of an empty list with a comment in it, too: it may say what is missing.
    """
    place = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        place = opening.start()
        try:
            value, place = _STRICT.raw_decode(text, place)
        except (ValueError, RecursionError):
            reader = _Reader(text, place)
            value, place = reader.value(), reader.place
        yield value


def _object(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make an object in which no value replaces another."""
    held: dict[Any, Any] = {}
    for key, value in pairs:
        held[key] = value if key not in held or held[key] == value else UNREAD
    return held


_STRICT = json.JSONDecoder(object_pairs_hook=_object)


class _Reader:
    """
    Reads one value, and stops where it ends or breaks.

    Args:
        text: In which it stands.
        place: Where it begins; afterwards, the place up to which was read.
    """

    __slots__ = ("_broken", "_quotes", "_text", "place")

    def __init__(self, text: str, place: int) -> None:
        self.place = place
        self._text = text
        self._broken = False
        self._quotes = '"'

    def value(self, depth: int = 0) -> object:
        """Read what stands here."""
        start = self._next()
        if start in "{[" and start and depth < _DEEPEST:
            self.place += 1
            return self._list(depth) if start == "[" else self._object(depth)
        if start in _STRINGS:
            return self._string(start)
        if number := _NUMBER.match(self._text, self.place):
            self.place = number.end()
            return json.loads(number.group())
        word = _WORD.match(self._text, self.place)
        if word is None or word.group() not in _WORDS:
            return self._break()
        self.place = word.end()
        return _WORDS[word.group()]

    def _list(self, depth: int) -> list[object]:
        items: list[object] = []
        start = self.place
        while not self._takes("]"):
            items.append(self.value(depth + 1))
            if not self._broken and not self._takes(",") and self._next() != "]":
                items.append(self._break())
            if self._broken:
                return items
        was_empty = not self._text[start : self.place - 1].strip()
        return items if items or was_empty else [UNREAD]

    def _object(self, depth: int) -> dict[Any, Any]:
        pairs: list[tuple[object, object]] = []
        while not self._takes("}"):
            key = self._key()
            if not self._broken and not self._takes(":"):
                self._break()
            if not self._broken:
                pairs.append((key, self.value(depth + 1)))
            if not self._broken and not self._takes(",") and self._next() != "}":
                self._break()
            if self._broken:
                return _object([*pairs, (UNREAD, UNREAD)])
        return _object(pairs)

    def _key(self) -> object:
        start = self._next()
        if start in _STRINGS:
            return self._string(start)
        bare = _KEY.match(self._text, self.place)
        if bare is None:
            return self._break()
        self.place = bare.end()
        return bare.group()

    def _string(self, opening: str) -> object:
        found = _STRINGS[opening].match(self._text, self.place + 1)
        if found is None:
            self.place = len(self._text)
            return self._break()
        self._quotes = _CLOSING_QUOTES[opening]
        self.place = found.end()
        return json.loads(f'"{_ESCAPE.sub(_escaped, found.group()[:-1])}"', strict=False)

    def _break(self) -> Unread:
        self._broken = True
        return UNREAD

    def _takes(self, character: str) -> bool:
        if self._next() != character:
            return False
        self.place += 1
        return True

    def _next(self) -> str:
        """
        Return the next character that is no space and in no comment.

        What holds quotes of the kind that has just closed a string is no comment but
        may be the rest of that string.
        """
        while True:
            space = _SPACE.match(self._text, self.place)
            self.place = space.end() if space else self.place
            comment = _COMMENT.match(self._text, self.place)
            if comment is None or any(q in comment.group() for q in self._quotes):
                return self._text[self.place : self.place + 1]
            self.place = comment.end()


def _escaped(found: re.Match[str]) -> str:
    """Write an escape as JSON writes it; a backslash of no escape stays one."""
    said = found.group()
    if said in {"\\", '"'}:
        return f"\\{said}"
    return said[1] if said[1] in "'`" else said
