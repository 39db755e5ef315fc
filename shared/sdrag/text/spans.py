"""
Span algebra: pure functions on stretches of text.

Nothing here knows why a span matters. Everything is linear in the text and the spans,
but for their sorting.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

from rapidfuzz import fuzz

from sdrag.errors import UsageError
from sdrag.text.folding import (
    UNSPACED,
    Folded,
    fold_text,
    is_seen_boundary,
    seen_before,
    seen_from,
)
from sdrag.vocabulary import Span

_ENDS = attrgetter("start", "end")
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
_LEAST_RATIO = 90.0
_FUZZY_LENGTH = 6
"""Shorter quotations must match exactly: one changed letter makes another word."""


def merge(spans: Iterable[Span], text: str | None = None) -> tuple[Span, ...]:
    """
    Join spans that overlap or touch; the result is sorted and apart.

    Args:
        spans: In any order.
        text: When given, spans with nothing but whitespace between them are joined
            too, so that neighbours become one replacement.
    """
    merged: list[Span] = []
    for span in sorted(spans, key=_ENDS):
        if merged and _adjoin(merged[-1], span, text):
            last = merged.pop()
            merged.append(Span(last.start, max(last.end, span.end)))
        else:
            merged.append(span)
    return tuple(merged)


class SpanUnion:
    """What spans cover together; each question about it takes one bisection."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[Span]) -> None:
        merged = merge(spans)
        self._starts = [span.start for span in merged]
        self._ends = [span.end for span in merged]

    def overlaps(self, span: Span) -> bool:
        """Say whether any of the spans shares a character with another one."""
        after = bisect_right(self._ends, span.start)
        return after < len(self._starts) and self._starts[after] < span.end

    def contains(self, span: Span) -> bool:
        """Say whether the spans cover all of another one."""
        after = bisect_right(self._ends, span.start)
        return (
            after < len(self._starts)
            and self._starts[after] <= span.start
            and span.end <= self._ends[after]
        )


def subtract(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """Yield what others, which are apart and in order, leave of a span."""
    start = span.start
    for other in others:
        if other.overlaps(span):
            if start < other.start:
                yield Span(start, other.start)
            start = max(start, other.end)
    if start < span.end:
        yield Span(start, span.end)


def splice(text: str, spans: Iterable[Span], replace: Callable[[Span], str]) -> str:
    """
    Replace each span by what `replace` says of it.

    Args:
        text: What the spans point into.
        spans: Apart from each other, in any order; `merge` makes them so.
        replace: Gives the replacement.

    Raises:
        UsageError: Two spans overlap.
    """
    pieces: list[str] = []
    done = 0
    for span in sorted(spans, key=_ENDS):
        if span.start < done:
            raise UsageError("Spans overlap.", hint="Merge them first.")
        pieces += [text[done : span.start], replace(span)]
        done = span.end
    return "".join([*pieces, text[done:]])


def widen(text: str, span: Span) -> Span:
    """Extend a span until it cuts no word."""
    start, end = span.start, span.end
    while not is_seen_boundary(text, start):
        start = seen_before(text, start)
    while not is_seen_boundary(text, end):
        end = seen_from(text, end) + 1
    return Span(start, end)


def widen_each(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """
    Extend each of many spans until it cuts no word, as `widen` does.

    The words are looked for once: a single word may be as long as the text, and full of
    spans.
    """
    words = _seen_words(text)
    starts = [start for start, _ in words]
    for span in spans:
        first = bisect_left(starts, span.start) - 1
        start, end = span.start, span.end
        if first >= 0 and start < words[first][1]:
            start = words[first][0]
        last = bisect_left(starts, end) - 1
        if last >= 0 and end < words[last][1]:
            end = words[last][1]
        yield Span(start, end)


def _seen_words(text: str) -> list[tuple[int, int]]:
    """Return where words are as a reader sees them: nothing unseen parts them."""
    words: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if words and words[-1][1] < start <= seen_from(text, words[-1][1]):
            words[-1] = words[-1][0], end
        else:
            words.append((start, end))
    return words


def shift(span: Span, offset: int) -> Span:
    """Return a span of a part of a text as a span of the text."""
    return Span(span.start + offset, span.end + offset)


def locate(quotation: str, folded: Folded, *others: Folded) -> tuple[Span, ...]:
    """
    Find everything in a text that a quotation means.

    Every exact occurrence (up to case, whitespace and typography) counts. Where there
    is none, the best fuzzy match does (rapidfuzz, partial ratio), widened to words.

    Args:
        quotation: What a model or a person says is in the text.
        folded: The text, folded.
        others: Other readings of it, for exact occurrences.
    """
    needle = fold_text(quotation)
    if not needle:
        return ()
    exact = tuple({s: None for read in (folded, *others) for s in read.find(needle)})
    if exact or not _FUZZY_LENGTH <= len(needle) <= len(folded.text):
        return exact
    match = fuzz.partial_ratio_alignment(needle, folded.text, score_cutoff=_LEAST_RATIO)
    if match is None:
        return ()
    # Widened in the folded text, where no invisible character passes for a boundary.
    whole = widen(folded.text, Span(match.dest_start, match.dest_end))
    return (folded.span(whole.start, whole.end),)


def _adjoin(left: Span, right: Span, text: str | None) -> bool:
    if right.start <= left.end:
        return True
    return text is not None and not text[left.end : right.start].strip()
