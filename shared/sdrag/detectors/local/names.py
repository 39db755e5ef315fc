"""
Names of people, organisations and places, without a list that decides.

A run of capitalised words is a candidate. What it names is read from its own words
(titles, heads and suffixes of organisations, streets, given names) and from the words
around it. A word that English writes in lower case is no name of its own at the start
of a sentence, and within one only beside a word that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local import lexicon, tables
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.nationalities import NATIONALITIES
from sdrag.detectors.local.tokens import Tokens

__all__ = ["names"]

_GAPS = {" ", "-", " - ", ". ", ".", " & ", ", "}
_JOINING = lexicon.PARTICLES | {"of", "and", "the", "for"}
_NOT_NAMES = lexicon.MONTHS | lexicon.WEEKDAYS | NATIONALITIES
_NAME_CUE = re.compile(
    r"(?:\b(?:name is|named|called|I am|I'm|this is|signed|regards|sincerely|dear|hi"
    r"|hello|hey|thanks|by|author|username|user|seller|contact|name|from|cc|to)[:,]?\s+)$",
    re.IGNORECASE,
)


def names(tokens: Tokens) -> Iterator[Found]:
    """Yield names with their type."""
    lowered = {word for word in tokens.words if word[0].islower()}
    index, count = 0, len(tokens.words)
    while index < count:
        if not _capital(tokens, index):
            index += 1
            continue
        end = _run_end(tokens, index)
        yield from _judged(tokens, index, end, lowered)
        index = end


def _capital(tokens: Tokens, index: int) -> bool:
    return tokens.words[index][0].isupper()


def _run_end(tokens: Tokens, start: int) -> int:
    """Return the token after the run of capitalised words that begins at `start`."""
    end = start + 1
    while end < len(tokens.words):
        gap = tokens.gap(end)
        if gap not in _GAPS or gap == ", ":
            break
        if gap == ". " and not _abbreviates(tokens.words[end - 1]):
            break
        if _capital(tokens, end):
            end += 1
            continue
        ahead = _after_particles(tokens, end)
        if ahead is None:
            break
        end = ahead
    return end


def _after_particles(tokens: Tokens, index: int) -> int | None:
    """Return the token after a capitalised one that particles at `index` lead to."""
    for ahead in range(index, min(index + 3, len(tokens.words) - 1)):
        if tokens.words[ahead] not in _JOINING or tokens.gap(ahead + 1) != " ":
            return None
        if _capital(tokens, ahead + 1):
            joining = tokens.words[index]
            if joining in lexicon.PARTICLES or _institutional(tokens.words[index - 1]):
                return ahead + 2
            return None
    return None


def _abbreviates(word: str) -> bool:
    return len(word) == 1 or word in lexicon.TITLES or word in {"St", "Jr", "Sr", "Mt"}


def _institutional(word: str) -> bool:
    return word in lexicon.ORGANISATION_HEADS or word in {
        "House",
        "Republic",
        "Kingdom",
    }


def _judged(tokens: Tokens, start: int, end: int, lowered: set[str]) -> Iterator[Found]:
    while start < end and tokens.words[start] in lexicon.TITLES and end - start > 1:
        yield Found(tokens.starts[start], tokens.ends[start], "TITLE", 0.8, "title")
        start += 1
        titled = True
    else:
        titled = start > 0 and tokens.words[start - 1] in lexicon.TITLES
    start = _skip_openers(tokens, start, end, lowered)
    while end > start and tokens.words[end - 1] in _NOT_NAMES | lexicon.FUNCTION_WORDS:
        end -= 1
    if start >= end:
        return
    type_, confidence = _typed(tokens, start, end, titled, lowered)
    if type_:
        yield Found(
            tokens.starts[start], tokens.ends[end - 1], type_, confidence, "name"
        )


def _skip_openers(tokens: Tokens, start: int, end: int, lowered: set[str]) -> int:
    """Leave out words that are capitalised for standing first."""
    common = tables.common_words()
    while start < end:
        word = tokens.words[start]
        lower = word.lower()
        if lower in lexicon.FUNCTION_WORDS or word in _NOT_NAMES:
            start += 1
        elif tokens.opens_sentence(start) and (
            (lower in common or lower in lowered)
            and word not in tables.first_names()
            and end - start == 1
        ):
            start += 1
        else:
            break
    return start


def _typed(
    tokens: Tokens, start: int, end: int, titled: bool, lowered: set[str]
) -> tuple[str, float]:
    words = tokens.words[start:end]
    common = tables.common_words()
    unusual = [w for w in words if w.lower() not in common and len(w) > 1]
    last = words[-1]
    surface = tokens.text[tokens.starts[start] : tokens.ends[end - 1]]
    if titled:
        return "PERSON", 0.95
    if last in lexicon.ORGANISATION_SUFFIXES and len(words) > 1:
        return "ORGANIZATION", 0.9
    if surface in tables.countries():
        return "LOCATION", 0.7
    if any(word in lexicon.ORGANISATION_HEADS for word in words):
        return "ORGANIZATION", 0.8 if unusual else 0.4
    if last in lexicon.STREET_HEADS and len(words) > 1:
        return "ADDRESS", 0.8
    if words[0] in tables.first_names() and len(words) > 1:
        return "PERSON", 0.9
    if surface in tables.places():
        return "LOCATION", 0.7
    before = tokens.text[max(0, tokens.starts[start] - 20) : tokens.starts[start]]
    if _NAME_CUE.search(before) and (unusual or words[0] in tables.first_names()):
        return "PERSON", 0.7
    if start and tokens.words[start - 1] in lexicon.PLACE_CUES and unusual:
        return "LOCATION", 0.6
    if words[0] in tables.first_names() and not tokens.opens_sentence(start):
        return "PERSON", 0.7
    if unusual:
        if len(words) == 1 and last.isupper():
            return "ORGANIZATION", 0.5
        return "PERSON", 0.6
    if words[0] in tables.first_names():
        return "PERSON", 0.5
    return "TERM", 0.3
