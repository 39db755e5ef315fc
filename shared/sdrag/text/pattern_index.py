"""
Many patterns over one text: which of them can match at all.

One automaton goes over the text once for the words that the patterns require.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ahocorasick_rs import AhoCorasick, MatchKind

from sdrag.text.required_words import required_words

__all__ = ["PatternIndex"]

_LONE = re.compile("[\ud800-\udfff]")
"""Halves of a character, which JSON may hold and the automaton does not take."""


class PatternIndex:
    """
    Patterns, and the words that their matches require.

    Args:
        patterns: As `re.compile` takes them, without flags; at least one of them
            requires a word.
    """

    __slots__ = ("_automaton", "_needed", "_sets_of", "patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(re.compile(pattern) for pattern in patterns)
        sets_of: dict[str, set[int]] = {}
        number_of: dict[frozenset[str], int] = {}
        needed = []
        for pattern in patterns:
            sets = required_words(pattern)
            needed.append(
                {number_of.setdefault(words, len(number_of)) for words in sets}
            )
        for words, number in number_of.items():
            for word in words:
                sets_of.setdefault(word, set()).add(number)
        self._needed = tuple(map(frozenset, needed))
        self._sets_of = tuple(map(frozenset, sets_of.values()))
        self._automaton = AhoCorasick(list(sets_of), matchkind=MatchKind.Standard)

    def possible(self, text: str) -> Iterator[int]:
        """Yield the number of each pattern that may match; no other does."""
        hits = self._automaton.find_matches_as_indexes(
            _LONE.sub("\ufffd", text), overlapping=True
        )
        words = {word for word, _, _ in hits}
        seen: set[int] = set().union(*(self._sets_of[word] for word in words))
        for number, needed in enumerate(self._needed):
            if needed <= seen:
                yield number
