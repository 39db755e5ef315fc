"""
Local signs that two texts say opposite things.

Two questions are asked. Of two sentences from different sources: are they about the
same, and do their figures, dates, negations or a pair of antonyms disagree? This is
strict, since sources that merely differ are normal. Of a claim and the evidence that
was retrieved for it: does the evidence put something else where the claim's point
is? There, words of the claim that the evidence does not know are a sign too, above
all its last ones, where an English sentence says what is new.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib.resources import files

from sdrag.guardrails.comparable_words import (
    content_words,
    negated,
    numbers,
    shares,
    word_set,
)
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

__all__ = ["SentenceFacts", "alike", "opposed", "read_sentence", "refutation"]

_MONTHS = word_set(
    "january february march april june july august september october november"
    " december monday tuesday wednesday thursday friday saturday sunday"
)
_ANTONYMS = tuple(
    (word_set(left), word_set(right))
    for left, bar, right in (
        line.partition("|")
        for line in files("sdrag.guardrails")
        .joinpath("antonyms.txt")
        .read_text("utf-8")
        .splitlines()
    )
    if bar
)
_WORD = re.compile(r"[a-z]+")
_BRACKETS = re.compile(r"-[lr][rs]b-|``|''|--", re.IGNORECASE)
_DENIAL = word_set("no none never neither nor without nothing nobody cannot")
_SAME_SUBJECT = 0.6
_LEAST_SUBJECT = 2
_SLOPE, _MIDDLE = 2.0, -0.2


@dataclass(frozen=True, slots=True, repr=False)
class SentenceFacts(Confidential):
    """
    What of a sentence is compared; read once, compared often.

    Args:
        subject: Its content words, without figures and denials.
        figures: Its numbers, months and days of the week.
        words: All its words, as they stand.
        denies: Whether it denies something.
    """

    subject: frozenset[str]
    figures: frozenset[str]
    words: frozenset[str]
    denies: bool


def read_sentence(sentence: str) -> SentenceFacts:
    """Read a sentence."""
    words = frozenset(_WORD.findall(fold_text(sentence)))
    subject = frozenset(
        word
        for word in content_words(sentence)
        if not word[0].isdigit() and word not in _MONTHS and word not in _DENIAL
    )
    figures = numbers(sentence) | (_MONTHS & words)
    return SentenceFacts(subject, figures, words, negated(sentence))


def opposed(left: SentenceFacts, right: SentenceFacts) -> str:
    """
    Return how two sentences contradict each other: `figures`, `negation`, `antonym`.

    Returns:
        Nothing where they do not, or are not about the same.
    """
    clash = ""
    if left.figures - right.figures and right.figures - left.figures:
        clash = "figures"
    elif left.denies != right.denies:
        clash = "negation"
    elif _antonyms(left.words, right.words):
        clash = "antonym"
    return clash if clash and alike(left, right) >= _SAME_SUBJECT else ""


def alike(left: SentenceFacts, right: SentenceFacts) -> float:
    """Return the share of the shorter sentence's words, without figures, in both."""
    shorter, longer = sorted((left.subject, right.subject), key=len)
    if len(shorter) < _LEAST_SUBJECT:
        return 0.0
    return sum(shares(word, longer) for word in shorter) / len(shorter)


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
    value += 0.8 * _antonyms(read_sentence(claim).words, read_sentence(evidence).words)
    return 1.0 / (1.0 + math.exp(-_SLOPE * (value - _MIDDLE)))


def _antonyms(left: frozenset[str], right: frozenset[str]) -> bool:
    only_left, only_right = left - right, right - left
    return any(
        (only_left & up and only_right & down) or (only_left & down and only_right & up)
        for up, down in _ANTONYMS
    )
