"""
What is known of a word: English words, names of people and places, terms of trades.

A word of a constraint is known if it is in the dictionary, in a table of concepts or
among the lists of names. Any other capitalised word may still be a name, unless it is
one slip away from a word that constraints are made of.
"""

from __future__ import annotations

import gzip
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from functools import lru_cache
from importlib.resources import files
from itertools import product, takewhile
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA

from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    common_words,
    countries,
    first_names,
    kinds,
    listed,
    peoples,
    places,
    surnames,
)
from sdrag.text.folding import fold_text

_TABLES = files(__package__) / "tables"
_DOMAINS = ("legal", "clinical", "personnel", "security", "finance", "privacy")
_LONG_ENOUGH = 5
_ENDINGS = ("s", "ly", "ness")
_BEGINNINGS = ("non", "un", "re", "pre", "post", "co", "sub", "anti", "multi", "cyber")
_PARTS = listed(
    "co ex anti bi de e hr it non sub judice tlp re vis via pre x arent cant couldnt"
    " didnt doesnt dont isnt mustnt neednt shant shouldnt wasnt werent wont wouldnt"
)
"""Parts of hyphened words and of set phrases, and what is shortened with `n't`."""
_SLIP, _TERM = 4, 7
"""Shorter words are no slips of others, and shorter terms have none."""
_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")


