"""
Local signs that two sentences from different sources contradict each other.

Are they about the same, and do their figures, denials or a pair of antonyms disagree?
This is strict, since sources that merely differ are normal. Where each sentence has
another thing in the same place, such as a boat and a car, they are about two things,
and their values are not compared. Two values at two times are a history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.guardrails.statements.polarity import (
    are_opposite,
    is_denied,
    polarity_differs,
)
from sdrag.guardrails.statements.quantities import DATES, Quantity, read_quantities
from sdrag.guardrails.statements.words import TokenText, read_tokens
from sdrag.vocabulary import Confidential

SAME_SUBJECT = 0.6
"""The least share of the shorter sentence's words that both have."""

_PREFIX = 5
"""Letters by which relatives of a word are known."""

Figures = tuple[Quantity, ...]


@dataclass(frozen=True, slots=True, repr=False)
class SentenceFacts(Confidential):
    """
    What of a sentence is compared; read once, compared often.

    `subject`: the prefixes of its content words, without figures.
    """

    text: str
    subject: frozenset[str]
    dates: Figures
    figures: Figures
    tokens: TokenText


def read_sentence(sentence: str) -> SentenceFacts:
    """Read a sentence."""
    tokens = read_tokens([sentence])
    quantities = read_quantities(tokens)
    counted = {
        at
        for item in quantities
        for at in range(item.at, item.to)
        if item.kind != "number" or at == item.at
    }
    return SentenceFacts(
        sentence,
        frozenset(
            token.base[:_PREFIX]
            for at, token in enumerate(tokens)
            if token.content and at not in counted
        ),
        tuple(item for item in quantities if item.kind in DATES),
        tuple(item for item in quantities if item.kind not in DATES),
        tokens,
    )


def share_subject(left: SentenceFacts, right: SentenceFacts) -> float:
    """Return the share of the shorter sentence's words, without figures, in both."""
    shorter = min(len(left.subject), len(right.subject))
    return len(left.subject & right.subject) / shorter if shorter else 0.0


def find_opposition(left: SentenceFacts, right: SentenceFacts) -> str:
    """
    Return how two sentences contradict each other, if they do.

    It is `figures`, `negation` or `antonym`; nothing where they are not about the same.
    """
    if share_subject(left, right) < SAME_SUBJECT / 2:
        return ""
    antonyms = _antonyms(left, right)
    if not _are_about_the_same(left, right, antonyms):
        return ""
    how = ""
    if _clash(left.figures, right.figures):
        how = "figures"
    elif polarity_differs(left.tokens, right.tokens):
        denied = is_denied(left.tokens) != is_denied(right.tokens)
        how = "negation" if denied else "antonym"
    if not _clash(left.dates, right.dates):
        return how
    measured = [item for item in left.figures if item.measured]
    is_history = antonyms or any(_is_in(item, right.figures) for item in measured)
    return "" if how or is_history else "figures"


def _clash(left: Figures, right: Figures) -> bool:
    """Say whether each side has a figure of one kind that the other lacks."""
    return any(
        mine.kind == other.kind
        and (mine.unit == other.unit or not mine.unit or not other.unit)
        for mine in left
        if not _is_in(mine, right)
        for other in right
        if not _is_in(other, left)
    )


def _is_in(figure: Quantity, others: Figures) -> bool:
    return any(
        (figure.kind, figure.value) == (other.kind, other.value)
        and (figure.unit == other.unit or not (figure.measured and other.measured))
        for other in others
    )


def _are_about_the_same(
    left: SentenceFacts, right: SentenceFacts, antonyms: frozenset[str]
) -> bool:
    """Say whether two sentences share their subject and tell no other thing of it."""
    mine, theirs = left.subject - antonyms, right.subject - antonyms
    shorter = min(len(mine), len(theirs))
    if not shorter or len(mine & theirs) < SAME_SUBJECT * shorter:
        return False
    return not any(
        _have_one_neighbour(left.tokens, at, right.tokens, to)
        for at in _places(left, mine - theirs)
        for to in _places(right, theirs - mine)
    )


def _antonyms(left: SentenceFacts, right: SentenceFacts) -> frozenset[str]:
    """Return the prefixes of the words that stand against each other."""
    mine, theirs = (
        {token.base for token in facts.tokens if token.content}
        for facts in (left, right)
    )
    return frozenset(
        word[:_PREFIX]
        for word_pair in ((a, b) for a in mine - theirs for b in theirs - mine)
        if are_opposite(*word_pair)
        for word in word_pair
    )


def _places(facts: SentenceFacts, words: frozenset[str]) -> Iterator[int]:
    for at, token in enumerate(facts.tokens):
        if token.content and token.base[:_PREFIX] in words:
            yield at


def _have_one_neighbour(left: TokenText, at: int, right: TokenText, to: int) -> bool:
    """Say whether two words stand before or after the same word."""
    return any(
        0 <= at + step < len(left)
        and 0 <= to + step < len(right)
        and left[at + step].base == right[to + step].base
        for step in (-1, 1)
    )
