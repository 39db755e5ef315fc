"""
Phrases that speak to a model, found in linear time.

Trigger words alone prove nothing: "Can I ignore this warning?" is a question. So each
pattern of `patterns.toml` asks for a whole order: what to do *and* to what. Such are an
instruction that is to be disregarded, a role that is to be taken on, and an answer that
is to be changed. Gaps are counted in words.

Most texts have none of the words that a pattern needs. One search for the words of all
patterns says which of them have to be tried.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from sdrag.guardrails.injection.languages import rules

__all__ = ["Pattern", "find", "find_possible", "listed_patterns"]

_LONE = re.compile("[\ud800-\udfff]")
"""Halves of a character, which JSON may hold and the automaton does not take."""


class Pattern(NamedTuple):
    """
    A pattern of the scan.

    Args:
        match: The regular expression.
        needs: Every match has one of these words in it.
    """

    match: str
    needs: Sequence[str]


def find(text: str, *, ciphered: bool = False) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    Args:
        text: Folded, as `normalise.views` gives it.
        ciphered: It was written in a code that nobody reads at sight, where any order
            to act is one to a model.
    """
    for name, patterns in find_possible(text, ciphered=ciphered).items():
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


def find_possible(text: str, *, ciphered: bool) -> dict[str, list[re.Pattern[str]]]:
    """
    Return the patterns by name of which a text has a word that they need.

    Args:
        text: Folded.
        ciphered: With those for what was written in a code.
    """
    named, numbers_of, automaton = _indexed(ciphered=ciphered)
    hits = automaton.find_matches_as_indexes(
        _LONE.sub("\ufffd", text), overlapping=True
    )
    words = {word for word, _, _ in hits}
    possible: dict[str, list[re.Pattern[str]]] = {}
    for number in sorted(set().union(*(numbers_of[word] for word in words))):
        name, pattern = named[number]
        possible.setdefault(name, []).append(pattern)
    return possible


def listed_patterns(*, ciphered: bool = False) -> dict[str, list[Pattern]]:
    """
    Return the patterns by the name that a reason has for them.

    Args:
        ciphered: With those for what was written in a code.
    """
    table: dict[str, Any] = tomllib.loads(
        files("sdrag.guardrails.injection").joinpath("patterns.toml").read_text("utf-8")
    )
    parts: dict[str, str] = table["parts"]
    read = table["patterns"] | (table["ciphered"] if ciphered else {})
    listed = {
        name: [
            Pattern(
                re.sub(r"@(\w+)@", lambda match: parts[match[1]], entry["match"]),
                entry["needs"],
            )
            for entry in entries
        ]
        for name, entries in read.items()
    }
    for name, match, needs in rules():
        listed.setdefault(name, []).append(Pattern(match, needs))
    return listed


@lru_cache(maxsize=2)
def _indexed(
    *, ciphered: bool
) -> tuple[list[tuple[str, re.Pattern[str]]], list[set[int]], AhoCorasick]:
    """Return the named patterns, which of them need each word, and what finds words."""
    named: list[tuple[str, re.Pattern[str]]] = []
    numbers_of: dict[str, set[int]] = {}
    for name, patterns in listed_patterns(ciphered=ciphered).items():
        for pattern in patterns:
            for word in pattern.needs:
                numbers_of.setdefault(word, set()).add(len(named))
            named.append((name, re.compile(pattern.match)))
    automaton = AhoCorasick(list(numbers_of), matchkind=MatchKind.Standard)
    return named, list(numbers_of.values()), automaton
