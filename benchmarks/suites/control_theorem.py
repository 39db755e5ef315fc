"""
How much an attacker can choose: the paper's Theorem 5.1, for several highlights.

The theorem bounds what an attacker controls of the output by the number of inputs the
model can be given (Lemma 5.1: at most |P| / beta outputs of probability beta). The
paper's proof lets the highlighter return one stretch of one document. Here the inputs
of the summarizer are counted exactly: the sets of at most m stretches of at least
`min_words` words, of which two of one passage are at least a word apart, in document
order. They are counted by walking over the words of each passage; passages multiply as
polynomials in the number of highlights. In a passage of n words without punctuation, k
stretches of w words or more with gaps of a word or more leave n - kw - (k-1) words to
hand out over k lengths, k-1 gaps and two ends: C(n - kw - (k-1) + 2k, 2k) sets. A mark
next to a word doubles a choice, since a highlight may take it in or leave it.

The empty set is counted: declining is an outcome too. A plain prompt of K tokens over a
vocabulary of V has V + V^2 + ... + V^K inputs.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from sdrag.highlight.quote_matching import (
    count_words,
    cuts_a_word,
    holds_a_word,
)
from sdrag.highlight.verification import CutAt, Scope
from sdrag.placeholders import DEFAULT
from sdrag.vocabulary import Span

Counts = list[int]
"""How many sets there are of 0, 1, 2, ... highlights."""


def admissible_sets(
    texts: Iterable[str],
    min_words: int = 5,
    max_highlights: int = 20,
    *,
    cut_at: CutAt = "sentences",
) -> int:
    """
    Count what the summarizer can be made to read.

    Args:
        texts: The passages an attacker can have retrieved: all of the corpus.
        min_words: As for `verify_highlights`.
        max_highlights: As there.
        cut_at: As there.
    """
    total: Counts = [1]
    for text in texts:
        counts = _of_passage(text, min_words, max_highlights, cut_at)
        total = _product(total, counts, max_highlights)
    return sum(total)


def bits_of_control(
    texts: Iterable[str],
    min_words: int = 5,
    max_highlights: int = 20,
    *,
    cut_at: CutAt = "sentences",
) -> float:
    """Give log2 of `admissible_sets`."""
    return math.log2(admissible_sets(texts, min_words, max_highlights, cut_at=cut_at))


def bits_of_prompt(tokens: int, vocabulary: int) -> float:
    """Give log2 of the number of prompts of 1 to `tokens` tokens."""
    if vocabulary == 1:
        return math.log2(tokens)
    count = (vocabulary ** (tokens + 1) - vocabulary) // (vocabulary - 1)
    return math.log2(count)


def _of_passage(text: str, least: int, most: int, cut_at: CutAt) -> Counts:
    """
    Count the sets of stretches of one passage, by walking over its words.

    A stretch may begin at an edge if the words between the earliest cut that is moved
    there and the latest cut that is moved to its end are enough. Edges are sorted by
    those cuts, so the beginnings that fit an end are a prefix, and prefixes are summed.
    """
    words = _words(text)
    holes = DEFAULT.find(text)
    sums = list(
        accumulate((count_words(text, word, holes) for word in words), initial=0)
    )
    begins, ends = _edges(text, words, cut_at)
    cuts = [sums[edge.cut] for edge in begins]
    ending: list[Counts] = [[1] + [0] * most]
    prefix: list[Counts] = [[0] * (most + 1)]
    for after in range(1, len(words) + 1):
        counts = list(ending[-1])
        while len(prefix) <= len(begins) and begins[len(prefix) - 1].cut < after:
            first = begins[len(prefix) - 1].word
            prefix.append(_sum(prefix[-1], ending[max(0, first - 1)]))
        added = [
            prefix[min(bisect_right(cuts, sums[edge.cut] - least), len(prefix) - 1)]
            for edge in ends.get(after, ())
        ]
        for sets in added:
            counts[1:] = _sum(counts[1:], sets[:most])
        ending.append(counts)
    return ending[-1]


@dataclass(frozen=True, slots=True)
class _Edge:
    """
    Where a highlight can begin or end.

    Args:
        word: Its first word, or the one after its last.
        cut: The same of the cut that reaches furthest to be moved here.
    """

    word: int
    cut: int


def _edges(
    text: str, words: Sequence[Span], cut_at: CutAt
) -> tuple[list[_Edge], Mapping[int, list[_Edge]]]:
    """Find where highlights begin, by their cut, and end, by the word after."""
    scope = Scope.of(text) if cut_at == "sentences" else None
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for at in range(len(text) + 1):
        if cuts_a_word(text, at):
            continue
        if not text[at : at + 1].isspace():
            edge, word = scope.left(at) if scope else at, _first(words, at)
            begins[edge] = min(begins.get(edge, word), word)
        if at and not text[at - 1].isspace():
            edge, word = scope.right(at) if scope else at, _last(words, at)
            ends[edge] = max(ends.get(edge, 0), word)
    beginning = [_Edge(_first(words, edge), cut) for edge, cut in begins.items()]
    ending: dict[int, list[_Edge]] = defaultdict(list)
    for edge, cut in ends.items():
        word = _last(words, edge)
        ending[word].append(_Edge(word, cut))
    return sorted(beginning, key=lambda edge: edge.cut), ending


def _sum(left: Counts, right: Counts) -> Counts:
    return [item + other for item, other in zip(left, right, strict=True)]


def _words(text: str) -> list[Span]:
    """Cut a text at every place where verification may cut it."""
    spans: list[Span] = []
    start = 0
    for position in range(1, len(text) + 1):
        if position < len(text) and cuts_a_word(text, position):
            continue
        piece = Span(start, position)
        if holds_a_word(piece.of(text)):
            spans.append(piece)
        start = position
    return spans


def _first(words: Sequence[Span], start: int) -> int:
    return bisect_left(words, start, key=lambda word: word.start)


def _last(words: Sequence[Span], end: int) -> int:
    return bisect_right(words, end, key=lambda word: word.end)


def _product(left: Counts, right: Counts, most: int) -> Counts:
    product = [0] * min(len(left) + len(right) - 1, most + 1)
    for i, item in enumerate(left):
        for j, other in enumerate(right[: most + 1 - i]):
            product[i + j] += item * other
    return product
