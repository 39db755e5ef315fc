"""
Words and names that come with the package; sources in README.md.

A list of names or words only weighs. A closed class of words in `lexicon.toml` holds
cues (a title, a unit, the head of an organisation's name); values are found by form.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from sdrag.text.dates import CARDINALS
from sdrag.text.dates import MONTHS as _MONTHS


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
    """Return a closed class of words of `lexicon.toml`, whatever their types."""
    words = _lexicon()[name]
    return listed(words) if isinstance(words, str) else frozenset(word_types(name))


def word_types(name: str) -> dict[str, str]:
    """Return the words of a section of `lexicon.toml`, each with its type."""
    return {
        word: type_
        for type_, words in _lexicon()[name].items()
        for word in words.split()
    }


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def in_each_case(words: Iterable[str]) -> frozenset[str]:
    """Return the words as they are, with a capital, and in capitals."""
    return frozenset(
        form for word in words for form in (word, word.capitalize(), word.upper())
    )


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, Any]:
    return read_toml("lexicon")


def read_toml(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of this folder."""
    return tomllib.loads(_text(f"{name}.toml"))


def _lines(name: str) -> list[str]:
    return _text(f"{name}.txt").split("\n")[:-1]


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


ACRONYMS = word_set("acronyms")
FUNCTION_WORDS = word_set("function_words")
GENERIC = word_set("generic")
MONTHS = frozenset(map(str.capitalize, _MONTHS))
NUMBER_WORDS = CARDINALS.keys() | word_set("number_words")
OFFICES = word_set("offices")
ORGANISATION_HEADS = word_set("organisation_heads")
ORGANISATION_SUFFIXES = word_set("organisation_suffixes")
PARTICLES = word_set("particles")
PLACE_HEADS = word_set("place_heads")
PLACE_OF = word_set("place_of")
STREET_HEADS = word_set("street_heads")
TITLES = word_set("titles")
UNITS = word_types("units")
WEEKDAYS = word_set("weekdays")

_SINGULAR = peoples() | word_set("underived_nationalities")
NATIONALITIES = _SINGULAR | {f"{name}s" for name in _SINGULAR}

_CAPITALS_ONLY = word_set("scheme_names_in_capitals")
SCHEME_NAMES = in_each_case(word_set("scheme_names") - _CAPITALS_ONLY) | {
    name.upper() for name in _CAPITALS_ONLY
}
"""Names of registers and of their numbers; everyday words among them in capitals."""
_TRADE_WORDS = word_set("trade_words")
_CONTRACTED = frozenset(("m", "ve", "ll", "re", "d", "t", "all", "am"))


def is_common(word: str) -> bool:
    """Return True if English writes the word in lower case."""
    lower = word.lower()
    if lower in common_words() or lower in _TRADE_WORDS:
        return True
    if lower in kinds() or medical_type(lower):
        return True
    stem, mark, rest = lower.partition("'")
    return bool(mark) and rest in _CONTRACTED and stem in common_words()


# Of medicines, stems of international nonproprietary names (WHO).
_ENDS = {
    "CONDITION": "aemia algia carcinoma emia fibrosis itis lymphoma opathy paresis"
    " penia plegia sclerosis stenosis thrombosis trophy uria ythmia",
    "TREATMENT": "asone azepam azolam ciclib cillin codeine codone conazole cycline"
    " dipine dronate ectomy fenacin floxacin formin gabalin gatran gliflozin gliptin"
    " glitazone glutide grelor lanzapine lukast mivir mycin navir olol oscopy ostomy"
    " otomy oxetine parib parin peridone plasty prazole pril profen rizine sartan"
    " semide setron solone statin tadine tegravir thiazide tiapine tinib triptan"
    " triptyline vudine xaban ximab zumab",
}
_WORD_ENDS = {
    type_: tuple(f"{end}{s}" for end in ends.split() for s in ("", "s"))
    for type_, ends in _ENDS.items()
}
_STEM = range(3, 41)
"""How many characters are before an ending."""


def medical_type(word: str) -> str | None:
    """Return what the ending of a word makes it: an illness or what treats one."""
    for type_, ends in _WORD_ENDS.items():
        if word.endswith(ends) and any(
            word.endswith(end) and len(word) - len(end) in _STEM for end in ends
        ):
            name = word.capitalize()
            is_name = name in surnames() or name in first_names()
            return None if is_name else type_
    return None
