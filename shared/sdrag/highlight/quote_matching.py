"""
Finding in a passage what a highlighter says is there.

What is returned is always a span of the passage, never the highlighter's own words. A
quotation matches exactly when it is the same up to case, whitespace and typography; an
exact match that would cut a word is none. Then come matches that are exact but for what
a document is set with: hyphens at line ends, marks of Markdown, bars of tables. These
are looked past in both, and the highlight is as the document has it. Otherwise the best
fuzzy match is taken
(rapidfuzz, as in the paper, section 4.1), widened to whole words, and *compared again
as a whole*: a partial ratio alone gives 100 to "closed payments" inside "undisclosed
payments", and to a passage wrapped in anything at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from rapidfuzz import fuzz

from sdrag.highlight.boundaries import find_occurrences, is_whole, widen
from sdrag.text.folding import Folded, fold, fold_text
from sdrag.text.readings import strip_markup
from sdrag.vocabulary import Confidential, Passage, Span

_EXACT = 100.0
_EMPHASIS = "*_~`"


@dataclass(frozen=True, slots=True)
class Match:
    """Where a quotation is: the place of the passage, the span, the score."""

    passage: int
    span: Span
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Matcher(Confidential):
    """
    Passages, folded once and searched many times.

    Args:
        threshold: The least rapidfuzz ratio, from 0 to 100; 100 allows exact only.
    """

    texts: tuple[str, ...]
    folded: tuple[Folded, ...]
    unmarked: tuple[Folded, ...]
    threshold: float

    @classmethod
    def of(cls, passages: Sequence[Passage], threshold: float) -> Matcher:
        """Fold the passages."""
        texts = tuple(passage.text for passage in passages)
        unmarked = tuple(map(strip_markup, texts))
        return cls(texts, tuple(map(fold, texts)), unmarked, threshold)

    def find(self, quotation: str) -> Match | None:
        """Find a quotation: an exact match in any passage before a fuzzy one in all."""
        needle = fold_text(quotation)
        if not needle:
            return None
        bare = strip_markup(quotation).text.strip()
        exact = chain(self._exact(needle, self.folded), self._unmarked(bare))
        return next(exact, None) or self._fuzzy(needle)

    def _unmarked(self, needle: str) -> Iterator[Match]:
        """Yield the matches that are exact but for what the document is set with."""
        for match in self._exact(needle, self.unmarked):
            span = _with_emphasis(self.texts[match.passage], match.span)
            yield replace(match, span=span)

    def _exact(self, needle: str, views: Sequence[Folded]) -> Iterator[Match]:
        """Yield the exact matches in all passages that cut no word."""
        for index, view in enumerate(views if needle else ()):
            for start in find_occurrences(needle, view.text):
                span = view.span(start, start + len(needle))
                if is_whole(self.texts[index], span):
                    yield Match(index, span, _EXACT)

    def explain_miss(
        self, quotation: str
    ) -> Literal["cuts-a-word", "spans-passages", ""]:
        """Say why there is no match, where the words are there after all."""
        needle = fold_text(quotation)
        if any(needle in folded.text for folded in self.folded):
            return "cuts-a-word"
        whole = " ".join(folded.text.strip() for folded in self.folded)
        return "spans-passages" if needle in whole else ""

    def _fuzzy(self, needle: str) -> Match | None:
        best: Match | None = None
        for index, folded in enumerate(self.folded):
            floor = best.score if best else self.threshold
            span = _align(needle, folded, floor)
            if span is None:
                continue
            whole = _trim(self.texts[index], widen(self.texts[index], span))
            score = fuzz.ratio(needle, fold_text(whole.of(self.texts[index])))
            if score >= self.threshold and (best is None or score > best.score):
                best = Match(index, whole, score)
        return best


def _with_emphasis(text: str, span: Span) -> Span:
    """Take in the marks that a span's first and last words are set with."""
    start = len(text[: span.start].rstrip(_EMPHASIS))
    return Span(start, len(text) - len(text[span.end :].lstrip(_EMPHASIS)))


def _trim(text: str, span: Span) -> Span:
    """Take the outer whitespace off a span that holds more than that."""
    stretch = span.of(text)
    start = span.start + len(stretch) - len(stretch.lstrip())
    return Span(start, start + len(stretch.strip())) if stretch.strip() else span


def _align(needle: str, folded: Folded, floor: float) -> Span | None:
    """Find the stretch most like the needle, where one can be like enough."""
    longest = len(folded.text) * (2 * _EXACT - floor)
    if floor >= _EXACT or len(needle) * floor > longest:
        return None
    match = fuzz.partial_ratio_alignment(needle, folded.text, score_cutoff=floor)
    if match is None or match.dest_start >= match.dest_end:
        return None
    return folded.span(match.dest_start, match.dest_end)
