"""
Local signs that two texts say opposite things.

Two questions are asked. Of two sentences from different sources: are they about the
same, and do their figures, names, denials or a pair of antonyms disagree? This is
strict, since sources that merely differ are normal: where each sentence has another
thing in the same place, such as a boat and a car, they are about two things, and their
values are not compared. Of a claim and the evidence that was retrieved for it: does the
evidence put something else where the claim's point is? There, words of the claim that
the evidence does not know are a sign too, above all its last ones, where an English
sentence says what is new.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sdrag.guardrails.agreement.names import names_in
from sdrag.guardrails.agreement.opposites import are_alike, are_opposite
from sdrag.guardrails.agreement.polarity import denied, polarity_differs
from sdrag.guardrails.agreement.quantities import Quantity, quantities
from sdrag.guardrails.agreement.tokens import TokenText, base_form, read_tokens
from sdrag.guardrails.comparable_words import (
    content_words,
    negated,
    numbers,
    shares,
    word_set,
)
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential

__all__ = ["SentenceFacts", "alike", "opposed", "read_sentence", "refutation"]

_BRACKETS = re.compile(r"-[lr][rs]b-|``|''|--", re.IGNORECASE)
_DENIAL = word_set(
    "no not none never neither nor without nothing nobody cannot only once unable"
)
_ROLES = word_set(
    "head lead direct chair run manage found write invent discover design paint compose"
    " own director chief chairman chairwoman president mayor chancellor capital owner"
    " author founder inventor headquarters manager winner win"
)
_HELD_BY_ONE = frozenset(map(base_form, _ROLES))
"""Base forms of what one party is or does, so that another name contradicts it."""
_SAME_SUBJECT = 0.6
_LEAST_SUBJECT = 2
_HEAD = frozenset({0, 1})
"""Where a word begins a sentence, maybe after an article: it tells of what it is."""
_DATES = frozenset({"day", "month", "year", "weekday"})
"""What says when; two values at two times are a history, and no contradiction."""
_LEADING = 2
_KEY = 5
"""Letters by which relatives of a word are known."""
_SLOPE, _MIDDLE = 2.0, -0.2


Figures = tuple[Quantity, ...]


@dataclass(frozen=True, slots=True, repr=False)
class SentenceFacts(Confidential):
    """
    What of a sentence is compared; read once, compared often.

    Args:
        subject: The beginnings of its content words, without figures and denials.
        figures: Its numbers, dates and times.
        names: The beginnings of the words of its names.
        tokens: All its words.
        denies: Whether it denies something.
    """

    subject: frozenset[str]
    figures: tuple[Quantity, ...]
    names: frozenset[str]
    tokens: TokenText
    denies: bool


def read_sentence(sentence: str) -> SentenceFacts:
    """Read a sentence."""
    tokens = read_tokens([sentence])
    figures = tuple(one for one in quantities(tokens) if one.kind != "ordinal")
    counted = {
        at
        for one in figures
        for at in range(one.at, one.to)
        if one.kind != "number" or at == one.at
    }
    subject = frozenset(
        token.base[:_KEY]
        for at, token in enumerate(tokens)
        if token.content and at not in counted and token.text not in _DENIAL
    )
    names = frozenset(
        tokens[at].base[:_KEY]
        for first, to in names_in(tokens)
        for at in range(first, to)
    )
    return SentenceFacts(subject, figures, names, tokens, denied(tokens))


def opposed(left: SentenceFacts, right: SentenceFacts) -> str:
    """
    Return how two sentences contradict each other.

    Returns:
        `figures`, `negation`, `antonym` or `name`; nothing where they do not, or are
        not about the same.
    """
    if alike(left, right) < _SAME_SUBJECT / 2:
        return ""
    against = _opposites(left, right)
    if not _about_the_same(left, right, against):
        return ""
    how = _how_opposed(left, right)
    (when, mine), (other_time, theirs) = _parted(left), _parted(right)
    if _figures_clash(when, other_time):
        history = how or any(map(_leads, (left, right)))
        history = history or any(one.measured for one in mine if _in(one, theirs))
        return "" if history else "figures"
    return how


def _how_opposed(left: SentenceFacts, right: SentenceFacts) -> str:
    """Return what of two sentences about the same differs, but for their dates."""
    (_, mine), (_, theirs) = _parted(left), _parted(right)
    if _figures_clash(mine, theirs):
        return "figures"
    if polarity_differs(left.tokens, right.tokens):
        return "antonym" if left.denies == right.denies else "negation"
    return "name" if _names_clash(left, right) else ""


def _parted(facts: SentenceFacts) -> tuple[Figures, Figures]:
    """Part the figures that say when from the others."""
    dates = tuple(one for one in facts.figures if one.kind in _DATES)
    return dates, tuple(one for one in facts.figures if one not in dates)


def _in(figure: Quantity, others: Figures) -> bool:
    return any(_equal(figure, other) for other in others)


def _leads(facts: SentenceFacts) -> bool:
    """Say whether a sentence begins with its date, as in *In 2023 the fee rose*."""
    return any(one.kind in _DATES and one.at <= _LEADING for one in facts.figures)


def alike(left: SentenceFacts, right: SentenceFacts) -> float:
    """Return the share of the shorter sentence's words, without figures, in both."""
    shorter = min(len(left.subject), len(right.subject))
    if shorter < _LEAST_SUBJECT:
        return 0.0
    return len(left.subject & right.subject) / shorter


