"""
Reading JSON in the words of a model, and JSON that the model almost got right.

Small models quote with the wrong marks, leave out the quotes of a key, leave a comma
behind, or add a comment. That is read, and no more than that. Where a value breaks off
or makes no sense, everything still open there is marked as unread: a list that was cut
off is never a shorter one, and no value is made up. That is why no library mends the
reply: they close what is open and drop what they cannot place, and so make `[]` of a
list that was cut off, and a yes of `[not "a"]`.

Reading goes on behind what was read, so no text within a string is ever taken for a
value of its own; behind a string that breaks, it goes on in the next line.
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
_LEFT, _RIGHT, _LOW = "\u201c\u201d\u201e"
_LEFT_SINGLE, _RIGHT_SINGLE = "\u2018\u2019"
_CLOSING_QUOTES = {
    '"': '"',
    "'": "'",
    "`": "`",
    _LEFT: f'{_RIGHT}"',
    _RIGHT: f'{_RIGHT}"',
    _LOW: f'{_LEFT}{_RIGHT}"',
    _LEFT_SINGLE: f"{_RIGHT_SINGLE}'",
    _RIGHT_SINGLE: f"{_RIGHT_SINGLE}'",
}
_NEVER_IN_COMMENTS = f'"{_LEFT}{_RIGHT}{_LOW}'
_ENDS = r"\s*+[,:\]}]|\s++(?:#|//|/\*)"
"""What may follow a string; a quote before anything else is no end of one."""
_APOSTROPHE = rf"(?<=\w)['{_RIGHT_SINGLE}](?=\w)"
_STRINGS = {
    opening: re.compile(
        rf"((?:[^\\{opening}{closing}]++|\\.|{_APOSTROPHE})*+)[{closing}](?={_ENDS})",
        re.DOTALL,
    )
    for opening, closing in _CLOSING_QUOTES.items()
}
_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|\\['`]|\\|\"")
_SPACE = re.compile(r"\s*+")
_COMMENT = re.compile(r"(?:#|//)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/")
_KEY = re.compile(r"[\w.-]++(?=\s*+:)")
_NUMBER = re.compile(
    r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,20})?+(?:[eE][+-]?[0-9]{1,3})?+"
)
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
    Yield the JSON objects and lists in a text, outermost only.

    Where an object gives one key two values, `UNREAD` is under it.
    """
    return _values(text, lenient=False)


def lenient_values(text: str) -> Iterator[object]:
    """
    Yield the objects and lists in a text that are JSON, or almost.

    `UNREAD` is last in a list, under a key, or under itself in an object, where
    these were not read to their end; what came before it was. It is the whole
    content of an empty list with a comment in it, too: it may say what is missing.
    """
    return _values(text, lenient=True)


def _values(text: str, *, lenient: bool) -> Iterator[object]:
    position = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        position = opening.start()
        try:
            value, position = _STRICT.raw_decode(text, position)
        except (ValueError, RecursionError):
            if not lenient:
                position += 1
                continue
            reader = _Reader(text, position)
            value, position = reader.value(), reader.position
        yield value


def _as_object(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make an object in which no value replaces another."""
    entries: dict[Any, Any] = {}
    for key, value in pairs:
        entries[key] = value if key not in entries or entries[key] == value else UNREAD
    return entries


_STRICT = json.JSONDecoder(object_pairs_hook=_as_object)


class _Reader:
    """
    Reads one value, and stops where it ends or breaks.

    Args:
        text: In which it is.
        position: Where it begins; afterwards, up to where it was read.
    """

    __slots__ = ("_broken", "_quotes", "_text", "position")

    def __init__(self, text: str, position: int) -> None:
        self.position = position
        self._text = text
        self._broken = False
        self._quotes = _NEVER_IN_COMMENTS

    def value(self, depth: int = 0) -> object:
        """Read what is here."""
        start = self._next()
        if start in {"{", "["} and depth < _DEEPEST:
            self.position += 1
            return self._list(depth) if start == "[" else self._object(depth)
        if start in _STRINGS:
            return self._string(start)
        if number := _NUMBER.match(self._text, self.position):
            self.position = number.end()
            return json.loads(number.group())
        word = _WORD.match(self._text, self.position)
        if word is None or word.group() not in _WORDS:
            return self._break()
        self.position = word.end()
        return _WORDS[word.group()]

    def _list(self, depth: int) -> list[object]:
        items: list[object] = []
        start = self.position
        while not self._takes("]"):
            items.append(self.value(depth + 1))
            if not self._broken and not self._takes(",") and self._next() != "]":
                self._break()
            if self._broken:
                return items if items[-1] is UNREAD else [*items, UNREAD]
        was_empty = not self._text[start : self.position - 1].strip()
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
                return _as_object([*pairs, (UNREAD, UNREAD)])
        return _as_object(pairs)

    def _key(self) -> object:
        start = self._next()
        if start in _STRINGS:
            return self._string(start)
        bare = _KEY.match(self._text, self.position)
        if bare is None:
            return self._break()
        self.position = bare.end()
        return bare.group()

    def _string(self, opening: str) -> object:
        found = _STRINGS[opening].match(self._text, self.position + 1)
        if found is None:
            line = self._text.find("\n", self.position)
            self.position = len(self._text) if line < 0 else line
            return self._break()
        self._quotes = _NEVER_IN_COMMENTS + _CLOSING_QUOTES[opening]
        self.position = found.end()
        return json.loads(f'"{_ESCAPE.sub(_escaped, found[1])}"', strict=False)

    def _break(self) -> Unread:
        self._broken = True
        return UNREAD

    def _takes(self, character: str) -> bool:
        if self._next() != character:
            return False
        self.position += 1
        return True

    def _next(self) -> str:
        """
        Return the next character that is no space and in no comment.

        What holds quotes, as those that have just closed a string, is no comment: it
        may be the rest of that string, or one more.
        """
        while True:
            self.position = _end(_SPACE, self._text, self.position)
            end = _end(_COMMENT, self._text, self.position)
            comment = self._text[self.position : end]
            if not comment or any(quote in comment for quote in self._quotes):
                return self._text[self.position : self.position + 1]
            self.position = end


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where a match that begins at a position ends, or the position itself."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _escaped(found: re.Match[str]) -> str:
    """Write an escape as JSON writes it; a backslash of no escape stays one."""
    said = found.group()
    if said in {"\\", '"'}:
        return f"\\{said}"
    return said[1] if said[1] in "'`" else said
