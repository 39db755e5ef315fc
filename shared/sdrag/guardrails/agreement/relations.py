"""
Do before and after, from and to, and more than have the same order?

What follows such a word is compared. With the same thing after it, the word must be the
same; with the other side's thing after it, the word must be the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.guardrails.agreement.opposites import are_opposite
from sdrag.guardrails.agreement.tokens import TokenText, same
from sdrag.guardrails.comparable_words import word_set

__all__ = ["relations_differ"]

_SIDES = {
    "before": "before",
    "until": "before",
    "after": "after",
    "following": "after",
    "since": "after",
}
_STOPS = word_set(
    "from to by in on at with of for than before after until since over under during"
    " because when while and but is was were are has have had"
)
_REACH = 5


def relations_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a relation of the claim is turned around in the evidence."""
    return (
        _times_differ(claim, evidence)
        or _ways_differ(claim, evidence)
        or _comparisons_differ(claim, evidence)
    )


def _object(tokens: TokenText, at: int) -> frozenset[str]:
    """Return the words that follow a preposition, to the next one."""
    found = []
    for token in tokens[at + 1 : at + 1 + _REACH]:
        if token.text in _STOPS or token.clause != tokens[at].clause:
            break
        if token.content and token.text != "one":
            found.append(token.base)
    return frozenset(found)


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    return any(same(one, other) for one in left for other in right)


def _found(tokens: TokenText, words: frozenset[str]) -> Iterator[int]:
    return (at for at, token in enumerate(tokens) if token.text in words)


def _times_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Compare what comes before and what after."""
    cues = frozenset(_SIDES)
    for at in _found(claim, cues):
        mine = _object(claim, at)
        for place in _found(evidence, cues):
            theirs = _object(evidence, place)
            others = _rest(evidence, place, theirs)
            equal = _SIDES[claim[at].text] == _SIDES[evidence[place].text]
            if _overlap(mine, theirs):
                if not equal:
                    return True
            elif (
                equal
                and mine
                and _overlap(mine, others)
                and _overlap(_left(claim, at, mine), theirs)
            ):
                return True
    return False


def _left(tokens: TokenText, at: int, without: frozenset[str]) -> frozenset[str]:
    """Return the words before a preposition; those after it where it comes first."""
    before = tuple(token for token in tokens[:at] if token.hard == tokens[at].hard)
    if not any(token.content for token in before):
        return _rest(tokens, at, without)
    return frozenset(token.base for token in before if token.content) - without


def _rest(tokens: TokenText, at: int, without: frozenset[str]) -> frozenset[str]:
    """Return the other words of the same sentence."""
    words = (
        token.base
        for token in tokens
        if token.hard == tokens[at].hard and (token.content or token.text.isdigit())
    )
    return frozenset(words) - without


def _ways_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Compare where something comes from with where it goes to."""
    parts = {
        evidence[at].hard
        for at in _found(evidence, frozenset({"from"}))
        for to in _found(evidence, frozenset({"to"}))
        if evidence[at].hard == evidence[to].hard
    }
    paired = tuple(token for token in evidence if token.hard in parts)
    ends = {
        (text, way): frozenset().union(
            *(_object(tokens, at) for at in _found(tokens, frozenset({way})))
        )
        for text, tokens in (("claim", claim), ("evidence", paired))
        for way in ("from", "to")
    }
    for way, other in (("from", "to"), ("to", "from")):
        mine = ends["claim", way]
        right, wrong = ends["evidence", way], ends["evidence", other]
        if _overlap(mine, wrong - right) and not _overlap(mine, right - wrong):
            return True
    return False


def _comparisons_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Compare what is more with what is less."""
    for at in _found(claim, frozenset({"than"})):
        mine = _object(claim, at)
        for place in _found(evidence, frozenset({"than"})):
            theirs = _object(evidence, place)
            turned = _opposed(claim, at, evidence, place)
            if _overlap(mine, theirs):
                if turned:
                    return True
            elif (
                not turned
                and mine
                and _overlap(mine, _rest(evidence, place, theirs))
                and _overlap(theirs, _rest(claim, at, mine))
            ):
                return True
    return False


def _opposed(claim: TokenText, at: int, evidence: TokenText, place: int) -> bool:
    """Say whether the words before two *than* are opposites."""
    mine, theirs = (
        [_positive(token.text, token.base) for token in tokens[max(0, end - 3) : end]]
        for tokens, end in ((claim, at), (evidence, place))
    )
    return any(are_opposite(one, other) for one in mine for other in theirs)


def _positive(text: str, base: str) -> str:
    """Return *larg* for *larger*, as the base form of *large* is."""
    if text.endswith("er") and text not in {"never", "under", "over"}:
        stem = text[:-2]
        doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
        stem = stem[:-1] if doubled else stem
        return stem[:-1] + "y" if stem.endswith("i") else stem
    return base