@lru_cache(maxsize=4)
def table(name: str) -> dict[str, Any]:
    """Return a file of tables by its name: `words`, `wording` or `types`."""
    return tomllib.loads((_TABLES / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def word_set(name: str) -> frozenset[str]:
    """Return the words of a list of `tables/words.toml`."""
    return frozenset(table("words")[name].split())


@lru_cache(maxsize=1)
def concept_rows() -> tuple[tuple[str, dict[str, tuple[str, ...]]], ...]:
    """Return the sections of the tables of trades; a cell is a list of phrases."""
    rows = []
    for domain in _DOMAINS:
        parser = ConfigParser(
            interpolation=None, delimiters=("=",), comment_prefixes="#"
        )
        parser.read_string((_TABLES / f"{domain}.ini").read_text(encoding="utf-8"))
        for name, section in parser.items():
            cells = {key: _phrases(cell) for key, cell in section.items()}
            if cells.get("asked"):
                rows.append((name, cells))
    return tuple(rows)


def _phrases(cell: str) -> tuple[str, ...]:
    joined = " ".join(cell.split()).replace("| ", "|")
    phrases = (phrase.strip() for phrase in joined.split(";"))
    return tuple(phrase for phrase in phrases if phrase)


@lru_cache(maxsize=1)
def _terms() -> frozenset[str]:
    """Return every whole word of the tables of trades."""
    phrases = (
        phrase.lower().replace("'", "")
        for _, cells in concept_rows()
        for key in ("asked", "found")
        for phrase in cells.get(key, ())
    )
    return frozenset(w for p in phrases for w in re.findall(r"[a-z]+(?![a-z*])", p))


@lru_cache(maxsize=1)
def _trade_words() -> frozenset[str]:
    return frozenset((_TABLES / "trade_words.txt").read_text(encoding="utf-8").split())


@lru_cache(maxsize=1)
def _dictionary() -> frozenset[str]:
    """Return all words, in lower case and without accents."""
    words = gzip.decompress((_TABLES / "words.txt.gz").read_bytes()).decode().split()
    return _trade_words() | common_words().keys() | kinds().keys() | set(words)


@lru_cache(maxsize=1)
def _sort_words() -> list[str]:
    return sorted(_dictionary())


def beginning_with(stem: str) -> Iterator[str]:
    """Yield the words of the dictionary that begin with a stem."""
    words = _sort_words()
    first = bisect_left(words, stem)
    return takewhile(lambda word: word.startswith(stem), words[first:])


def is_word(word: str) -> bool:
    """Say whether a word, or what it is made of, is in the dictionary."""
    lower = fold_text(word).removesuffix("'s").strip("'").replace("'", "")
    if not lower or not lower.isalpha() or len(lower) == 1:
        return lower.isascii()
    return lower in _dictionary() or _is_derived(lower)


def _is_derived(word: str) -> bool:
    """Say whether a word is a known one with a common beginning or ending."""
    bare = {word.removesuffix(e) for e in _ENDINGS if word.endswith(e)}
    bare |= {word.removeprefix(b) for b in _BEGINNINGS if word.startswith(b)}
    return any(len(part) >= _LONG_ENOUGH and part in _dictionary() for part in bare)


def is_foreign(word: str) -> bool:
    """Say whether a word is a noun by which other languages say what policies hide."""
    return fold_text(word).removesuffix("'s") in word_set("foreign")


def reads_as_name(word: str) -> bool:
    """Say whether a word that no list has is more likely somebody's than a noun."""
    lower = fold_text(word).removesuffix("'s")
    noun = lower.endswith(tuple(word_set("noun_endings")))
    near_term = _is_near(lower, (term for term in _terms() if len(term) >= _TERM))
    other = noun or near_term or is_word(word) or is_foreign(word)
    return word[0].isupper() and not other


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
    if not word[0].isupper():
        return len(lower) >= _LONG_ENOUGH and lower in _people()
    forms = {lower, lower.removesuffix("'s"), lower.removesuffix("s")}
    return not (_people().isdisjoint(forms) and _places().isdisjoint(forms))


@lru_cache(maxsize=1)
def _people() -> frozenset[str]:
    return _fold_names((surnames(), first_names(), countries()))


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    return _fold_names((places(), peoples()))


def _fold_names(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return the single words of lists of names, folded."""
    joined = " ".join(name for names in lists for name in names)
    return frozenset(re.findall(r"\w+", fold_text(joined)))


def is_term(name: str) -> bool:
    """Say whether what looks like a name is a word, an abbreviation, or of a trade."""
    words = _WORD.findall(name)
    known = name.islower() and all(is_word(w) and not is_listed_name(w) for w in words)
    return known or all(is_abbreviation(w) or fold_text(w) in _terms() for w in words)


def is_known(word: str) -> bool:
    """Say whether a word is in a dictionary, a table or a list of names."""
    if any(c.isdigit() for c in word) or is_word(word):
        return True
    bare = fold_text(word).replace("'s", "").replace("'", "").replace(".", "")
    known = {bare, bare.removesuffix("s")} & _terms() or bare in _PARTS
    return bool(known) or is_listed_name(word)


@lru_cache(maxsize=1)
def _list_silent_words() -> frozenset[str]:
    """Words of people, orders and documents: a list of them asks for nothing more."""
    lists = map(word_set, ("audience", "people", "orders", "blanket"))
    return FUNCTION_WORDS.union(*lists)


def content_words(text: str) -> Iterator[str]:
    """Yield the words of a constraint that say what it asks for."""
    for word in re.findall(r"[^\W\d_]{3,}", text):
        if word.lower() not in _list_silent_words():
            yield word


def number_words(text: str) -> dict[int, str]:
    """Return the words of a text by their places from 1, without quoted ones."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    return {
        place: match.group()
        for place, match in enumerate(_WORD.finditer(text), start=1)
        if not any(start < match.start() < end for start, end in quoted)
    }


def place_of(word: str, text: str) -> int:
    """Return the place of a word, or of the first one that holds it."""
    words = enumerate(_WORD.findall(text), start=1)
    return next((place for place, other in words if word in other), 1)


def is_misspelt(word: str) -> bool:
    """
    Say whether a word is in no list and can be no name.

    A capitalised word can be one, unless it is a slip of a word that constraints are
    made of.
    """
    return (is_slip(word) or not word[0].isupper()) and not is_known(word)


def is_slip(word: str) -> bool:
    """Say whether a word is near one that constraints are made of: two letters off."""
    return bool(_meant_by(fold_text(word)))


def correct(word: str, *, opens: bool = False) -> str:
    """
    Return the one word that a slip of the pen is nearest to, or else the word.

    It begins and ends as that one, or has its letters in another order. Singular and
    plural are one. A word with a capital is somebody's name, unless it `opens` a
    sentence and is in no list of names.
    """
    lower = word.lower() if opens else word
    if not lower.islower() or is_known(lower) or is_listed_name(word):
        return word
    meant = sorted((w for w in _meant_by(lower) if _may_be_slip(lower, w)), key=len)
    is_one = len({other.startswith(meant[0]) for other in meant}) == 1
    return meant[-1] if is_one else word


def _may_be_slip(word: str, meant: str) -> bool:
    if sorted(word) == sorted(meant):
        return True
    ending = word.startswith(meant) or meant.startswith(word)
    ends = (word[0], word[-1]) == (meant[0], meant[-1])
    return len(word) >= _LONG_ENOUGH and ends and not ending


def _meant_by(word: str) -> list[str]:
    """Return the words that constraints are made of to which a word is nearest."""
    most = min(2, len(word) // _SLIP)
    near = process.extract(
        word,
        word_set("crucial"),
        scorer=OSA.distance,
        score_cutoff=most,
        limit=None,
    )
    least = min((distance for _, distance, _ in near), default=0)
    return [meant for meant, distance, _ in near if 0 < distance == least]


def _is_near(word: str, words: Iterable[str]) -> bool:
    return any(OSA.distance(word, each, score_cutoff=1) <= 1 for each in words)


_RULE = re.compile(r"[()|?\[.]")


@lru_cache(maxsize=4096)
def surface_forms(phrase: str) -> frozenset[str]:
    """Return how a phrase of a table may be in a text; none for a pattern."""
    if _RULE.search(phrase):
        return frozenset()
    ways = [_list_endings(word, last=False) for word in phrase.split()]
    ways[-1] = _list_endings(phrase.rsplit(maxsplit=1)[-1], last=True)
    forms = {" ".join(words) for words in product(*ways)}
    hyphened = {form for form in forms if "-" in form}
    forms |= {form.replace("-", " ") for form in hyphened}
    return frozenset(forms | {form.replace("-", "") for form in hyphened})


def _list_endings(word: str, *, last: bool) -> tuple[str, ...]:
    """Return the forms of a word, every one of them a word."""
    if word.endswith("*"):
        stem = word.removesuffix("*")
        lead, dash, tail = stem.rpartition("-")
        known = [f"{lead}{dash}{form}" for form in beginning_with(tail)]
        return (stem, *known)
    if not last or not word.isalpha():
        return (word,)
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word, f"{word[:-1]}ies"
    return word, f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
