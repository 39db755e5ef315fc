"""
Whom or what a constraint names itself: "do not mention Jonathan Meyers or ACME Corp".

A constraint that consists of names withholds them wherever they stand, and one that
asks for everything about them the sentences in which they do. One that has a name among
other words ("how the Whitfield safe was opened") is about something else, and the name
stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sdrag.detectors.local.lexicon import ORGANISATION_HEADS, ORGANISATION_SUFFIXES
from sdrag.detectors.local.tables import (
    common_words,
    countries,
    first_names,
    places,
    surnames,
)
from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.sentences import sentences
from sdrag.vocabulary import Finding, Mention, Span

__all__ = ["is_name", "named"]

_MENTIONS = re.compile(
    r"^(?:(?:any|all|every|each) )?(?:mentions?|references?) (?:of|to) ", re.IGNORECASE
)
_EVERYTHING = re.compile(
    r"^(?:(?:any|all|every|each) )?(?:details?|information|facts?|statements?|data"
    r"|anything|everything|whatever)"
    r" (?:of|about|on|concerning|regarding|(?:is|was) said (?:of|about)) ",
    re.IGNORECASE,
)
_QUOTES = " .\"'\u2018\u2019\u201c\u201d"
_JOINED = re.compile(r",? (?:and|or|nor) |, ?| ?[/;&] ?")
_WORD = re.compile(r"\w+")
_LITTLE = frozenset({"da", "de", "del", "der", "di", "of", "the", "van", "von", "y"})
_SHORTEST = 3
_MOST = 5
"""So many words a name may have; more are a sentence in capitals."""


def named(
    dossier: Dossier, mentions: Sequence[Mention], readings: Sequence[Reading]
) -> Iterator[Finding]:
    """Yield a finding wherever a name stands that a constraint consists of."""
    whole = sentences(dossier.text)
    starts = [sentence.start for sentence in whole]
    for reading in readings:
        everything = _EVERYTHING.match(reading.subject) is not None
        for name in _names(reading):
            spans = {*_standing(name, dossier.text), *_borne(name, dossier, mentions)}
            if everything:
                spans |= {whole[bisect_right(starts, s.start) - 1] for s in spans}
            for span in sorted(spans):
                yield Finding(span, reading.constraint.id, "named")


def is_name(reading: Reading) -> bool:
    """
    Say whether a constraint is a name and nothing else, so nothing to understand.

    Words that everybody uses may be a title in capitals, and words without an order
    that was read may be of another language: they are understood besides.
    """
    ordered = len(reading.subject) < len(reading.constraint.text.strip(" .,"))
    if not ordered or _EVERYTHING.match(reading.subject):
        return False
    names = [_said(name) for name in _names(reading)]
    return bool(names) and all(map(_surely_name, names))


def _names(reading: Reading) -> list[str]:
    """Return the names that a constraint consists of; none if it says anything else."""
    if reading.types or reading.constraint.text.isupper():
        return []
    subject = _EVERYTHING.sub("", _MENTIONS.sub("", reading.subject)).strip(_QUOTES)
    ordered = not reading.constraint.text.startswith(subject)
    names = _JOINED.split(subject)
    return names if all(_reads_as_name(name, ordered=ordered) for name in names) else []


def _reads_as_name(text: str, *, ordered: bool) -> bool:
    """Say whether no dictionary has its words, or all have a capital of their own."""
    said = _said(text)
    if not said or len(said) > _MOST:
        return False
    if not any(word.lower() in common_words() for word in said):
        return True
    own = ordered or len(said) > 1  # the first word of a sentence has one anyway
    return own and all(word[0].isupper() for word in said)


def _surely_name(said: Sequence[str]) -> bool:
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


def _said(name: str) -> list[str]:
    """Return the words of a name that mean something in it."""
    return [word for word in _WORD.findall(name) if word.lower() not in _LITTLE]


def _telling(name: str) -> frozenset[str]:
    """Return the words, in lower case, by which a name is known without the others."""
    words = (word for word in _said(name) if len(word) >= _SHORTEST)
    kinds = ORGANISATION_SUFFIXES | ORGANISATION_HEADS
    return frozenset(word.lower() for word in words if word not in kinds)


def _standing(name: str, text: str) -> Iterator[Span]:
    """Yield where a name stands whole, and its words that are no others' too."""
    whole = r"\W+".join(map(re.escape, _WORD.findall(name)))
    for match in re.finditer(rf"\b{whole}\b", text, re.IGNORECASE):
        yield Span(*match.span())
    rare = {word for word in _said(name) if _rare(word)}
    alone = {word.lower() for word in rare if word.lower() in _telling(name)}
    for match in _WORD.finditer(text):
        word = match.group()
        if word in rare or (word.lower() in alone and word[0].isupper()):
            yield Span(*match.span())


def _borne(name: str, dossier: Dossier, mentions: Sequence[Mention]) -> Iterator[Span]:
    """Yield the mentions that bear a telling word of a name: a surname, an address."""
    telling = _telling(name)
    for mention in mentions:
        words = _WORD.findall(mention.span.of(dossier.text).lower())
        if not telling.isdisjoint(words):
            yield mention.span
