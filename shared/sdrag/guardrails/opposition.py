"""
Local signs that two sentences from different sources contradict each other.

Are they about the same, and do their figures, names, denials or a pair of antonyms
disagree? This is strict, since sources that merely differ are normal. Where each
sentence has another thing in the same place, such as a boat and a car, they are about
two things, and their values are not compared. Two values at two times are a history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.guardrails.facts import find_names
from sdrag.guardrails.polarity import (
    are_alike,
    are_opposite,
    is_denied,
    polarity_differs,
)
from sdrag.guardrails.quantities import Quantity, read_quantities
from sdrag.guardrails.words import TokenText, read_tokens, word_set
from sdrag.text.stemming import stem
from sdrag.vocabulary import Confidential

_DENIALS = word_set(
    "no not none never neither nor without nothing nobody cannot only once unable"
)
_ROLES = word_set(
    "head lead direct chair run manage found write invent discover design paint compose"
    " own director chief chairman chairwoman president mayor chancellor capital owner"
    " author founder inventor headquarters manager winner win"
)
_HELD_BY_ONE = frozenset(map(stem, _ROLES))
"""Stems of what one party is or does, so that another name contradicts it."""
_SAME_SUBJECT = 0.6
_LEAST_SUBJECT = 2
_HEAD = frozenset({0, 1})
"""Where a word begins a sentence, maybe after an article: it tells of what it is."""
_DATES = frozenset({"day", "month", "year", "weekday"})
_LEADING = 2
_KEY = 5
"""Letters by which relatives of a word are known."""

Figures = tuple[Quantity, ...]


@dataclass(frozen=True, slots=True, repr=False)
class SentenceFacts(Confidential):
    """
    What of a sentence is compared; read once, compared often.

    Args:
        subject: The beginnings of its content words, without figures and denials.
        dates: Its days, months, years and weekdays.
        figures: Its numbers and times.
        names: The beginnings of the words of its names.
        tokens: All its words.
        denies: Whether it denies something.
    """

    subject: frozenset[str]
    dates: Figures
    figures: Figures
    names: frozenset[str]
    tokens: TokenText
    denies: bool


def read_sentence(sentence: str) -> SentenceFacts:
    """Read a sentence."""
    tokens = read_tokens([sentence])
    quantities = [item for item in read_quantities(tokens) if item.kind != "ordinal"]
    counted = {
        at
        for item in quantities
        for at in range(item.at, item.to)
        if item.kind != "number" or at == item.at
    }
    return SentenceFacts(
        frozenset(
            token.base[:_KEY]
            for at, token in enumerate(tokens)
            if token.content and at not in counted and token.text not in _DENIALS
        ),
        tuple(item for item in quantities if item.kind in _DATES),
        tuple(item for item in quantities if item.kind not in _DATES),
        frozenset(
            tokens[at].base[:_KEY]
            for first, to in find_names(tokens)
            for at in range(first, to)
        ),
        tokens,
        is_denied(tokens),
    )


def share_subject(left: SentenceFacts, right: SentenceFacts) -> float:
    """Return the share of the shorter sentence's words, without figures, in both."""
    shorter = min(len(left.subject), len(right.subject))
    if shorter < _LEAST_SUBJECT:
        return 0.0
    return len(left.subject & right.subject) / shorter


def find_opposition(left: SentenceFacts, right: SentenceFacts) -> str:
    """
    Return how two sentences contradict each other.

    Returns:
        `figures`, `negation`, `antonym` or `name`; nothing where they do not, or are
        not about the same.
    """
    if share_subject(left, right) < _SAME_SUBJECT / 2:
        return ""
    if not _are_about_the_same(left, right, _antonyms(left, right)):
        return ""
    how = _opposition(left, right)
    if not _clash(left.dates, right.dates):
        return how
    tells_history = any(map(_leads_with_date, (left, right))) or any(
        item.measured for item in left.figures if _is_in(item, right.figures)
    )
    return "" if how or tells_history else "figures"


def _opposition(left: SentenceFacts, right: SentenceFacts) -> str:
    """Return what of two sentences about the same differs, but for their dates."""
    if _clash(left.figures, right.figures):
        return "figures"
    if polarity_differs(left.tokens, right.tokens):
        return "antonym" if left.denies == right.denies else "negation"
    return "name" if _names_clash(left, right) else ""


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


def _leads_with_date(facts: SentenceFacts) -> bool:
    """Say whether a sentence begins with its date, as in *In 2023 the fee rose*."""
    return any(item.at <= _LEADING for item in facts.dates)


def _names_clash(left: SentenceFacts, right: SentenceFacts) -> bool:
    """Say whether two sentences name two parties for what only one can be."""
    return bool(
        (left.names & left.subject) - right.subject
        and (right.names & right.subject) - left.subject
        and any(
            token.base in _HELD_BY_ONE and token.base[:_KEY] in right.subject
            for token in left.tokens
        )
    )


def _antonyms(left: SentenceFacts, right: SentenceFacts) -> frozenset[str]:
    """Return the beginnings of the words that stand against each other."""
    mine = {token.base for token in left.tokens if token.content}
    theirs = {token.base for token in right.tokens if token.content}
    pairs = (
        (word, other)
        for word in mine - theirs
        for other in theirs - mine
        if are_opposite(word, other)
    )
    return frozenset(word[:_KEY] for pair in pairs for word in pair)


def _are_about_the_same(
    left: SentenceFacts, right: SentenceFacts, antonyms: frozenset[str]
) -> bool:
    """Say whether two sentences share their subject and tell no other thing of it."""
    if _begins_with(left, antonyms) and _begins_with(right, antonyms):
        return False
    mine, theirs = left.subject - antonyms, right.subject - antonyms
    named = _names_clash(left, right)
    if named:
        mine, theirs = mine - left.names, theirs - right.names
    shorter = min(len(mine), len(theirs))
    common = len(mine & theirs)
    if not shorter or common < _SAME_SUBJECT * shorter:
        return False
    if common < min(shorter, _LEAST_SUBJECT) and not antonyms and not named:
        return False
    return not any(
        _have_one_place(left.tokens, at, right.tokens, to)
        for at in _places(left, mine - theirs)
        for to in _places(right, theirs - mine)
    )


def _begins_with(facts: SentenceFacts, words: frozenset[str]) -> bool:
    """Say whether a sentence begins with one of some words, which modifies a noun."""
    tokens = facts.tokens
    return any(
        at in _HEAD and at + 1 < len(tokens) and tokens[at + 1].content
        for at in _places(facts, words)
    )


def _places(facts: SentenceFacts, words: frozenset[str]) -> Iterator[int]:
    for at, token in enumerate(facts.tokens):
        if token.content and token.base[:_KEY] in words:
            yield at


def _have_one_place(left: TokenText, at: int, right: TokenText, to: int) -> bool:
    """Say whether two words have the same neighbour, and are no synonyms."""
    return not are_alike(left[at].base, right[to].base) and any(
        0 <= at + step < len(left)
        and 0 <= to + step < len(right)
        and left[at + step].base == right[to + step].base
        for step in (-1, 1)
    )
