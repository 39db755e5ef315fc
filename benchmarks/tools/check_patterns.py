"""
No regular expression of the package tries every way of parting a text.

    python benchmarks/tools/check_patterns.py

A pattern is ambiguous if an endless repetition has another one in it and no fence
between. Each that is one is printed, and ends the program with 1.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import sdrag.detectors
import sdrag.disclosure.local
import sdrag.guardrails
import sdrag.text

PACKAGES = (sdrag.detectors, sdrag.disclosure.local, sdrag.guardrails, sdrag.text)
UNBOUNDED = 64
"""A repetition that may be longer is as good as endless inside another one."""
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT}
FENCES = {codes.LITERAL, codes.IN, codes.NOT_LITERAL}


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the patterns that modules of what reads texts hold, and where."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                for item in value.values() if isinstance(value, dict) else [value]:
                    if isinstance(item, re.Pattern) and isinstance(item.pattern, str):
                        yield f"{found.name}.{name} {item.pattern[:20]}", item


def inside(items: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part of a parsed pattern; what is possessive is never given back."""
    for code, argument in items:
        yield code, argument
        if code in REPEATS:
            yield from inside(argument[2])
        elif code == codes.SUBPATTERN:
            yield from inside(argument[3])
        elif code == codes.BRANCH:
            for branch in argument[1]:
                yield from inside(branch)


def rounds(items: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Yield what one round of a repetition may be made of."""
    listed = list(items)
    if len(listed) == 1 and listed[0][0] == codes.SUBPATTERN:
        yield from rounds(listed[0][1][3])
    elif len(listed) == 1 and listed[0][0] == codes.BRANCH:
        for branch in listed[0][1][1]:
            yield from rounds(branch)
    else:
        yield listed


def is_endless(code: Any, argument: Any) -> bool:
    """Say whether a part may repeat as often as it likes."""
    return code in REPEATS and argument[1] > UNBOUNDED


def is_ambiguous(pattern: str, flags: int = 0) -> bool:
    """Say whether a round of an endless repetition can be read in more than one way."""
    return any(
        any(is_endless(*part) for part in inside(items))
        and not any(code in FENCES for code, _ in items)
        for code, argument in inside(parser.parse(pattern, flags))
        if is_endless(code, argument)
        for items in rounds(argument[2])
    )


def main() -> None:
    """Print the patterns that are ambiguous."""
    assert all(map(is_ambiguous, (r"(a+)+b", r"(?:\w+|\d+)*!")))
    assert not any(map(is_ambiguous, (r"\w+(?:-\w+)*", r"(?:a++)+b")))
    found = dict(patterns())
    slow = [
        name
        for name, each in found.items()
        if is_ambiguous(each.pattern, each.flags & ~re.UNICODE)
    ]
    print("\n".join(slow) or f"{len(found)} patterns take linear time.")
    raise SystemExit(bool(slow))


if __name__ == "__main__":
    main()
