"""
Span algebra: pure functions on stretches of text.

Nothing here knows why a span matters. Everything is linear in the text and the spans,
but for their sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from rapidfuzz import fuzz

from sdrag.errors import UsageError
from sdrag.folding import (
    Folded,
    fold_text,
    is_seen_boundary,
    seen_before,
    seen_from,
)
from sdrag.vocabulary import Span

__all__ = ["covered", "locate", "merge", "shifted", "splice", "widen"]

_ENDS = attrgetter("start", "end")
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


def shifted(span: Span, offset: int) -> Span:
    """Return a span of a part of a text as a span of the text."""
    return Span(span.start + offset, span.end + offset)


def covered(spans: Iterable[Span]) -> int:
    """Count the characters under at least one span."""
    return sum(len(span) for span in merge(spans))


def locate(quotation: str, folded: Folded, threshold: float = 90.0) -> tuple[Span, ...]:
    """
    Find everything in a text that a quotation means.

    Every exact occurrence (up to case, whitespace and typography) counts. Where there
    is none, the best fuzzy match does, widened to whole words.

    Args:
        quotation: What a model or a person says stands in the text.
        folded: The text, folded.
        threshold: The least rapidfuzz partial ratio, from 0 to 100.
    """
    needle = fold_text(quotation)
    if not needle:
        return ()
    exact = tuple(folded.find(needle))
    if exact or not _FUZZY_LENGTH <= len(needle) <= len(folded.text):
        return exact
    match = fuzz.partial_ratio_alignment(needle, folded.text, score_cutoff=threshold)
    if match is None or match.dest_start >= match.dest_end:
        return ()
    # Widened in the folded text, where no invisible character passes for a boundary.
    whole = widen(folded.text, Span(match.dest_start, match.dest_end))
    return (folded.span(whole.start, whole.end),)


def _adjoin(left: Span, right: Span, text: str | None) -> bool:
    if right.start <= left.end:
        return True
    return text is not None and not text[left.end : right.start].strip()
