"""
Whom or what a constraint names itself: "do not mention Jonathan Meyers or ACME Corp".

A constraint has names where it consists of them, or where it asks for the names of
people and says of whom ("the identity of Jonathan Meyers"). One that has a name among
other words ("how the Whitfield safe was opened") is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdrag.detectors.local.tables import (
    ORGANISATION_HEADS,
    ORGANISATION_SUFFIXES,
    TITLES,
    common_words,
    countries,
    first_names,
    peoples,
    places,
    surnames,
)
from sdrag.disclosure.constraint_parser.parsed_constraint import ParsedConstraint
from sdrag.disclosure.constraint_parser.wording import (
    QUOTED,
    has_order,
    pattern,
    statement_of,
    subject_of,
)
from sdrag.disclosure.constraint_parser.words import (
    is_foreign,
    is_listed_name,
    is_word,
)
from sdrag.vocabulary import Span

_QUOTES = " .\"'\u2018\u2019\u201c\u201d"
_MARKS = frozenset("\"'")
_QUOTED = re.compile(r""" ?(?=\W*\w)(?:"[^"]{2,80}"|'[^']{2,80}')\.? ?""")
_ACRONYM = re.compile(r"[A-Z]{2,5}")
_JOINED = re.compile(r",? (?:and|or|nor) |, ?| ?[/;&] ?")
_WORD = re.compile(r"\w+")
_LITTLE = frozenset({"da", "de", "del", "der", "di", "of", "the", "van", "von", "y"})
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_MOST = 5
"""So many words a name may have; more are a sentence in capitals."""


def read_names(text: str) -> ParsedConstraint | None:
    """Read a constraint that consists of names; `None` of any other."""
    if text.isupper():
        return None
    predicated = pattern("predicate").sub("", text, count=1)
    ordered = predicated != text
    rest = pattern("place").sub("", predicated if ordered else subject_of(text))
    bare = pattern("mention").sub("", rest)
    bare = pattern("everything_about").sub("", bare).strip(" .")
    bare = pattern("called").sub("", bare, count=1)
    ordered = ordered or not text.startswith(bare)
    parts = _parts_of(bare)
    if not all(
        _QUOTED.fullmatch(part) or _reads_as_name(part.strip(_QUOTES), ordered=ordered)
        for part in parts
    ):
        return None
    names = tuple(part.strip(_QUOTES) for part in parts)
    about = pattern("everything_about").match(rest) is not None
    given = ordered and (about or has_order(text))
    return ParsedConstraint(
        kind="named",
        meaning=True,
        subject=subject_of(text),
        names=names,
        about_names=about,
        surely_names=given
        and not about
        and all(_surely(telling_words(name)) for name in names),
        statement=statement_of(text),
    )


def _parts_of(text: str) -> list[str]:
    """Return what a text lists; what is in quotation marks is one part."""
    quoted = [Span(*match.span()) for match in QUOTED.finditer(text)]
    joints = (Span(*match.span()) for match in _JOINED.finditer(text))
    cuts = [each for each in joints if not any(q.overlaps(each) for q in quoted)]
    starts, ends = [0, *(c.end for c in cuts)], [*(c.start for c in cuts), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def is_proven(name: str, text: str) -> bool:
    """
    Say whether something besides a capital tells that it is a name.

    Quotation marks do, a title, the suffix of a company, a word such as "name" before
    it, and the lists of names. A noun of another language has a capital too; what is in
    no list is taken for a name with a warning, unless it reads as a noun.
    """
    at = text.find(name)
    before = text[:at]
    words = telling_words(name)
    return (
        is_quoted(name, text)
        or pattern("called_before").search(before) is not None
        or words[0].rstrip(".") in TITLES
        or any(word in ORGANISATION_SUFFIXES | ORGANISATION_HEADS for word in words)
        or _ACRONYM.fullmatch(name) is not None
        or any(is_listed_name(word) and not is_foreign(word) for word in words)
    )


def is_quoted(name: str, text: str) -> bool:
    """Say whether a name is in quotation marks: whatever its words, they are meant."""
    return any(f"{mark}{name}{mark}" in text for mark in _MARKS)


def find_people(text: str) -> tuple[str, ...]:
    """Return the people whom a constraint on names names itself."""
    runs: list[list[str]] = [[]]
    for word in _NAME_WORD.findall(text):
        bare = word.removesuffix("'s")
        opens = len(runs) == 1 and not runs[0] and bare.lower() in common_words()
        if bare[0].isupper() and not bare.isupper() and not opens:
            runs[-1].append(bare)
        if not runs[-1] or runs[-1][-1] != word:
            runs.append([])
    return tuple(" ".join(run) for run in runs if run and _names_somebody(run))


def _names_somebody(words: Sequence[str]) -> bool:
    """Say whether capitalised words next to each other are somebody's name."""
    listed = [word in surnames() or word in first_names() for word in words]
    everyday = [word.lower() in common_words() for word in words]
    if not any(is_word(word) for word in words):
        return True  # more is hidden, never less
    if len(words) == 1:
        place = any(words[0] in names for names in (places(), countries(), peoples()))
        return listed[0] and not everyday[0] and not place
    return (any(listed) and not everyday[0]) or all(listed)


def telling_words(name: str) -> list[str]:
    """Return the words of a name that mean something in it."""
    return [word for word in _WORD.findall(name) if word.lower() not in _LITTLE]


def _reads_as_name(text: str, *, ordered: bool) -> bool:
    """Say whether no dictionary has its words, or all have a capital of their own."""
    words = telling_words(text)
    if not words or len(words) > _MOST:
        return False
    if not any(word.lower() in common_words() for word in words):
        return True
    # The first word of a sentence has a capital anyway.
    return (ordered or len(words) > 1) and all(word[0].isupper() for word in words)


def _surely(words: Sequence[str]) -> bool:
    """Say whether its words can be nothing else; an unlisted word is no proof."""
    lists = (surnames(), first_names(), places(), countries())
    if not words:
        return False
    listed = words[0].isupper() or any(words[0] in names for names in lists)
    return (len(words) > 1 or listed) and all(
        word[0].isupper()
        and (
            word.lower() not in common_words()
            or (len(word) > 1 and word.isupper())
            or word in ORGANISATION_SUFFIXES
        )
        for word in words
    )
