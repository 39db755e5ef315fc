"""
Words that say something of a person: trades, kin, faith, illness, peoples.

Frequent words are listed in `tables/lexicon.toml`, seldom ones in `tables/kinds.txt`. A
trade or an illness takes the words along that qualify it: a primary school teacher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import (
    NATIONALITIES,
    is_common,
    listed,
    medical_type,
    word_set,
    word_types,
)
from sdrag.detectors.local.tokens import Candidate, TokenIndex

_TERMS = word_types("terms")


_ARTICLES = frozenset(("a", "an", "as", "former", "retired", "of", "by"))
_SUFFERED = frozenset(("a", "an", "with", "from", "of", "has", "had", "his", "her"))
_BLOCKED = listed("""
        the and or to in on at for from with that who which was were is are had has
        have his her their its this
        """)
_FAMILY = listed("married divorced widowed divorce pregnant disabled")
_OFFICIAL = word_set("officials")
_SURE = listed("CONDITION RELIGION TREATMENT SUBSTANCE WEAPON ORIENTATION APPEARANCE")
_MEDICAL = re.compile(
    r"(?:ic|al|ous|ive|ary|oid|acute|severe|stress|heart|lung|kidney|liver|brain|breast"
    r"|skin|blood|post|mental|learning|eating|bone|spinal)$"
)
"""What a word ends in that qualifies an illness: chronic obstructive disease."""
_REACH = 3
_SHORT = 4


def find_terms(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield the terms; what is common to many people has a low confidence."""
    for word in tokens.where:
        type_ = type_of_word(word)
        if type_ is None:
            continue
        for index in tokens.where[word]:
            yield _term(tokens, index, type_)


def term_types() -> frozenset[str]:
    """Return the types of the terms."""
    return frozenset(("TERM", *_TERMS.values(), *tables.kinds().values()))


def type_of_word(word: str) -> str | None:
    """Return what a word says of a person, if anything: its type."""
    lower = word.lower()
    type_ = _TERMS.get(lower) or tables.kinds().get(word)
    if type_ is None and lower.endswith("s"):
        single = lower[:-3] + "y" if lower.endswith("ies") else lower[:-1]
        type_ = _TERMS.get(single) or tables.kinds().get(single)
    type_ = type_ or medical_type(lower)
    if type_ is None and len(word) > _SHORT and word.islower() and _is_foreign(word):
        return "TERM"
    return type_


def _term(tokens: TokenIndex, index: int, type_: str) -> Candidate:
    lower = tokens.words[index].lower()
    if type_ == "JOB_TITLE":
        return _job(tokens, index)
    confidence = 0.55 if lower in _FAMILY or type_ in _SURE else 0.4
    if type_ == "TERM":
        confidence = 0.5
    first = _first_of_illness(tokens, index) if type_ == "CONDITION" else index
    reason = "unknown" if type_ == "TERM" else "term"
    start = tokens.starts[first]
    return Candidate(start, tokens.ends[index], type_, confidence, reason)


def _first_of_illness(tokens: TokenIndex, index: int) -> int:
    """Return the first of the words that say which illness it is."""
    first = _first_qualifier(tokens, index, _SUFFERED)
    if first is not None:
        return first
    first = index
    while (
        first
        and tokens.gap(first) in (" ", "-")
        and len(tokens.words[first - 1]) >= _SHORT
        and _MEDICAL.search(tokens.words[first - 1])
    ):
        first -= 1
    return first


def _is_foreign(word: str) -> bool:
    """Return True if English has no such word, nor one it is formed from."""
    if is_common(word):
        return False
    common = tables.common_words()
    stems = (word[:-1], word[:-2], word[:-3], word[:-3] + "e", word[:-3] + "y")
    return not any(stem in common for stem in (*stems, word[2:], word[3:]))


def _job(tokens: TokenIndex, index: int) -> Candidate:
    """Take the words along that qualify a trade: a primary school teacher."""
    first = _first_qualifier(tokens, index, _ARTICLES)
    start, end = tokens.starts[index if first is None else first], tokens.ends[index]
    official = tokens.words[index].lower() in _OFFICIAL
    confidence = (0.4 if official else 0.5) + (0.0 if first is None else 0.1)
    return Candidate(start, end, "JOB_TITLE", confidence, "term")


def _first_qualifier(
    tokens: TokenIndex, index: int, openers: frozenset[str]
) -> int | None:
    """Return the first of the words between an opener and the token, if any."""
    words = tokens.words
    first = index
    for position in range(index - 1, max(-1, index - 2 - _REACH), -1):
        if tokens.gap(position + 1) not in (" ", "-"):
            break
        if words[position] in openers:
            return first
        if words[position] in _BLOCKED:
            break
        first = position
    return None


_BELONGS = listed(
    "origin descent extraction ethnicity minority national nationals citizen citizens"
)


def find_peoples(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield words for peoples."""
    words = tokens.words
    for index in tokens.indices(NATIONALITIES):
        after = words[index + 1] if index + 1 < len(words) else ""
        joined = after in _BELONGS and tokens.gap(index + 1) == " "
        start, end = tokens.starts[index], tokens.ends[index + joined]
        yield Candidate(start, end, "NATIONALITY", 0.6, "list")