def _opposites(left: SentenceFacts, right: SentenceFacts) -> frozenset[str]:
    """Return the beginnings of the words that stand against each other."""
    mine = {token.base for token in left.tokens if token.content}
    theirs = {token.base for token in right.tokens if token.content}
    pairs = (
        (one, other)
        for one in mine - theirs
        for other in theirs - mine
        if are_opposite(one, other)
    )
    return frozenset(word[:_KEY] for pair in pairs for word in pair)


def _about_the_same(
    left: SentenceFacts, right: SentenceFacts, against: frozenset[str]
) -> bool:
    """Say whether two sentences share their subject and tell no other thing of it."""
    if _HEAD & _places(left, against) and _HEAD & _places(right, against):
        return False
    mine, theirs = left.subject - against, right.subject - against
    named = _names_clash(left, right)
    if named:
        mine, theirs = mine - left.names, theirs - right.names
    shorter = min(len(mine), len(theirs))
    common = len(mine & theirs)
    if not shorter or common < _SAME_SUBJECT * shorter:
        return False
    if common < _LEAST_SUBJECT and not against and not named and common < shorter:
        return False
    return not any(
        _same_place(left.tokens, at, right.tokens, to)
        for at in _apart(left, mine - theirs)
        for to in _apart(right, theirs - mine)
    )


def _places(facts: SentenceFacts, words: frozenset[str]) -> set[int]:
    """Return where words are that modify the noun after them."""
    return {at for at in _apart(facts, words) if _modifies(facts.tokens, at)}


def _modifies(tokens: TokenText, at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].content


def _apart(facts: SentenceFacts, words: frozenset[str]) -> list[int]:
    """Return where the words are that only one sentence has."""
    return [
        at
        for at, token in enumerate(facts.tokens)
        if token.content and token.base[:_KEY] in words
    ]


def _same_place(left: TokenText, at: int, right: TokenText, to: int) -> bool:
    """Say whether two words have the same neighbour, and are no synonyms."""
    if are_alike(left[at].base, right[to].base):
        return False
    return any(
        0 <= at + step < len(left)
        and 0 <= to + step < len(right)
        and left[at + step].base == right[to + step].base
        for step in (-1, 1)
    )


def _figures_clash(mine: Figures, theirs: Figures) -> bool:
    """Say whether each side has a figure of one kind that the other lacks."""
    only_mine = [one for one in mine if not _in(one, theirs)]
    only_theirs = [two for two in theirs if not _in(two, mine)]
    return any(
        one.kind == two.kind and (one.unit == two.unit or not one.unit or not two.unit)
        for one in only_mine
        for two in only_theirs
    )


def _equal(one: Quantity, two: Quantity) -> bool:
    return (one.kind, one.value) == (two.kind, two.value) and (
        one.unit == two.unit or not (one.measured and two.measured)
    )


def _names_clash(left: SentenceFacts, right: SentenceFacts) -> bool:
    """Say whether two sentences name two parties for what only one can be."""
    only_left = (left.names & left.subject) - right.subject
    only_right = (right.names & right.subject) - left.subject
    held = {
        token.base
        for token in left.tokens
        if token.base in _HELD_BY_ONE and token.base[:_KEY] in right.subject
    }
    return bool(only_left and only_right and held)


def refutation(claim: str, evidence: str) -> float:
    """Return, from 0 to 1, how likely evidence found for a claim refutes it."""
    claim, evidence = _BRACKETS.sub(" ", claim), _BRACKETS.sub(" ", evidence)
    words = [
        word for word in dict.fromkeys(content_words(claim)) if word not in _DENIAL
    ]
    if not words:
        return 0.5
    known = frozenset(content_words(evidence))
    found = [shares(word, known) for word in words]
    stated, given = numbers(claim), numbers(evidence)
    value = -1.5 * sum(found) / len(found)
    value += 1.0 * (not all(found[-2:]))
    value += 0.9 * bool(stated - given and given)
    value += 0.8 * (negated(claim) != negated(evidence))
    value += 0.8 * bool(_opposites(read_sentence(claim), _read_whole(evidence)))
    return 1.0 / (1.0 + math.exp(-_SLOPE * (value - _MIDDLE)))


def _read_whole(text: str) -> SentenceFacts:
    """Read a text of several sentences as one."""
    return read_sentence(" ".join(span.of(text) for span in sentences(text)))
