"""
The paper's property, said a second time and in other words than the package's.

"Each of the text passages returned by the highlighter must be a contiguous match of at
least min_words words from the trusted documents; furthermore, text extracts must be
non-overlapping" (section 4), with the holes closed that the reference leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from sdrag.vocabulary import Highlight, Passage

JOINED = re.compile(r"[^\W_](?:['\u2019./,:@&_-]|\u2010|\u2011|\u2012|\u2013)?[^\W_]")

PLACED = re.compile(r"\[(?:REDACTED|person)\]")
"""Two that stand in place of hidden values."""


def violations(
    highlights: Sequence[Highlight], passages: Sequence[Passage], min_words: int = 5
) -> list[str]:
    """Name every way in which the highlights break the property."""
    texts = {passage.id: passage.text for passage in passages}
    order = [passage.id for passage in passages]
    found = []
    for highlight in highlights:
        text = texts[highlight.passage_id]
        start, end = highlight.span.start, highlight.span.end
        if highlight.text != text[start:end]:
            found.append("not verbatim")
        if cuts(text, start) or cuts(text, end):
            found.append("cuts a word")
        if any(map(partial(in_part, start, end), PLACED.finditer(text))):
            found.append("cuts a placeholder")
        if words(highlight.text) < min_words:
            found.append("too short")
    places = [
        (order.index(highlight.passage_id), highlight.span.start)
        for highlight in highlights
    ]
    if places != sorted(places):
        found.append("not in document order")
    for left, right in pairwise(highlights):
        if left.passage_id == right.passage_id:
            between = texts[left.passage_id][left.span.end : right.span.start]
            if left.span.end > right.span.start or not words(between, raw=True):
                found.append("touches")
    return found


def words(text: str, *, raw: bool = False) -> int:
    """Count words by spaces; what is withheld counts for nothing unless `raw`."""
    if not raw:
        text = re.sub(rf"\S*{PLACED.pattern}\S*", " ", text)
    return sum(any(map(str.isalnum, token)) for token in text.split())


def in_part(start: int, end: int, placed: re.Match[str]) -> bool:
    """Say whether a placeholder is neither inside nor outside of a stretch."""
    inside = start <= placed.start() and placed.end() <= end
    return not inside and start < placed.end() and placed.start() < end


def cuts(text: str, position: int) -> bool:
    """Say whether a word lies on both sides of a position."""
    return any(
        match.start() < position < match.end()
        for start in (max(0, position - 3), max(0, position - 2), max(0, position - 1))
        if (match := JOINED.match(text, start))
    )
