"""
No regular expression of the package tries every way of parting a text.

    python benchmarks/tools/check_patterns.py

A pattern is ambiguous if an endless repetition may leave a part of what it took to
another one right behind it, or to its own next round. Each that is one is printed, and
ends the program with 1.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import sdrag.detectors
import sdrag.disclosure.local
import sdrag.guardrails
import sdrag.text

PACKAGES = (sdrag.detectors, sdrag.disclosure.local, sdrag.guardrails, sdrag.text)
UNBOUNDED = 64
"""A repetition that may be longer is as good as endless inside another one."""
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
ONE = {codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY}
SAMPLE = "".join(map(chr, range(128))) + "\u00a0\u00e9\u2013\u2019\u2028\u0661\u4e2d"
"""Characters by which classes are compared."""
Characters = frozenset[str]


class AmbiguousError(Exception):
    """A stretch may be parted in several ways."""


AMBIGUOUS = (
    *(r"(a+)+b", r"(?:\w+|\d+)*!", r"(?:a+b?)*c", r"(?:a|.)*!", r"(?:a(b+)+)*+c"),
    *(r"\s*[ \t]*x", r"\s*(?: |x)*y", r"\s*-?\s*x", r"a+(?:b?|c)\w+!", r"\w*?\d+x"),
    *(r"(?:x *| )*y", r"(?: *,? *){0,9}x", r"\s*(?:[ ]+x)*y", r"a*\B(?!c)[ab]*+c"),
    *(r"(?i:a*)A*b", r"\s*(?=x) *y", r"(?=\s* *y)", r"[^b]*.*b", r"\s*[^\S\n]*x"),
)
PLAIN = (
    *(r"\w+(?:-\w+)*", r"(?:a++)+b", r"(?: |x)*y", r"\s*+[ \t]*x", r"(?>a*)a*b"),
    *(r"\s*x\s*y", r"(?:[^\\]|\\.)*!", r"a*[^a]*b", r" *\n *x", r"a*A*b", r"a*b?c*d"),
)


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the patterns that modules of what reads texts hold, and where."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                for item in value.values() if isinstance(value, dict) else [value]:
                    if isinstance(item, re.Pattern) and isinstance(item.pattern, str):
                        yield f"{found.name}.{name} {item.pattern[:20]}", item


class Part(NamedTuple):
    """Of a part of a pattern: the sets of characters of endless loops at its edges."""

    first: Sequence[Characters] = ()
    """Of those that it may begin with."""
    last: Sequence[Characters] = ()
    """Of those that it may end with, and that give back what they took."""
    is_optional: bool = True


def characters(item: Any, flags: int) -> Characters:
    """Return what a part that takes one character takes, of the sample."""
    state = parser.State()
    state.flags, state.str = flags, ""
    one = compiler.compile(parser.SubPattern(state, [item]), flags)
    return frozenset(filter(one.fullmatch, SAMPLE))


def rounds(items: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Yield what one round of a repetition may be made of."""
    listed = list(items)
    code, argument = listed[0] if len(listed) == 1 else (None, None)
    if code == codes.SUBPATTERN:
        yield from rounds(argument[3])
    elif code == codes.BRANCH:
        for branch in argument[1]:
            yield from rounds(branch)
    else:
        yield listed


def overlap(last: Iterable[Characters], first: Collection[Characters]) -> bool:
    """Say whether a loop may leave to another one what it took."""
    return any(left & right for left in last for right in first)


def read(items: Any, flags: int) -> Part:
    """Return what parts in a row are, or raise AmbiguousError."""
    whole = Part()
    for item in items:
        part = read_part(*item, flags)
        if overlap(whole.last, part.first):
            raise AmbiguousError
        whole = Part(
            [*whole.first, *(part.first if whole.is_optional else ())],
            [*part.last, *(whole.last if part.is_optional else ())],
            whole.is_optional and part.is_optional,
        )
    return whole


def read_any(choices: Iterable[Any], flags: int) -> Part:
    """Return what one of several is."""
    parts = [read(each, flags) for each in choices]
    first, last = (list(chain(*sets)) for sets in list(zip(*parts, strict=True))[:2])
    return Part(first, last, any(part.is_optional for part in parts))


def read_part(code: Any, argument: Any, flags: int) -> Part:
    """Return what one part is."""
    if code == codes.SUBPATTERN:
        return read(argument[3], (flags | argument[1]) & ~argument[2])
    if code == codes.BRANCH:
        return read_any(argument[1], flags)
    if code == codes.ATOMIC_GROUP:
        return read(argument, flags)._replace(last=())
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        read(argument[1], flags)
        return Part()
    if code in REPEATS:
        return read_repeat(code, *argument, flags)
    return Part(is_optional=code == codes.AT)


def read_repeat(code: Any, least: int, most: int, body: Any, flags: int) -> Part:
    """Return what a repetition is; what is possessive is never given back."""
    choices = list(rounds(body))
    round_ = read_any(choices, flags)
    ones = [characters(*each, flags) for each in choices if is_one(each)]
    loop = [frozenset().union(*ones)] if ones and most > UNBOUNDED else []
    if code != codes.POSSESSIVE_REPEAT and most > 1:
        again = overlap(round_.last, [*round_.first, *loop])
        if (
            again
            or overlap(loop, round_.first)
            or (loop and sum(map(len, ones)) > len(*loop))
        ):
            raise AmbiguousError
    last = [] if code == codes.POSSESSIVE_REPEAT else [*round_.last, *loop]
    return Part([*round_.first, *loop], last, round_.is_optional or not least)


def is_one(items: list[tuple[Any, Any]]) -> bool:
    """Say whether a round takes one character."""
    return len(items) == 1 and items[0][0] in ONE


def is_ambiguous(pattern: str, flags: int = 0) -> bool:
    """Say whether two endless repetitions may share a stretch in several ways."""
    parsed = parser.parse(pattern, flags)
    try:
        read(parsed, parsed.state.flags & ~re.VERBOSE)
    except AmbiguousError:
        return True
    return False


def main() -> None:
    """Print the patterns that are ambiguous."""
    assert all(map(is_ambiguous, AMBIGUOUS))
    assert not any(map(is_ambiguous, PLAIN))
    found = list(patterns())
    slow = [
        name
        for name, each in found
        if is_ambiguous(each.pattern, each.flags & ~re.UNICODE)
    ]
    print("\n".join(slow) or f"{len(found)} patterns take linear time.")
    raise SystemExit(bool(slow))


if __name__ == "__main__":
    main()
