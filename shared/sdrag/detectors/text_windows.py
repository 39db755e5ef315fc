"""Cutting a text between sentences, for detectors that read only so much at once."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

__all__ = ["windows"]


def windows(text: str, limit: int) -> Iterator[Span]:
    """
    Yield stretches that together cover every sentence.

    Args:
        text: What is cut.
        limit: The most characters of a window; a longer sentence is cut between words
            where it has any, within one where it has none.
    """
    start = end = None
    for sentence in sentences(text):
        for piece in _pieces(text, sentence, limit):
            if start is None or end is None:
                start, end = piece.start, piece.end
            elif piece.end - start <= limit:
                end = piece.end
            else:
                yield Span(start, end)
                start, end = piece.start, piece.end
    if start is not None and end is not None:
        yield Span(start, end)


def _pieces(text: str, sentence: Span, limit: int) -> Iterator[Span]:
    start = sentence.start
    while sentence.end - start > limit:
        cut = text.rfind(" ", start + limit // 2, start + limit)
        end = cut if cut > start else start + limit
        yield Span(start, end)
        start = end
    yield Span(start, sentence.end)
