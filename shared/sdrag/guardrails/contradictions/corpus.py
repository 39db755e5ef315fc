"""
Contradictions within a corpus, for those who keep it.

To compare every sentence with every other takes quadratic time. But two sentences about
the same share most of their words, so they share one of the rarest of the shorter one
(prefix filtering). An inverted index gives the sentences that hold a rare word, or two
frequent ones, and only these are compared, by the rules of the guard. A block that is
larger than a bound is not compared, and its sentences are counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import NamedTuple

from sdrag.guardrails.answer_work import Conflict
from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions.check import find_loser, is_on_critical_topic
from sdrag.guardrails.contradictions.opposition import (
    SAME_SUBJECT,
    SentenceFacts,
    find_opposition,
    read_sentence,
)
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage, Span

_LARGEST_BLOCK = 50
_FEWEST_SHARED, _SHARE_OF_LONGER = 3, 0.3
"""Passages of one retrieval are about one question; those of a corpus are not, so more
words must be the same than the guard asks for."""
_MOST_PARTNERS = 4
_MOST_WORDS = 100
_MOST_FREQUENT_WORDS = 20
"""So many frequent words of a sentence are paired, the rarest first."""

Key = tuple[str, ...]
Place = tuple[Passage, Span]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """
    Two sentences of different passages that contradict each other; no content.

    Args:
        reason: `figures`, `negation` or `antonym`.
        winner: The passage that the policy prefers, if it prefers one.
        resolution: Why: `recent` or `authoritative`. Without a winner what happens
            instead: `present`, `decline`, `review`, or `critical` for its topic.
    """

    passage_ids: tuple[str, str]
    spans: tuple[Span, Span]
    reason: str
    winner: str | None
    resolution: str


class CorpusContradictions(NamedTuple):
    """
    What was found in a corpus.

    Args:
        pairs: In the order of the passages.
        repeated: How many more were found that are not listed: one of the sentences
            opposes many others, as rows of a list or entries of a log do.
        unchecked: How many sentences are too long to compare, or share frequent words
            with so many others that their rarer words alone found some to compare.
    """

    pairs: tuple[Contradiction, ...]
    repeated: int
    unchecked: int


def find_contradictions(
    passages: Sequence[Passage], section: ContradictionsSection
) -> CorpusContradictions:
    """Find the sentences of a corpus that contradict each other, by local rules."""
    places: dict[str, list[Place]] = defaultdict(list)
    for passage in passages:
        for span in sentences(passage.text):
            sentence = span.of(passage.text)
            if not sentence.endswith("?"):  # a question states nothing
                places[sentence].append((passage, span))
    facts = [read_sentence(sentence) for sentence in places]
    candidates, unchecked = _find_candidates(facts)
    opposed = {
        (first, second): reason
        for first, second in sorted(candidates)
        if (reason := find_opposition(facts[first], facts[second]))
    }
    partners = Counter(at for pair in opposed for at in pair)
    listed = [
        pair for pair in opposed if max(partners[at] for at in pair) <= _MOST_PARTNERS
    ]
    found = (
        _resolve(left, right, opposed[first, second], section)
        for first, second in listed
        for left, right in _pair_copies(
            places[facts[first].text], places[facts[second].text]
        )
        if left[0].id != right[0].id
    )
    return CorpusContradictions(tuple(found), len(opposed) - len(listed), unchecked)


def _find_candidates(
    facts: Sequence[SentenceFacts],
) -> tuple[set[tuple[int, int]], int]:
    """Return which sentences to compare, and how many have a block over the bound."""
    frequency = Counter(word for item in facts for word in item.subject)
    words = [
        sorted(item.subject, key=lambda word: (frequency[word], word))
        if len(item.subject) <= _MOST_WORDS
        else []
        for item in facts
    ]
    blocks: dict[Key, list[int]] = defaultdict(list)
    for at, listed in enumerate(words):
        for key in _keys(listed, frequency):
            blocks[key].append(at)
    pairs: set[tuple[int, int]] = set()
    unchecked = sum(len(item.subject) > _MOST_WORDS for item in facts)
    for at, listed in enumerate(words):
        near = [blocks[key] for key in _keys(_prefix(listed), frequency)]
        unchecked += any(len(block) > _LARGEST_BLOCK for block in near)
        pairs |= {
            (min(at, to), max(at, to))
            for block in near
            if len(block) <= _LARGEST_BLOCK
            for to in block
            if at != to and _have_one_subject(facts[at], facts[to])
        }
    return pairs, unchecked


def _have_one_subject(left: SentenceFacts, right: SentenceFacts) -> bool:
    shared = len(left.subject & right.subject)
    longer = max(len(left.subject), len(right.subject))
    return shared >= _FEWEST_SHARED and shared >= _SHARE_OF_LONGER * longer


def _prefix(words: Sequence[str]) -> Sequence[str]:
    """Return the rarest words, of which a sentence about the same has two if it can."""
    shared = ceil(SAME_SUBJECT * (len(words) - 1))  # one may be an antonym
    return words[: len(words) - shared + 2]


def _keys(words: Sequence[str], frequency: Mapping[str, int]) -> Iterator[Key]:
    """Yield each rare word, and each two of the frequent ones."""
    rare = [word for word in words if frequency[word] <= _LARGEST_BLOCK]
    frequent = words[len(rare) :][:_MOST_FREQUENT_WORDS]
    yield from ((word,) for word in rare)
    yield from combinations(frequent, 2)


def _pair_copies(
    lefts: Sequence[Place], rights: Sequence[Place]
) -> Iterator[tuple[Place, Place]]:
    """Name each copy of two sentences once, with the first copy of the other."""
    yield from ((left, rights[0]) for left in lefts)
    yield from ((lefts[0], right) for right in rights[1:])


def _resolve(
    left: Place, right: Place, reason: str, section: ContradictionsSection
) -> Contradiction:
    passages = (left[0], right[0])
    metadata = [passage.metadata for passage in passages]
    loser = find_loser(metadata, Conflict(0, 1, reason), section)
    if any(is_on_critical_topic(held, section) for held in metadata):
        winner, resolution = None, "critical"
    elif loser is None:
        preferred = section.strategy in {"recent", "authoritative"}
        winner, resolution = None, "present" if preferred else section.strategy
    else:
        winner, resolution = passages[1 - loser].id, section.strategy
    return Contradiction(
        (left[0].id, right[0].id), (left[1], right[1]), reason, winner, resolution
    )
