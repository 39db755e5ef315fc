"""
The types that a constraint's words name, by the closed tables in `tables/types.toml`.

A row has patterns of words and the types of mentions that they stand for. What names
only types that a detector knows in part must be understood as well.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = ["NamedTypes", "named_types", "types_of"]

_TABLES: dict[str, Any] = tomllib.loads(
    (files("sdrag.disclosure.constraint_parser.tables") / "types.toml").read_text(
        encoding="utf-8"
    )
)


def types_of(names: Iterable[str]) -> frozenset[str]:
    """Return types by their names and the names of their groups."""
    groups = _TABLES["groups"]
    return frozenset(type_ for name in names for type_ in groups.get(name, (name,)))


_RULES, _PARTIAL_RULES = (
    tuple(
        (
            re.compile(rf"\b(?:{'|'.join(row['wordings'])})", re.IGNORECASE),
            types_of(row["types"]),
        )
        for row in _TABLES[table]
    )
    for table in ("known", "in_part")
)

_NAMES = re.compile(
    r"\bnam(?:e|es|ed|ing|eless)\b|\b(?:sur|first|nick|maiden|user)names?\b|\banonym"
    r"|\bidentit|\bidentif|\bunnamed|\bwho\b|\bwhom\b|\bincognito|\binitials\b"
    r"|\bpseudonym",
    re.IGNORECASE,
)
_ORGANISATIONS = re.compile(
    r"\b(?:customer|client|compan|supplier|firm|organi[sz]ation|business|bank|employer"
    r"|sponsor|partner|vendor|institution|school|hospital|university|competitor|investor)",
    re.IGNORECASE,
)
_ALIASES = re.compile(r"\bcover|\bnick|\balias|\bcode ?names?", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:what|that|whether)\b", re.IGNORECASE)
_MEANING = re.compile(
    r"\b(?:how(?! (?:old|much|many|long))|why|reasons?|causes?|motives?|manner|nature"
    r"|circumstances|brought about|background|which|true|method|explanation"
    r"|grounds?|ways?|means|occasions?|what (?:really|actually|exactly|did|do)"
    r"|what was done|(?:by|in|with|through) what|tricks?|what (?:moved|drove|made|led)"
    r"|content of|contents|subject of|outcome|findings?|found (?:out|in)|discovered"
    r"|where|whereabouts|hiding|hidden|passwords?|passphrases?)\b",
    re.IGNORECASE,
)


class NamedTypes(NamedTuple):
    """
    What a wording names.

    Args:
        types: Types of mentions.
        people: It asks for names.
        known: A type that a detector knows whole is among them.
        meaning: It must also be understood.
    """

    types: frozenset[str]
    people: bool
    known: bool
    meaning: bool


def named_types(text: str) -> NamedTypes:
    """Return the types that a wording names."""
    types = {type_ for rule, found in _RULES if rule.search(text) for type_ in found}
    people = _NAMES.search(text) is not None
    if people:
        types.add("PERSON")
        if _ORGANISATIONS.search(text):
            types |= {"ORGANIZATION", "LOCATION"}
        if _ALIASES.search(text):
            types.add("TERM")
    known = bool(types)
    types |= {t for rule, found in _PARTIAL_RULES if rule.search(text) for t in found}
    meaning = not known or _MEANING.search(text) is not None
    return NamedTypes(frozenset(types), people, known, meaning)
