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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sdrag.errors import InputTooLargeError, UsageError
from sdrag.highlight.boundaries import (
    count_words,
    find_occurrences,
    holds_a_word,
    is_whole,
)
from sdrag.highlight.context_expansion import Scope
from sdrag.highlight.quote_matching import Match, Matcher
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.vocabulary import Confidential, Highlight, Passage, Span

MAX_CHARACTERS = 4_000_000
MAX_EXTRACTS = 256

CutAt = Literal["words", "sentences"]
"""
Where a highlight may begin and end: at any word, as in the paper, or at sentences; then
it grows to those it cuts (see `sdrag.highlight.context_expansion`).
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
        """Apply the rules to one extract."""
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
