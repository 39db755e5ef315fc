"""Lists of words and names that come with the package; sources in README.md."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = [
    "common_words",
    "countries",
    "first_names",
    "kinds",
    "peoples",
    "places",
    "surnames",
    "word_set",
    "word_types",
]


@lru_cache(maxsize=1)
def common_words() -> dict[str, int]:
    """Return lower-case English words and their rank, the most frequent first."""
    return {word: rank for rank, word in enumerate(_lines("words"))}


@lru_cache(maxsize=1)
def first_names() -> frozenset[str]:
    """Return given names, capitalised."""
    return frozenset(_lines("first_names"))


@lru_cache(maxsize=1)
def surnames() -> frozenset[str]:
    """Return family names, capitalised."""
    return frozenset(_lines("surnames"))


@lru_cache(maxsize=1)
def places() -> frozenset[str]:
    """Return towns and regions, as they are written."""
    return frozenset(_lines("places")) | frozenset(_lines("geography"))


@lru_cache(maxsize=1)
def countries() -> frozenset[str]:
    """Return countries, as they are written."""
    return frozenset(_lines("countries"))


@lru_cache(maxsize=1)
def peoples() -> frozenset[str]:
    """Return names of peoples and adjectives of places, in the singular."""
    return frozenset(_lines("peoples"))


@lru_cache(maxsize=1)
def kinds() -> dict[str, str]:
    """Return seldom words that say something of a person, each with its type."""
    rows = (line.partition(" ") for line in _lines("kinds"))
    return {word: type_ for word, _, type_ in rows}


def word_set(name: str) -> frozenset[str]:
    """Return a closed class of words of `lexicon.toml`."""
    return frozenset(_lexicon()[name].split())


def word_types(name: str) -> dict[str, str]:
    """Return the words of a section of `lexicon.toml`, each with its type."""
    return {
        word: type_
        for type_, words in _lexicon()[name].items()
        for word in words.split()
    }


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, Any]:
    return tomllib.loads(_text("lexicon.toml"))


def _lines(name: str) -> list[str]:
    return _text(f"{name}.txt").split("\n")[:-1]


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
