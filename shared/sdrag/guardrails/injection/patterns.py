"""
Phrases that speak to a model, found in linear time.

Trigger words alone prove nothing: "Can I ignore this warning?" is a question. So each
pattern of `patterns.toml` asks for a whole order: what to do *and* to what. Such are an
instruction that is to be disregarded, a role that is to be taken on, and an answer that
is to be changed. Gaps are counted in words.

Most texts have none of the words that a pattern cannot match without. One search for
the words of all patterns says which of them have to be tried.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sdrag.guardrails.injection.languages import rules
from sdrag.text.pattern_index import PatternIndex

__all__ = ["find", "listed_patterns"]


def find(text: str, *, ciphered: bool = False) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    Args:
        text: Folded, as `normalise.views` gives it.
        ciphered: It was written in a code that nobody reads at sight, where any order
            to act is one to a model.
    """
    index, names = _indexed(ciphered=ciphered)
    possible: dict[str, list[re.Pattern[str]]] = {}
    for number in index.possible(text):
        possible.setdefault(names[number], []).append(index.patterns[number])
    for name, patterns in possible.items():
        for match in _first_of(patterns, text):
            yield name, match.start(), match.end()


def _first_of(
    patterns: Sequence[re.Pattern[str]], text: str
) -> Iterator[re.Match[str]]:
    """Yield what `finditer` yields for "first|second|...": matches that are apart."""
    upcoming = [
        (pattern, match) for pattern in patterns if (match := pattern.search(text))
    ]
    while upcoming:
        first = min((match for _, match in upcoming), key=re.Match.start)
        yield first
        again = [
            (pattern, match)
            if match.start() >= first.end()
            else (pattern, pattern.search(text, first.end()))
            for pattern, match in upcoming
        ]
        upcoming = [(pattern, match) for pattern, match in again if match]


def listed_patterns(*, ciphered: bool = False) -> dict[str, list[str]]:
    """
    Return the patterns by the name that a reason has for them.

    Args:
        ciphered: With those for what was written in a code.
    """
    table: dict[str, Any] = tomllib.loads(
        files("sdrag.guardrails.injection").joinpath("patterns.toml").read_text("utf-8")
    )
    listed = rules(table["patterns"]) | (table["ciphered"] if ciphered else {})
    parts: dict[str, str] = table["parts"]
    return {
        name: [
            re.sub(r"@(\w+)@", lambda match: parts[match[1]], pattern)
            for pattern in patterns
        ]
        for name, patterns in listed.items()
    }


@lru_cache(maxsize=2)
def _indexed(*, ciphered: bool) -> tuple[PatternIndex, Sequence[str]]:
    """Return the patterns with an index of their words, and the name of each."""
    pairs = [
        (name, pattern)
        for name, patterns in listed_patterns(ciphered=ciphered).items()
        for pattern in patterns
    ]
    return PatternIndex([pattern for _, pattern in pairs]), [name for name, _ in pairs]
