"""
People who act in an office: the judge, the constable, the doctor in charge.

A title in front of one mention holds for every mention of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdrag.detectors.local.lexicon import listed
from sdrag.vocabulary import Mention, Span

__all__ = ["officials", "speaks_of_officials"]

_OFFICES = listed(
    """
    Judge Justice Magistrate Constable Constables Inspector Superintendent Detective
    Sergeant Commissioner Ambassador Minister President Chancellor Governor Mayor
    """
)
_ANY_OFFICE = re.compile(
    r"\b(?:judge|magistrate|court|police|officer|official|constable|inspector|detective"
    r"|sergeant|minister|ambassador|diplomat|politician|mayor|governor|president|staff"
    r"|employee|member|everybody|everyone|anyone|anybody|people|persons?|individuals?"
    r"|all|any|suspect|source|agent|investigator|author|participant|worker)s?\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_REACH = 4


def officials(text: str, mentions: Sequence[Mention]) -> frozenset[Span]:
    """Return where people are named of whom some mention bears the title of office."""
    ends = {
        mention.span.end: mention.span.of(text)
        for mention in mentions
        if mention.type == "TITLE"
    }
    people = [mention.span for mention in mentions if mention.type == "PERSON"]
    names: set[str] = set()
    private: set[str] = set()
    for span in people:
        titles = {ends.get(span.start - gap) for gap in range(1, _REACH)}
        words = set(_WORD.findall(span.of(text)))
        if titles & _OFFICES:
            names |= words
        elif len(words) > 1:
            private |= words
    # A name shared with somebody without an office is nobody's to spare.
    names -= private
    return frozenset(
        span for span in people if set(_WORD.findall(span.of(text))) <= names
    )


def speaks_of_officials(subject: str) -> bool:
    """Say whether a constraint may be about people in an office."""
    return _ANY_OFFICE.search(subject) is not None
