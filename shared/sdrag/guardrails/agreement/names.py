"""Are the names of a claim in the evidence, where its other words are?"""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.tables import common_words
from sdrag.guardrails.agreement.binding import Item, misplaced
from sdrag.guardrails.agreement.tokens import TokenText
from sdrag.guardrails.comparable_words import is_function_word, word_set

__all__ = ["missing_names", "names_differ", "names_in"]

_TITLES = word_set(
    "mr mrs ms miss dr doctor prof professor sir lord lady captain capt major colonel"
    " general sergeant judge justice prosecutor president minister chancellor king"
    " queen prince princess saint st the i"
)
_CALENDAR = word_set(
    "january february march april may june july august september october november"
    " december monday tuesday wednesday thursday friday saturday sunday"
)
_UNITS = word_set("c f celsius fahrenheit eur usd gbp chf")
_OF_PLACES = ("ians", "ian", "ans", "an", "ish", "ese", "ain", "ia", "i", "a", "y")
_STEM = 4
_FREQUENT = 30_000
_SHARE = 0.34
"""As in `figures`; a text has more names than figures, so more is asked."""


def names_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a name of the claim belongs to something else."""
    names = list(names_in(claim))
    spoken = [_key(claim, *place) for place in names]
    items = [
        Item(
            first,
            to,
            wanted=any(_matches(_key(evidence, first, to), key) for key in spoken),
            leads=True,
        )
        for first, to in names_in(evidence)
    ]
    inside = {at for first, to in names for at in range(first, to)}
    words = [
        token.base
        for at, token in enumerate(claim)
        if token.content and at not in inside
    ]
    return misplaced(words, evidence, items, _SHARE)


def missing_names(claim: TokenText, evidence: TokenText) -> frozenset[int]:
    """Return where in the claim words of names stand that the evidence lacks."""
    return frozenset(
        at
        for first, to in names_in(claim)
        for at in range(first, to)
        if claim[at].text not in _TITLES and not _stands(claim[at].base, evidence)
    )


def names_in(tokens: TokenText) -> Iterator[tuple[int, int]]:
    """Yield where each name begins and ends."""
    at = 0
    while at < len(tokens):
        to = at
        while to < len(tokens) and _is_name(tokens, to):
            to += 1
        if to > at and _key(tokens, at, to):
            yield at, to
        at = max(to, at + 1)


def _is_name(tokens: TokenText, at: int) -> bool:
    token = tokens[at]
    if token.text in _CALENDAR or token.text in _UNITS:
        return False
    if token.name:
        return not is_function_word(token.text)
    follows = at + 1 < len(tokens) and tokens[at + 1].name
    if not token.first or not token.content or not token.text.isalpha():
        return False
    rank = common_words().get(token.text)
    return (
        token.text in _TITLES
        or rank is None
        or rank > _FREQUENT
        or (follows and tokens[at + 1].text not in _CALENDAR)
    )


def _key(tokens: TokenText, at: int, to: int) -> frozenset[str]:
    """Return the words of a name, without titles."""
    words = (token for token in tokens[at:to] if token.text not in _TITLES)
    return frozenset(_root(token.base) for token in words)


def _matches(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _stands(word: str, evidence: TokenText) -> bool:
    """Say whether a name's word, a relative of it, or its abbreviation is there."""
    for token in evidence:
        if token.base == word:
            return True
        stem = _root(word)
        if len(stem) >= _STEM and stem == _root(token.base):
            return True
    return len(word) > 1 and word in _initials(evidence)


def _root(word: str) -> str:
    """Return *canad* for *Canadian* and *Canada*."""
    for ending in _OF_PLACES:
        if word.endswith(ending):
            return word.removesuffix(ending)
    return word


def _initials(evidence: TokenText) -> set[str]:
    """Return the first letters of each run of words that are written as names."""
    found = {""}
    run = ""
    for token in evidence:
        run = run + token.text[0] if token.name or token.first else ""
        found |= {run[at:] for at in range(len(run))}
    return found
