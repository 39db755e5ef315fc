"""
Words that say something of a person: trades, kin, faith, illness, peoples, and posts.

Frequent words are listed in `tables/lexicon.toml`, seldom ones in `tables/kinds.txt`. A
trade or an illness takes the words along that qualify it: a primary school teacher.

Posts and teams are meant by what they do, and by no name: `Reviewer: SRE`, `Approved
by: Head of Estates`. A given name or an initial among the words makes it somebody: Anna
Guild, J. Head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

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


_POSTS = word_set("posts")
_HEADS = word_set("heads_of_posts")
_TEAMS = word_set("teams")
_JOINING = frozenset(("of", "and", "for", "the", "&", ",", "on", "in"))
_PART = 3
"""A word that is run together with another has so many letters."""


def is_post(words: Sequence[str]) -> bool:
    """Return True if words name a post or a team, and nobody."""
    bare = [word.rstrip(".") for word in words if word.lower() not in _JOINING]
    if not bare:
        return False
    if all(word in _POSTS for word in bare):
        return not any(_is_listed(word) for word in bare)
    if len(words) == 1 or any(len(w) == 1 or _is_given_name(w) for w in bare):
        return False
    lower = [word.lower() for word in bare]
    named = is_headed(words) or lower[-1] in _HEADS or lower[-1] in _TEAMS
    return named and all(word in _POSTS or _is_plain(word.lower()) for word in bare)


def is_headed(words: Sequence[str]) -> bool:
    """Return True for words that begin as a post does: Head of, Deputy Director for."""
    bare = [word.strip(".,").lower() for word in words]
    heads = len(list(takewhile(_HEADS.__contains__, bare)))
    return 0 < heads < len(bare) and bare[heads] in _JOINING


def _is_plain(word: str) -> bool:
    """Return True for an English word, or two run together: backend."""
    return is_common(word) or any(
        is_common(word[:cut]) and is_common(word[cut:])
        for cut in range(_PART, len(word) - _PART + 1)
    )


def _is_listed(word: str) -> bool:
    return word in tables.surnames() or word in tables.first_names()


def _is_given_name(word: str) -> bool:
    return word.capitalize() in tables.first_names() and word.lower() not in _HEADS
