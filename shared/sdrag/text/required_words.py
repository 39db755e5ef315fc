"""
What every match of a regular expression contains, read from its parse.

A pattern can only match where the words are that it asks for. So one search for the
words of many patterns says which of them need not be tried. What is not understood here
requires nothing.

The idea is that of Russ Cox, "Regular Expression Matching with a Trigram Index" (2012).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["Words", "required_words"]

Words = frozenset[str]
_MOST = 64
"""The most spellings of a part that are kept as whole words."""
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_NOTHING: Words = frozenset({""})


def required_words(pattern: str) -> tuple[Words, ...]:
    """
    Return sets of words: every match has, of each set, at least one word in it.

    Args:
        pattern: As `re.compile` takes it; one with flags requires nothing.

    Returns:
        The sets, without the empty word.
    """
    parsed = _parser.parse(pattern)
    if parsed.state.flags != re.UNICODE:
        return ()
    return tuple(_of_sequence(parsed))


def _of_sequence(items: Iterable[Any]) -> list[Words]:
    """Join parts while all their spellings are few, and start anew where not."""
    found: list[Words] = []
    current = _NOTHING
    for item in items:
        spellings = _spellings(item)
        joined = _joined(current, spellings)
        if joined is None:
            found += [current, *([] if spellings else _of_item(item))]
            current = _ends(spellings or _NOTHING)
        else:
            current = _ends(joined)
    return [words for words in (*found, current) if "" not in words]


def _of_item(item: Any) -> list[Words]:
    """Return what a part requires that has too many spellings."""
    name, value = item
    inside = _grouped(item)
    if name in _REPEATS and value[0]:
        inside = value[2]
    if name is op.BRANCH:
        branches = [_of_sequence(branch) for branch in value[1]]
        if all(branches):
            rarest = (max(branch, key=_rarity) for branch in branches)
            return [frozenset[str]().union(*rarest)]
    return _of_sequence(inside or ())


def _rarity(words: Words) -> tuple[int, int]:
    """Order sets by how seldom a text has one of their words: long ones, and few."""
    return min(map(len, words)), -len(words)


def _spellings(item: Any) -> Words | None:
    """Return everything that a part can match; None for too much."""
    name, value = item
    if name is op.LITERAL:
        return frozenset({chr(value)})
    if name in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return _NOTHING
    if name is op.IN and all(kind is op.LITERAL for kind, _ in value):
        return frozenset(chr(code) for _, code in value)
    if name is op.BRANCH:
        return _either([_of_all(branch) for branch in value[1]])
    if name in _REPEATS and value[1] <= _MOST:
        return _repeated(_of_all(value[2]), value[0], value[1])
    inside = _grouped(item)
    return None if inside is None else _of_all(inside)


def _grouped(item: Any) -> Sequence[Any] | None:
    """Return what is in a group; None for no group, and one with flags."""
    name, value = item
    if name is op.SUBPATTERN:
        _, added, removed, inside = value
        return None if added or removed else inside
    return value if name is op.ATOMIC_GROUP else None


def _of_all(items: Sequence[Any]) -> Words | None:
    """Return everything that parts can match, one after the other."""
    current: Words | None = _NOTHING
    for item in items:
        current = _joined(current, _spellings(item))
        if current is None:
            return None
    return current


def _repeated(words: Words | None, least: int, most: int) -> Words | None:
    """Return everything that so many repetitions can match."""
    times: list[Words | None] = [_NOTHING]
    while words is not None and times[-1] is not None and len(times) <= most:
        times.append(_joined(times[-1], words))
    return _either(times[least:]) if len(times) > most else None


def _either(choices: Sequence[Words | None]) -> Words | None:
    known = [words for words in choices if words is not None]
    words = frozenset[str]().union(*known)
    return words if len(known) == len(choices) and len(words) <= _MOST else None


def _joined(left: Words | None, right: Words | None) -> Words | None:
    """Return every word of the left before every word of the right."""
    if left is None or right is None or len(left) * len(right) > _MOST:
        return None
    return frozenset(one + other for one in left for other in right)


def _ends(words: Words) -> Words:
    """Leave out what ends with another word: a text with it has the other there."""
    return frozenset(
        word
        for word in words
        if not any(word[start:] in words for start in range(1, len(word) + 1))
    )
