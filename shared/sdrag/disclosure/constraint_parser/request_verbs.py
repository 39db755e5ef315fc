"""Types and cues that a constraint asks for, by its words and the tables of trades."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sdrag.disclosure.constraint_parser.concepts import (
    Concept,
    concepts_in,
    surface_forms,
)
from sdrag.disclosure.constraint_parser.dictionary import is_abbreviation
from sdrag.disclosure.constraint_parser.subject import (
    asks_for_names,
    is_clause,
    is_ordinary,
    topic_of,
)
from sdrag.disclosure.constraint_parser.types import named_types
from sdrag.text.folding import fold_text
from sdrag.text.phrase_matcher import needs_case

__all__ = ["AskedTypes", "asked_in"]

_QUOTED = re.compile(r'"([^"]{2,80})"|(?<!\w)\'([^\']{2,80})\'(?!\w)')
_CAPITALS = re.compile(r"\b[A-Z]{2,6}\b")
_CODE = re.compile(r"(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]{4,}")


class AskedTypes(NamedTuple):
    """
    What a constraint asks for.

    Args:
        types: Types of mentions.
        cues: Words and phrases, folded, whose sentences tell it.
        people: It asks for names.
        meaning: It must also be understood.
        plain: It names types that a detector knows whole, and nothing else.
        by_wording: Its plain words name types.
    """

    types: frozenset[str]
    cues: frozenset[str]
    people: bool
    meaning: bool
    plain: bool
    by_wording: bool


NOTHING_ASKED = AskedTypes(
    frozenset(),
    frozenset(),
    people=False,
    meaning=True,
    plain=False,
    by_wording=False,
)
"""What a constraint asks for that is about a name alone."""


def asked_in(text: str) -> AskedTypes:
    """Return what a constraint in plain characters asks for."""
    named = named_types(text)
    spoken = tuple(_spoken_of(text))
    told = tuple(concept for concept in spoken if concept.found)
    cues = frozenset(form for concept in told for form in _forms(concept))
    by_types = any(not concept.found and concept.types for concept in spoken)
    known = named.known or by_types
    meaning = bool(told) or (named.meaning and (named.known or not by_types))
    types = named.types.union(*(concept.types for concept in spoken))
    return AskedTypes(
        types,
        cues | _literal(text, abbreviations=not types and not cues),
        people=named.people or "PERSON" in types,
        meaning=meaning,
        plain=known and not meaning,
        by_wording=bool(named.types),
    )


def _spoken_of(text: str) -> Iterator[Concept]:
    """Yield the concepts that are a constraint's topic."""
    topic = topic_of(text)
    exact = is_clause(topic) or asks_for_names(text)
    for concept, phrase in concepts_in(topic):
        if not (exact and is_ordinary(phrase)):
            yield concept


@lru_cache(maxsize=1024)
def _forms(concept: Concept) -> frozenset[str]:
    phrases = (*concept.asked, *concept.found)
    return frozenset(form for phrase in phrases for form in surface_forms(phrase))


def _literal(text: str, *, abbreviations: bool) -> frozenset[str]:
    """Return what a constraint quotes or writes as a code, to be found as it is."""
    quoted = [one or other for one, other in _QUOTED.findall(text)]
    said = [*quoted, *_CODE.findall(text)]
    if abbreviations:
        said += (word for word in _CAPITALS.findall(text) if is_abbreviation(word))
    return frozenset(word if needs_case(word) else fold_text(word) for word in said)
