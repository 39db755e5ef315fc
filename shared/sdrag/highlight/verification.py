"""
Verification: the only way into the summarizer, and a deterministic one.

The paper's property: "each of the text passages returned by the highlighter in a H&S
pipeline must be a contiguous match of at least `min_words` words from the trusted
documents; furthermore, text extracts must be non-overlapping" (Highlight & Summarize,
section 4). The highlighter is taken to be wholly in the attacker's hands, so nothing
but its choice of spans is used: the text is the passage's, the order is that of the
passages, and spans of one passage that overlap, or that no word parts, become one.

An extract ends in a highlight or in a `Refusal` that says why, without content. The
rules are in the order in which `_Verifier` asks them; each has a test that fails
without it.

A verbatim cut can turn its source around: "we never claim that [you are entitled to a
full refund]" says the opposite. So a cut grows to the edges of its sentences, which
hold their negations and conditions, to those of a quotation, and to the sentence next
to it that governs it: the lead of a list, "the following is a myth", "this is not so".
The left edge depends on where the cut begins and the right edge on where it ends, never
on both: the bound of `benchmarks/suites/control_theorem.py` counts on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sdrag.errors import InputTooLargeError, UsageError
from sdrag.highlight.quote_matching import (
    Match,
    Matcher,
    count_words,
    find_occurrences,
    holds_a_word,
    is_whole,
)
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Highlight, Passage, Span

MAX_CHARACTERS = 4_000_000
MAX_EXTRACTS = 256

CutAt = Literal["words", "sentences"]
"""
Where a highlight may begin and end: at any word, as in the paper, or at sentences; then
it grows to those it cuts (see `sdrag.highlight.verification`).
"""

RefusalReason = Literal[
    "too-few-words",
    "not-found",
    "cuts-a-word",
    "spans-passages",
    "repeated",
    "too-many",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """
    Why an extract did not become a highlight; holds no content.

    Args:
        extract: Its place in the list of extracts; -1 where several were joined.
    """

    extract: int
    reason: RefusalReason
    words: int = 0
    passage_id: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Confidential):
    """
    The highlights in document order, and a refusal for every extract that is none.

    Iterates over its highlights.
    """

    highlights: tuple[Highlight, ...]
    refusals: tuple[Refusal, ...] = ()

    def __len__(self) -> int:
        return len(self.highlights)

    def __iter__(self) -> Iterator[Highlight]:
        return iter(self.highlights)


def verify_highlights(
    extracts: Sequence[str],
    passages: Sequence[Passage],
    min_words: int = 5,
    threshold: float = 95.0,
    *,
    cut_at: CutAt = "sentences",
    max_highlights: int = 20,
    placeholders: Placeholders = DEFAULT,
) -> Verification:
    """
    Turn extracts into verbatim stretches of the passages, or refuse them.

    Args:
        extracts: What a highlighter returned, in any order.
        passages: Trusted, and free of what must not be disclosed.
        min_words: The fewest words of a highlight (the paper's security parameter).
        threshold: The least rapidfuzz ratio of a near match, from 0 to 100; 100
            takes exact matches only (up to case, whitespace and typography).
        cut_at: Where a highlight may begin and end.
        max_highlights: The most highlights; the first in document order are kept.
        placeholders: What stands for hidden values: none is cut in two, and their
            words are not counted.

    Raises:
        UsageError: A number is out of range, or two passages share an id.
        InputTooLargeError: The passages are longer than 4,000,000 characters.
    """
    _check(passages, min_words, threshold, max_highlights)
    verifier = _Verifier(
        tuple(passages),
        Matcher.of(passages, threshold),
        tuple(placeholders.find(passage.text) for passage in passages),
        min_words,
        cut_at,
    )
    return verifier.verify(extracts, max_highlights)


@dataclass(frozen=True, slots=True, repr=False)
class _Verifier(Confidential):
    passages: tuple[Passage, ...]
    matcher: Matcher
    holes: tuple[tuple[Span, ...], ...]
    min_words: int
    cut_at: CutAt

    def verify(self, extracts: Sequence[str], most: int) -> Verification:
        matches: list[Match] = []
        refusals: list[Refusal] = []
        for index, extract in enumerate(extracts[:MAX_EXTRACTS]):
            outcome = self._judge(index, extract)
            if isinstance(outcome, Refusal):
                refusals.append(outcome)
            else:
                matches.append(outcome)
        refusals += [
            Refusal(index, "too-many") for index in range(MAX_EXTRACTS, len(extracts))
        ]
        apart = self._join_touching(matches)
        kept = self._drop_repeats(apart, refusals)
        refusals += [Refusal(-1, "too-many")] * max(0, len(kept) - most)
        return Verification(tuple(kept[:most]), tuple(refusals))

    def _judge(self, index: int, extract: str) -> Match | Refusal:
        words = count_words(extract, Span(0, len(extract))) if extract else 0
        if words < self.min_words:
            return Refusal(index, "too-few-words", words)
        match = self.matcher.find(extract)
        if match is None:
            return Refusal(
                index, self.matcher.explain_miss(extract) or "not-found", words
            )
        passage = self.passages[match.passage]
        words = count_words(passage.text, match.span, self.holes[match.passage])
        if words < self.min_words:
            return Refusal(index, "too-few-words", words, passage.id)
        return Match(match.passage, self._cut(match), match.score)

    def _cut(self, match: Match) -> Span:
        span = match.span
        if self.cut_at != "words":
            span = Scope.of(self.passages[match.passage].text).widen(span)
        touched = [hole for hole in self.holes[match.passage] if hole.overlaps(span)]
        start = min((span.start, *(hole.start for hole in touched)))
        return Span(start, max((span.end, *(hole.end for hole in touched))))

    def _join_touching(self, matches: Sequence[Match]) -> list[Highlight]:
        """Put spans in document order, joining those that no word parts."""
        apart: list[Match] = []
        for match in sorted(matches, key=lambda match: (match.passage, match.span)):
            text = self.passages[match.passage].text
            last = apart[-1] if apart else match
            between = text[last.span.end : match.span.start]
            if apart and last.passage == match.passage and not holds_a_word(between):
                span = Span(last.span.start, max(last.span.end, match.span.end))
                apart[-1] = Match(match.passage, span, min(last.score, match.score))
            else:
                apart.append(match)
        found = [(self.passages[match.passage], match) for match in apart]
        return [
            Highlight(passage.id, match.span, match.span.of(passage.text), match.score)
            for passage, match in found
        ]

    def _drop_repeats(
        self, highlights: Sequence[Highlight], refusals: list[Refusal]
    ) -> list[Highlight]:
        """
        Drop what a later highlight says in full: chunks may share their ends.

        An extract that an earlier passage holds is found there, never in a later one.
        """
        kept: list[Highlight] = []
        for index, highlight in enumerate(highlights):
            later = highlights[index + 1 :]
            if any(_contains_words(highlight.text, other.text) for other in later):
                refusals.append(
                    Refusal(-1, "repeated", passage_id=highlight.passage_id)
                )
            else:
                kept.append(highlight)
        return kept


def _contains_words(text: str, other: str) -> bool:
    """Say whether a text is in another, without cutting a word of it."""
    starts = find_occurrences(text, other)
    return any(is_whole(other, Span(at, at + len(text))) for at in starts)


def _check(
    passages: Sequence[Passage], min_words: int, threshold: float, most: int
) -> None:
    if min_words < 1 or most < 1 or not 0 <= threshold <= 100:
        raise UsageError(
            "`min_words` and `max_highlights` must be at least 1, `threshold` from 0 to"
            " 100."
        )
    if len({passage.id for passage in passages}) != len(passages):
        raise UsageError("Two passages have the same id.", hint="Give each its own.")
    if sum(len(passage.text) for passage in passages) > MAX_CHARACTERS:
        raise InputTooLargeError(
            f"The passages are longer than {MAX_CHARACTERS} characters.",
            hint="Highlight fewer of them at once.",
        )


TAKES_BACK = re.compile(
    r"""["'\u201c\u2018(\s]*(?:
        (?:this|that|it|these|those|they|such|the\s(?:above|former|claim|offer|rule))
        (?:\s\w+){0,2}?\s(?:
            (?:is|are|was|were|has|have|had|did|does|do|holds?|applies|apply|seems?)
            (?:\s\w+){0,3}?\s(?:not|never|no|false|untrue|wrong|incorrect|mistaken
            |expired|(?:an?\s)?(?:\w+\s)?(?:myth|lie|scam|misconception|fiction|hoax)
            |only|refused|rejected|denied|withdrawn|repealed|abolished|overturned)
            |(?:\w+n['\u2019]t|cannot|never|no\slonger|expired|ended)
        )\b
        |(?:not|wrong|false|never|unless|except|provided|on\sthe\scontrary)\b
        |no[.,!;]
        )""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a sentence that takes back, or limits, the sentence before it."""

LEADS_IN = re.compile(
    r"\b(?:myths?|misconceptions?|rumou?rs?|hoax|untrue|not true|suppose|imagine"
    r"|pretend|fiction\w*|hypothetical\w*|(?:following|next)[^.]{0,60}(?:not|false|wrong|never))"
    r"\b",
    re.IGNORECASE,
)
"""What makes a sentence say how the next one is meant."""

_ITEM = re.compile(r"[-*\u2022]\s|\d{1,3}[.)]\s|\(?[a-z]\)\s")
# Each begins with its mark, so that a text without the mark is passed over quickly.
_QUOTATIONS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\u201c[^\u201d]{1,2000}\u201d",
        r"\u201e[^\u201c]{1,2000}\u201c",
        r"\u00ab[^\u00bb]{1,2000}\u00bb",
        r'"[^"]{1,2000}"',
        r"'(?<!\w')[^'\n]{1,400}'(?!\w)",
        r"\u2018(?<!\w\u2018)[^\u2018\n]{1,400}\u2019(?!\w)",
    )
)


@dataclass(frozen=True, slots=True, repr=False)
class Scope(Confidential):
    """How far a cut of a text must reach, by sentences that no quotation joins."""

    text: str
    units: tuple[Span, ...]

    @classmethod
    def of(cls, text: str) -> Scope:
        """Read a text."""
        quotations = (
            Span(*match.span())
            for pattern in _QUOTATIONS
            for match in pattern.finditer(text)
        )
        units: list[Span] = []
        for span in sorted((*sentences(text), *quotations)):
            if units and span.start < units[-1].end:
                units[-1] = Span(units[-1].start, max(units[-1].end, span.end))
            else:
                units.append(span)
        return cls(text, tuple(units))

    def widen(self, span: Span) -> Span:
        """Extend a span until it holds what governs it."""
        return Span(self.left(span.start), self.right(span.end))

    def left(self, start: int) -> int:
        """Say where a cut that begins at `start` must begin."""
        index = self._unit_at(start)
        if index < 0:
            return start
        lead = index - 1
        if self._is_item(index):
            while lead >= 0 and self._is_item(lead):
                lead -= 1
        before = self.units[lead].of(self.text) if lead >= 0 else ""
        governs = before.endswith(":") or LEADS_IN.search(before) is not None
        return min(start, self.units[lead if governs else index].start)

    def right(self, end: int) -> int:
        """Say where a cut that ends at `end` must end."""
        index = self._unit_at(end - 1)
        if index < 0:
            return end
        if index + 1 < len(self.units):
            after = self.units[index + 1]
            if TAKES_BACK.match(self.text, after.start, after.end):
                return after.end
        return max(end, self.units[index].end)

    def _is_item(self, index: int) -> bool:
        return _ITEM.match(self.text, self.units[index].start) is not None

    def _unit_at(self, position: int) -> int:
        """Return the last unit that begins at or before a position; -1 for none."""
        return bisect_right(self.units, position, key=lambda unit: unit.start) - 1
