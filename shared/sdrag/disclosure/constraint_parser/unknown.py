"""
Which words of a constraint nobody knows.

A word is known if it is in the dictionary, in a table of concepts or among the
lists of names. Any other capitalised word may still be a name, unless every word of the
constraint has a capital and it is one slip away from a word that constraints are made
of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rapidfuzz.distance import OSA

from sdrag.detectors.local.lexicon import listed
from sdrag.disclosure.constraint_parser.concepts import table_words
from sdrag.disclosure.constraint_parser.dictionary import (
    is_abbreviation,
    is_foreign,
    is_listed_name,
    is_word,
    word_set,
)
from sdrag.text.folding import fold_text

__all__ = ["Words", "is_known", "is_near_term", "is_term"]

_CRUCIAL = word_set("crucial")
_PARTS = listed("co ex anti bi de e hr it non sub judice tlp re vis via pre x")
"""Parts of hyphened words and of set phrases."""
_SHORTEST = 4
_LONG = 7
_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")


class Words:
    """
    The words of a constraint.

    Args:
        text: In plain characters.
    """

    __slots__ = ("_quoted", "listed")

    def __init__(self, text: str) -> None:
        found = list(_WORD.finditer(text))
        quoted = [match.span() for match in _QUOTED.finditer(text)]
        self.listed: tuple[str, ...] = tuple(match.group() for match in found)
        self._quoted = [
            any(start < match.start() < end for start, end in quoted) for match in found
        ]

    @property
    def unknown(self) -> tuple[int, ...]:
        """The places of words in no list, counted from 1, capitals or not."""
        return self._places(lambda word: not is_known(word))

    @property
    def misspelt(self) -> tuple[int, ...]:
        """The places of those that cannot be names."""
        return self._places(lambda word: not (is_known(word) or _may_be_name(word)))

    @property
    def foreign(self) -> tuple[int, ...]:
        """The places of nouns of other languages."""
        return self._places(lambda word: word[0].isupper() and is_foreign(word))

    @property
    def nameless(self) -> tuple[int, ...]:
        """The places of capitalised words that are in no list."""
        return self._places(lambda word: word[0].isupper() and not is_known(word))

    def place_of(self, word: str) -> int:
        """Return the place of a word."""
        return next((i for i, w in enumerate(self.listed, 1) if word in w), 1)

    def _places(self, holds: Callable[[str], bool]) -> tuple[int, ...]:
        return tuple(
            index
            for index, word in enumerate(self.listed, start=1)
            if not self._quoted[index - 1] and holds(word)
        )


def is_term(name: str) -> bool:
    """Say whether what looks like a name is a word, an abbreviation, or of a trade."""
    words = _WORD.findall(name)
    known = name.islower() and all(is_word(w) and not is_listed_name(w) for w in words)
    return known or all(
        is_abbreviation(word) or fold_text(word) in table_words() for word in words
    )


def is_known(word: str) -> bool:
    """Say whether a word is in a dictionary, a table or a list of names."""
    if any(c.isdigit() for c in word) or is_word(word):
        return True
    bare = fold_text(word).replace("'s", "").replace("'", "").replace(".", "")
    if bare in _PARTS:
        return True
    return (
        bare in table_words()
        or bare.removesuffix("s") in table_words()
        or (is_listed_name(word))
    )


def is_near_term(word: str) -> bool:
    """Say whether a word is one slip away from a longer word of a table."""
    terms = (term for term in table_words() if len(term) >= _LONG)
    return _is_near(fold_text(word), terms)


def _may_be_name(word: str) -> bool:
    return word[0].isupper() and not _is_slip(fold_text(word))


def _is_slip(word: str) -> bool:
    """Say whether a word is one slip away from one that constraints are made of."""
    return len(word) >= _SHORTEST and _is_near(word, _CRUCIAL)


def _is_near(word: str, words: Iterable[str]) -> bool:
    return any(OSA.distance(word, other, score_cutoff=1) <= 1 for other in words)
