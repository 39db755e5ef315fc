"""
Words, where a text may be cut, and where in a passage a highlighter's quotation is.

The paper counts "at least `min_words` words" and says no more. Two readings matter to
an attacker. A word must be hard to fake, so a word is what is between spaces and
holds a letter or a digit: "a.b.c.d.e" is one word, and a placeholder is none. And a cut
must not make another word: "refundable" cannot be cut out of "non-refundable", "10" not
out of "$10", nor "5" out of "-5".

What is found is always a span of the passage, never the highlighter's own words. A
quotation matches exactly when it is the same up to case, whitespace and typography;
then come matches that are exact but for what a document is set with: hyphens at line
ends, marks of Markdown, bars of tables. Otherwise the best fuzzy match is taken
(rapidfuzz, as in the paper, section 4.1), widened to whole words, and *compared again
as a whole*: a partial ratio alone gives 100 to "closed payments" inside "undisclosed
payments", and to a passage wrapped in anything at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from rapidfuzz import fuzz

from sdrag.text.folding import Folded, fold, fold_text, is_unspaced
from sdrag.text.readings import strip_markup
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Passage, Span

# One of these between two letters or digits joins them; two in a row do not.
_CONNECTORS = frozenset(
    "'\u2019\u2018\u02bc-\u2010\u2011\u2012\u2013\u2212./,:@&+_%*#=\\"
)
_SIGNS_BEFORE = frozenset("$\u20ac\u00a3\u00a5+-\u2212\u2013\u00b1~<>\u2264\u2265#@")
_SIGNS_AFTER = frozenset("%\u2030\u00b0$\u20ac\u00a3\u00a5")
_PARTED = re.compile(
    r"(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\r?\n[ \t>]*(?=[^\W\d_])"
    r"|(?<=[^\W_])[*_~`]+(?=[^\W_])"
)
"""What parts a word to the eye: a hyphen and the end of its line, and emphasis."""
_REACH = 32
_TOKEN = re.compile(r"\S+")
_UNSPACED_PER_WORD = 2
_MAX_OCCURRENCES = 1_000
"""How many occurrences in a text are looked at before a search gives up."""


def count_words(text: str, span: Span, withheld: Sequence[Span] = ()) -> int:
    """
    Count the words of a span.

    Scripts written without spaces count one word for two characters.

    `withheld`: placeholders; a word that touches one counts for nothing.
    """
    holes = SpanUnion(withheld)
    return sum(
        _count(token.group())
        for token in _TOKEN.finditer(text, span.start, span.end)
        if not holes.overlaps(Span(*token.span()))
    )


def holds_a_word(text: str) -> bool:
    """Say whether there is a letter or a digit in a text."""
    return any(character.isalnum() for character in text)


def cuts_a_word(text: str, position: int) -> bool:
    """Say whether a cut at `position` falls within a word, a number or its sign."""
    if not 0 < position < len(text):
        return False
    beyond, before = text[max(0, position - 2) : position - 1], text[position - 1]
    after, next_one = text[position], text[position + 1 : position + 2]
    if _in_word(before) and _in_word(after):
        return not (is_unspaced(before) or is_unspaced(after))
    return (
        (_in_word(before) and after in _CONNECTORS and _in_word(next_one))
        or (_in_word(beyond) and before in _CONNECTORS and _in_word(after))
        or (before.isdigit() and after in _SIGNS_AFTER)
        or (before in _SIGNS_BEFORE and after.isdigit())
        or _is_parted(text, position)
    )


def _is_parted(text: str, position: int) -> bool:
    """Say whether a cut falls where only the setting of a text parts a word."""
    parts = _PARTED.finditer(text, position - _REACH, position + _REACH)
    return any(match.start() <= position <= match.end() for match in parts)


def find_occurrences(needle: str, text: str) -> Iterator[int]:
    """Yield where a needle occurs in a text, also within itself, within a bound."""
    start = -1
    for _ in range(_MAX_OCCURRENCES):
        start = text.find(needle, start + 1)
        if start < 0:
            return
        yield start


def is_whole(text: str, span: Span) -> bool:
    """Say whether neither end of a span cuts a word."""
    return not (cuts_a_word(text, span.start) or cuts_a_word(text, span.end))


def widen(text: str, span: Span) -> Span:
    """Extend a span until neither end cuts a word."""
    start, end = span.start, span.end
    while cuts_a_word(text, start):
        start -= 1
    while cuts_a_word(text, end):
        end += 1
    return Span(start, end)


def _count(token: str) -> int:
    unspaced = sum(map(is_unspaced, token))
    spaced = any(
        character.isalnum() and not is_unspaced(character) for character in token
    )
    return unspaced // _UNSPACED_PER_WORD + spaced


def _in_word(character: str) -> bool:
    """Say whether a character belongs to words; marks and invisible ones do too."""
    if not character:
        return False
    category = unicodedata.category(character)
    return character.isalnum() or category[0] == "M" or category == "Cf"


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
