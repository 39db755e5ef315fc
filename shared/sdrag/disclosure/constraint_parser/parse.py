"""
From a constraint's words to what they ask for, and to whether that is understood.

A constraint names types ("exact doses of medicine"), people by role ("names of
witnesses"), whatever identifies ("personal data"), somebody by name, terms of a trade
("privileged advice"), or something that needs understanding ("how the safe was
opened"). The words decide, by closed tables. Types that it excepts are left out; any
other exception needs a model.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import lru_cache

from sdrag.disclosure.constraint_parser.asked import (
    NOTHING_ASKED,
    AskedTypes,
    asked_in,
)
from sdrag.disclosure.constraint_parser.parsed import Kind, ParsedConstraint
from sdrag.disclosure.constraint_parser.quoted_names import (
    OwnNames,
    own_names,
    people_named,
)
from sdrag.disclosure.constraint_parser.scope import (
    is_blanket,
    is_permission,
    split_exception,
)
from sdrag.disclosure.constraint_parser.status import EXCEPTS, doubts_about
from sdrag.disclosure.constraint_parser.subject import statement_of, subject_of
from sdrag.disclosure.constraint_parser.unknown import Words, is_term
from sdrag.text.folding import fold
from sdrag.vocabulary import Constraint

__all__ = ["parse", "plain_text"]


def plain_text(text: str) -> str:
    """
    Fold a text and keep its capitals, since they tell names.

    Every hyphen and quotation mark becomes the plain one, and what cannot be seen goes.
    """
    composed = unicodedata.normalize("NFKC", text)
    kept = (c if c.isalnum() else fold(c).text for c in composed)
    return " ".join("".join(kept).split())


_FEW = 3
"""A subject of so many words holds little but the types it names."""

_REMEMBERED = 4096
_UNNAMED = Constraint("-", "-")


def parse(constraint: Constraint) -> ParsedConstraint:
    """Understand a constraint."""
    return replace(_parsed(constraint.text), constraint=constraint)


@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> ParsedConstraint:
    """Understand a text; whose constraint it is makes no difference."""
    plain = plain_text(text)
    if is_permission(plain):
        parsed = _of_kind("only", plain)
    elif is_blanket(plain):
        parsed = _of_kind("everything", plain)
    else:
        kept, excepted = split_exception(plain)
        parsed = _with_content(kept)
        if excepted:
            parsed = _without_types(parsed, excepted)
    words = Words(plain)
    parsed = replace(parsed, unknown_words=words.unknown)
    return doubts_about(parsed, plain, words)


def _without_types(parsed: ParsedConstraint, excepted: str) -> ParsedConstraint:
    """Leave out the types that an exception names; what else it says needs a model."""
    asked = asked_in(excepted)
    types = parsed.types - asked.types
    if not asked.plain or len(excepted.split()) > _FEW or not types:
        return replace(parsed, reason=EXCEPTS)
    return replace(
        parsed,
        types=types,
        everywhere=parsed.everywhere - asked.types - asked.everywhere,
        people=parsed.people and not asked.people,
        topics=tuple(
            replace(topic, types=topic.types - asked.types) for topic in parsed.topics
        ),
    )


def _of_kind(kind: Kind, text: str) -> ParsedConstraint:
    return ParsedConstraint(_UNNAMED, kind, subject=text)


def _with_content(text: str) -> ParsedConstraint:
    """Understand what speaks of something in particular."""
    subject = subject_of(text)
    asked = asked_in(text)
    own = _names(text, subject, asked)
    if own.names:
        asked = NOTHING_ASKED
    statement = statement_of(text)
    return ParsedConstraint(
        _UNNAMED,
        _kind(asked, own, statement),
        types=asked.types,
        everywhere=frozenset() if statement else asked.everywhere,
        people=asked.people,
        meaning=asked.meaning,
        plain=asked.plain and len(subject.split()) <= _FEW,
        subject=subject,
        names=own.names or (people_named(text) if asked.people else ()),
        about_names=own.about,
        surely_names=own.surely,
        statement=statement,
        topics=asked.topics,
    )


def _names(text: str, subject: str, asked: AskedTypes) -> OwnNames:
    """Return the names a constraint consists of, unless it asks for what is known."""
    if asked.by_wording and not asked.people:
        return OwnNames()
    own = own_names(text, subject)
    terms = any(is_term(name) for name in own.names)
    return OwnNames() if terms else own


def _kind(asked: AskedTypes, own: OwnNames, statement: str) -> Kind:
    if own.names:
        return "named"
    if statement:
        return "statement"
    if asked.meaning:
        return "meaning"
    return "people" if asked.people else "types"
