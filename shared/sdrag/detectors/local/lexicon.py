"""
The closed classes of words that several rules look for.

A word belongs here when it is a cue (a title, a unit, the head of an organisation's
name), not when it is a value: values are found by form. The words are in
`tables/lexicon.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sdrag.detectors.local.tables import peoples, word_set, word_types

__all__ = [
    "ACRONYMS",
    "CURRENCIES",
    "FORMS_OF_ADDRESS",
    "FUNCTION_WORDS",
    "GENERIC",
    "MONTHS",
    "NATIONALITIES",
    "NUMBER_WORDS",
    "ORGANISATION_HEADS",
    "ORGANISATION_SUFFIXES",
    "PARTICLES",
    "PLACE_HEADS",
    "PLACE_OF",
    "SCHEME_NAMES",
    "SHORTENED",
    "STREET_HEADS",
    "TITLES",
    "TRADE_WORDS",
    "UNITS",
    "WEEKDAYS",
    "cased",
    "listed",
]


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def cased(words: Iterable[str]) -> frozenset[str]:
    """Return the words as they are, with a capital, and in capitals."""
    return frozenset(
        form for word in words for form in (word, word.capitalize(), word.upper())
    )


ACRONYMS = word_set("acronyms")
CURRENCIES = word_set("currencies")
FORMS_OF_ADDRESS = word_set("forms_of_address")
FUNCTION_WORDS = word_set("function_words")
GENERIC = word_set("generic")
MONTHS = word_set("months")
NUMBER_WORDS = word_set("number_words")
ORGANISATION_HEADS = word_set("organisation_heads")
ORGANISATION_SUFFIXES = word_set("organisation_suffixes")
PARTICLES = word_set("particles")
PLACE_HEADS = word_set("place_heads")
PLACE_OF = word_set("place_of")
SHORTENED = word_set("shortened")
STREET_HEADS = word_set("street_heads")
TITLES = word_set("titles")
UNITS = word_types("units")
TRADE_WORDS = word_set("trade_words")
WEEKDAYS = word_set("weekdays")

_SINGULAR = peoples() | word_set("underived_nationalities")
NATIONALITIES = _SINGULAR | {f"{name}s" for name in _SINGULAR}

_CAPITALS_ONLY = word_set("scheme_names_in_capitals")
SCHEME_NAMES = cased(word_set("scheme_names") - _CAPITALS_ONLY) | {
    name.upper() for name in _CAPITALS_ONLY
}
"""Names of registers and of their numbers; everyday words among them in capitals."""
