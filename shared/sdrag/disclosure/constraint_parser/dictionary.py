"""English words, and names of people and places: what can be looked up about a word."""

from __future__ import annotations

import gzip
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from typing import Any

from sdrag.detectors.local.tables import (
    common_words,
    countries,
    first_names,
    kinds,
    peoples,
    places,
    surnames,
)
from sdrag.text.folding import fold_text

__all__ = [
    "beginning_with",
    "is_abbreviation",
    "is_foreign",
    "is_listed_name",
    "is_word",
    "little_words",
    "reads_as_name",
    "word_rows",
    "word_set",
]

_LONG_ENOUGH = 5
_ENDINGS = ("s", "ly", "ness")
_BEGINNINGS = ("non", "un", "re", "pre", "post", "co", "sub", "anti", "multi", "cyber")


@lru_cache(maxsize=1)
def _dictionary() -> frozenset[str]:
    """Return all words, in lower case and without accents."""
    words = gzip.decompress((_tables() / "words.txt.gz").read_bytes()).decode().split()
    return _trade_words() | common_words().keys() | kinds().keys() | set(words)


@lru_cache(maxsize=1)
def _trade_words() -> frozenset[str]:
    return frozenset(
        (_tables() / "trade_words.txt").read_text(encoding="utf-8").split()
    )


def _tables() -> Traversable:
    return files("sdrag.disclosure.constraint_parser.tables")


@lru_cache(maxsize=16)
def word_set(name: str) -> frozenset[str]:
    """Return the words of a list of `tables/words.toml`."""
    return frozenset(_word_lists()[name].split())


def word_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of `tables/words.toml`."""
    return list(_word_lists()[name])


def little_words() -> dict[str, frozenset[str]]:
    """Return the little words of each language that is not English, by its code."""
    by_code = _word_lists()["languages"]
    return {code: frozenset(words.split()) for code, words in by_code.items()}


@lru_cache(maxsize=1)
def _word_lists() -> dict[str, Any]:
    return tomllib.loads((_tables() / "words.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _ordered() -> list[str]:
    return sorted(_dictionary())


def beginning_with(stem: str) -> Iterator[str]:
    """Yield the words of the dictionary that begin with a stem."""
    words = _ordered()
    first = bisect_left(words, stem)
    return takewhile(lambda word: word.startswith(stem), words[first:])


def is_word(word: str) -> bool:
    """Say whether a word, or what it is made of, is in the dictionary."""
    lower = fold_text(word).removesuffix("'s").strip("'").replace("'", "")
    if not lower or not lower.isalpha() or len(lower) == 1:
        return all(c.isascii() for c in lower)
    return lower in _dictionary() or _is_derived(lower)


def is_foreign(word: str) -> bool:
    """Say whether a word is a noun by which other languages say what policies hide."""
    return fold_text(word).removesuffix("'s") in word_set("foreign")


def reads_as_name(word: str) -> bool:
    """Say whether a word that no list has is more likely somebody's than a noun."""
    lower = fold_text(word).removesuffix("'s")
    noun = lower.endswith(tuple(word_set("noun_endings")))
    return word[0].isupper() and not (noun or is_word(word) or is_foreign(word))


def is_abbreviation(word: str) -> bool:
    """Say whether a word in capitals is an abbreviation that offices use."""
    return word.isupper() and word.lower() in _trade_words()


def is_listed_name(word: str) -> bool:
    """
    Say whether a word is in the lists of people's and places' names.

    One without a capital has to be a longer name of a person or a country: in small
    letters almost any slip of the pen is the name of some place.
    """
    lower = fold_text(word)
    forms = (lower, lower.removesuffix("'s"), lower.removesuffix("s"))
    if word[0].isupper():
        lists = (_people(), _places_and_peoples())
        return any(form in names for form in forms for names in lists)
    return len(lower) >= _LONG_ENOUGH and lower in _people()


@lru_cache(maxsize=1)
def _people() -> frozenset[str]:
    return _folded((surnames(), first_names(), countries()))


@lru_cache(maxsize=1)
def _places_and_peoples() -> frozenset[str]:
    return _folded((places(), peoples()))


def _folded(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the single words of lists of names, folded."""
    joined = " ".join(name for names in lists for name in names)
    return frozenset(re.findall(r"\w+", fold_text(joined)))


def _is_derived(word: str) -> bool:
    """Say whether a word is a known one with a common beginning or ending."""
    bare = {word.removesuffix(e) for e in _ENDINGS if word.endswith(e)}
    bare |= {word.removeprefix(b) for b in _BEGINNINGS if word.startswith(b)}
    return any(len(part) >= _LONG_ENOUGH and part in _dictionary() for part in bare)
