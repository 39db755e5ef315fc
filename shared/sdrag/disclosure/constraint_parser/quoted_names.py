"""
Whom or what a constraint names itself: "do not mention Jonathan Meyers or ACME Corp".

A constraint has names where it consists of them, or where it asks for the names of
people and says of whom ("the identity of Jonathan Meyers"). One that has a name among
other words ("how the Whitfield safe was opened") is about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sdrag.detectors.local.lexicon import (
    ORGANISATION_HEADS,
    ORGANISATION_SUFFIXES,
    TITLES,
)
from sdrag.detectors.local.tables import (
    common_words,
    countries,
    first_names,
    peoples,
    places,
    surnames,
)
from sdrag.disclosure.constraint_parser.dictionary import (
    is_foreign,
    is_listed_name,
    is_word,
)

__all__ = ["OwnNames", "is_proven", "own_names", "people_named", "telling_words"]

_MENTIONS = re.compile(
    r"^(?:(?:any|all|every|each) )?(?:mentions?|references?) (?:of|to) ", re.IGNORECASE
)
_EVERYTHING = re.compile(
    r"^(?:(?:any|all|every|each) )?(?:details?|information|facts?|statements?|data"
    r"|anything|everything|whatever)"
    r" (?:of|about|on|concerning|regarding|(?:is|was) said (?:of|about)) ",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"(?<=[\w.)\"']) (?:is|are|was|were|must|may|shall|should|can|wish(?:es)?|wants?"
    r"|asks?|asked|prefers?|has asked|have asked|does not|would)\b[^,;]*?\b(?:named"
    r"|mentioned|identified|identifiable|recogni[sz]able|recogni[sz]ed|referred to"
    r"|revealed|disclosed|anonymous|unnamed|nameless|known|stay out|left out)\b"
    r"(?: (?:by|as|in|to|with|of) [^,;]*| anywhere| at all)?\.?$",
    re.IGNORECASE,
)
"""What must not happen to a name, after it: "Meyers is not to be mentioned"."""
_PLACE = re.compile(
    r" (?:from|in|out of|anywhere in) (?:everything|(?:all|any|every|the|our|this|these"
    r"|it)(?: (?:answers?|documents?|texts?|files?|passages?|reports?|letters?|notes?"
    r"|cases?|records?|papers?|way|form|context))?)$| (?:out|anywhere|everywhere|at all"
    r"|by name|completely|entirely|altogether)$",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:the |a |an |any |our )?(?:(?:(?:sur|first |last |nick|code ?|family |real )?"
    r"name|alias|project|company|firm|person|man|woman|word|term|phrase|brand|client"
    r"|customer|supplier|witness|patient|party)(?: (?:called|named))?|called|named)"
)
_CALLED = re.compile(rf"^{_NOUN} (?=[\"'A-Z])", re.IGNORECASE)
_CALLED_BEFORE = re.compile(rf"\b{_NOUN} [\"']?$", re.IGNORECASE)
_QUOTES = " .\"'\u2018\u2019\u201c\u201d"
_MARKS = frozenset("\"'")
_ACRONYM = re.compile(r"[A-Z]{2,5}")
_JOINED = re.compile(r",? (?:and|or|nor) |, ?| ?[/;&] ?")
_WORD = re.compile(r"\w+")
_LITTLE = frozenset({"da", "de", "del", "der", "di", "of", "the", "van", "von", "y"})
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_MOST = 5
"""So many words a name may have; more are a sentence in capitals."""


class OwnNames(NamedTuple):
    """
    The names that a constraint consists of.

    Args:
        names: As it writes them.
        about: It asks for everything about them.
        surely: They can be nothing else. Words that everybody uses may be a title in
            capitals, and words without an order may be of another language.
    """

    names: tuple[str, ...] = ()
    about: bool = False
    surely: bool = False


def own_names(text: str, subject: str) -> OwnNames:
    """Return the names that a constraint consists of."""
    if text.isupper():
        return OwnNames()
    predicated = _PREDICATE.sub("", text, count=1)
    ordered = predicated != text
    rest = _PLACE.sub("", predicated if ordered else subject)
    bare = _EVERYTHING.sub("", _MENTIONS.sub("", rest)).strip(" .")
    bare = _CALLED.sub("", bare, count=1)
    ordered = ordered or not text.startswith(bare)
    names = tuple(name.strip(_QUOTES) for name in _JOINED.split(bare))
    if not all(_reads_as_name(name, ordered=ordered) for name in names):
        return OwnNames()
    about = _EVERYTHING.match(rest) is not None
    given = ordered and (about or len(subject) < len(text.strip(" .,")))
    surely = given and not about and all(_surely(telling_words(n)) for n in names)
    return OwnNames(names, about, surely)


def is_proven(name: str, text: str) -> bool:
    """
    Say whether something besides a capital tells that it is a name.

    Quotation marks do, a title, the suffix of a company, a word such as "name" before
    it, and the lists of names. A noun of another language has a capital too; what is in
    no list is taken for a name with a warning, unless it reads as a noun.
    """
    at = text.find(name)
    before, after = text[:at], text[at + len(name) :]
    words = telling_words(name)
    return (
        (before[-1:] in _MARKS and after[:1] in _MARKS)
        or _CALLED_BEFORE.search(before) is not None
        or words[0].rstrip(".") in TITLES
        or any(word in ORGANISATION_SUFFIXES | ORGANISATION_HEADS for word in words)
        or _ACRONYM.fullmatch(name) is not None
        or any(is_listed_name(word) and not is_foreign(word) for word in words)
    )


def people_named(text: str) -> tuple[str, ...]:
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
    said = telling_words(text)
    if not said or len(said) > _MOST:
        return False
    if not any(word.lower() in common_words() for word in said):
        return True
    own = ordered or len(said) > 1  # the first word of a sentence has one anyway
    return own and all(word[0].isupper() for word in said)


def _surely(said: Sequence[str]) -> bool:
    """Say whether its words can be nothing else; an unlisted word is no proof."""
    lists = (surnames(), first_names(), places(), countries())
    alone = said[0].isupper() or any(said[0] in names for names in lists)
    own = (_rare(word) or word in ORGANISATION_SUFFIXES for word in said)
    return (
        (len(said) > 1 or alone)
        and all(word[0].isupper() for word in said)
        and all(own)
    )


def _rare(word: str) -> bool:
    return word.lower() not in common_words() or (len(word) > 1 and word.isupper())
