"""
The wordings of types, by the closed tables in `tables/types.toml`.

A row has patterns of words and the types of mentions that they stand for. What names
only types that a detector knows in part must be understood as well.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

from sdrag.vocabulary import Span

__all__ = ["WORDINGS", "Wording", "find_names", "needs_meaning", "types_of"]

_TABLES: dict[str, Any] = tomllib.loads(
    (files("sdrag.disclosure.constraint_parser.tables") / "types.toml").read_text(
        encoding="utf-8"
    )
)


def types_of(names: Iterable[str]) -> frozenset[str]:
    """Return types by their names and the names of their groups."""
    groups = _TABLES["groups"]
    return frozenset(type_ for name in names for type_ in groups.get(name, (name,)))


class Wording(NamedTuple):
    """
    A row of the table.

    Args:
        rule: Any of its wordings, up to the end of a word.
        types: What they stand for; counts everywhere.
        near: What counts near one of `words`, or near a word of the constraint.
        words: Hints, folded.
        known: A detector knows these types whole.
    """

    rule: re.Pattern[str]
    types: frozenset[str]
    near: frozenset[str]
    words: frozenset[str]
    known: bool


WORDINGS = tuple(
    Wording(
        re.compile(rf"\b(?:{'|'.join(row['wordings'])})\w*", re.IGNORECASE),
        types_of(row.get("types", ())),
        types_of(row.get("near", ())),
        frozenset(row.get("words", "").split()),
        table == "known",
    )
    for table in ("known", "in_part")
    for row in _TABLES[table]
)

_NAMES = re.compile(
    r"\bnam(?:e|es|ed|ing|eless)\b|\b(?:sur|first|nick|maiden|user)names?\b|\banonym"
    r"|\bidentit|\bidentif|\bunnamed|\bwho\b|\bwhom\b|\bincognito|\binitials\b"
    r"|\bpseudonym|\balias",
    re.IGNORECASE,
)
_OTHER_NAMES = re.compile(
    r"\b(?:server|host|file|domain|network|street|place|product|brand|drug|system"
    r"|machine|device|database|path|ship|road|project|variable|ward|folder)[ -]?"
    r"names?\b",
    re.IGNORECASE,
)
"""Names that are nobody's."""
_NAMED = r"(?:\bname|\banonym|identi|unnamed|nameless)"
_BODY = (
    r"(?<!from )(?<!from the )(?<!at )(?<!at the )(?<!in )(?<!in the )\b(?:customer"
    r"|client|compan|supplier|firm|organi[sz]ation|business|bank|employer|sponsor"
    r"|partner|vendor|institution|school|hospital|universit|competitor|investor|clinic"
    r"|buyer|bidder|contractor|lender|creditor)"
)
_ORGANISATIONS = re.compile(
    rf"(?:{_NAMED}|\bnaming|\bwho\b)[^,;]*?{_BODY}"
    rf"|{_BODY}(?:(?! and | or )[^,;])*?{_NAMED}",
    re.IGNORECASE,
)
_ALIASES = re.compile(r"\bcover|\bnick|\balias|\bcode ?names?", re.IGNORECASE)
_MEANING = re.compile(
    r"\b(?:how(?! (?:old|much|many|long))|why|reasons?|causes?|motives?|manner|nature"
    r"|circumstances|brought about|background|which|true|method|explanation"
    r"|grounds?|ways?|means|occasions?|what (?:really|actually|exactly|did|do)"
    r"|what was done|(?:by|in|with|through) what|tricks?|what (?:moved|drove|made|led)"
    r"|content of|contents|subject of|outcome|findings?|found (?:out|in)|discovered"
    r"|where|whereabouts|hiding|hidden|passwords?|passphrases?)\b",
    re.IGNORECASE,
)


def find_names(text: str) -> tuple[frozenset[str], list[Span]]:
    """Return the types of the names that a wording asks for, and where it does."""
    text = _OTHER_NAMES.sub(lambda match: " " * len(match.group()), text)
    spans = [Span(*match.span()) for match in _NAMES.finditer(text)]
    if not spans:
        return frozenset(), spans
    types = {"PERSON"}
    if _ORGANISATIONS.search(text):
        types |= {"ORGANIZATION", "LOCATION"}
    if _ALIASES.search(text):
        types.add("TERM")
    return frozenset(types), spans


def needs_meaning(text: str) -> bool:
    """Say whether a wording that names types must be understood as well."""
    return _MEANING.search(text) is not None
