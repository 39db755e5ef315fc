"""
Who did it, and to whom?

Where a verb is in both texts, what is before it and after it is compared: in the
active the doer is before, in the passive it follows *by*. Where the verbs differ, two
parties that have changed places are a conflict, unless the verbs are a pair such as
*lend* and *borrow*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.guardrails.agreement.opposites import are_converse
from sdrag.guardrails.agreement.tokens import TokenText, is_irregular, same
from sdrag.guardrails.comparable_words import word_set
from sdrag.vocabulary import Confidential

__all__ = ["roles_differ"]

_BE = word_set("is are was were be been being get got gets")
_AUXILIARIES = word_set(
    "to will would can could may might must shall should do does did not"
)
_STOPS = word_set("from in on at with for because when while who whom which that than")
_LITTLE = word_set("a an the his her its their our my your")
_PARTICLES = word_set("over up out off down away back on")
_REACH = 12
_COVERED = 0.6
"""The least share of the parties' words that makes two acts the same."""


@dataclass(frozen=True, slots=True, repr=False)
class _Roles(Confidential):
    """Who does something, and who or what it is done to, as base forms."""

    agent: frozenset[str]
    patient: frozenset[str]


def roles_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether doer and done-to have changed places."""
    for at, token in enumerate(claim):
        if not token.text.isalpha() or not token.content or token.name:
            continue
        mine = _roles(claim, at)
        if mine is None:
            continue
        places = [
            place
            for place, other in enumerate(evidence)
            if other.content and other.base == token.base
        ]
        found = [
            theirs
            for place in places
            if (theirs := _roles(evidence, place)) is not None
        ]
        if found and all(_swapped(mine, theirs) for theirs in found):
            return True
        if not places and any(
            _turned(mine, token.base, *one) for one in _acts(evidence)
        ):
            return True
    return False


def _acts(evidence: TokenText) -> Iterator[tuple[_Roles, str]]:
    for place, token in enumerate(evidence):
        if token.text.isalpha() and token.content and not token.name:
            theirs = _roles(evidence, place)
            if theirs is not None:
                yield theirs, token.base


def _turned(mine: _Roles, verb: str, theirs: _Roles, other: str) -> bool:
    """Compare parties around different verbs: both must have changed places."""
    mine, theirs = _distinct(mine), _distinct(theirs)
    crossed = _meets(mine.agent, theirs.patient) and _meets(mine.patient, theirs.agent)
    straight = _meets(mine.agent, theirs.agent) and _meets(mine.patient, theirs.patient)
    if are_converse(verb, other):
        return straight and not crossed
    return crossed and not straight


def _swapped(mine: _Roles, theirs: _Roles) -> bool:
    """Compare parties around the same verb: one in the wrong place is enough."""
    both = theirs.agent & theirs.patient
    agent, patient = theirs.agent - both, theirs.patient - both
    parties = mine.agent | mine.patient
    known = sum(_meets(frozenset({word}), agent | patient | both) for word in parties)
    if not agent or not patient or known < _COVERED * len(parties):
        return False
    wrong_agent = _meets(mine.agent, patient) and not _meets(mine.agent, agent)
    wrong_patient = _meets(mine.patient, agent) and not _meets(mine.patient, patient)
    return wrong_agent or wrong_patient


def _distinct(roles: _Roles) -> _Roles:
    both = roles.agent & roles.patient
    return _Roles(roles.agent - both, roles.patient - both)


def _meets(left: frozenset[str], right: frozenset[str]) -> bool:
    return any(same(one, other) for one in left for other in right)


def _roles(tokens: TokenText, at: int) -> _Roles | None:
    """Read the parties around a word, if it may be a verb."""
    if not _may_be_verb(tokens, at):
        return None
    before = _before(tokens, at)
    if _is_passive(tokens, at):
        by = next(
            (
                place
                for place in range(at + 1, min(at + _REACH, len(tokens)))
                if tokens[place].text == "by" and tokens[place].hard == tokens[at].hard
            ),
            None,
        )
        agent = frozenset() if by is None else _after(tokens, by)
        return _Roles(agent, before)
    if not before or not _takes_object(tokens, at):
        return None
    return _Roles(before, _after(tokens, at))


def _may_be_verb(tokens: TokenText, at: int) -> bool:
    """Say whether a word is inflected as verbs are, or follows an auxiliary."""
    token = tokens[at]
    inflected = token.text.endswith(("ed", "s", "ing")) or is_irregular(token.text)
    if at + 1 < len(tokens) and tokens[at + 1].text in _LITTLE | {"the"}:
        return True
    return inflected or (at > 0 and tokens[at - 1].text in _AUXILIARIES)


def _is_passive(tokens: TokenText, at: int) -> bool:
    """Say whether a participle follows a form of *be*, maybe after an adverb."""
    token = tokens[at]
    participle = token.text.endswith(("ed", "en", "t", "d", "n", "ng")) and (
        token.base != token.text or token.text.endswith("t")
    )
    near = {other.text for other in tokens[max(0, at - 2) : at]}
    return participle and not token.text.endswith("ing") and bool(near & _BE)


def _takes_object(tokens: TokenText, at: int) -> bool:
    """Say whether a noun phrase follows at once, as it does after a verb."""
    if at + 1 >= len(tokens):
        return False
    beyond = tokens[at + 1].text in _PARTICLES and at + 2 < len(tokens)
    after = tokens[at + 2] if beyond else tokens[at + 1]
    if after.clause != tokens[at].clause:
        return False
    return after.text in _LITTLE or after.content


def _before(tokens: TokenText, at: int) -> frozenset[str]:
    found = []
    for token in reversed(tokens[max(0, at - _REACH) : at]):
        if token.clause != tokens[at].clause:
            break
        if token.content:
            found.append(token.base)
    return frozenset(found)


def _after(tokens: TokenText, at: int) -> frozenset[str]:
    found = []
    for token in tokens[at + 1 : at + 1 + _REACH]:
        if token.clause != tokens[at].clause or token.text in _STOPS:
            break
        if token.content:
            found.append(token.base)
    return frozenset(found)
