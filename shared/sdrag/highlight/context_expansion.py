"""
Cuts that keep the meaning: what a contiguous cut may leave behind, and may not.

A verbatim cut can turn its source around: "we never claim that [you are entitled to a
full refund]" satisfies the paper's property and says the opposite. What does it stands
outside the cut, in the same sentence or beside it: a negation, a condition, an
exception, an attribution, a question mark, quotation marks, the lead of a list. A cut
that leaves such a governor behind takes it in: the side it stands on grows to the edge
of the sentence, and what comes out is still one contiguous stretch.

The left edge depends on where the cut begins and the right edge on where it ends, never
on both; `sdrag.highlight.control` counts on it. A text in a language without a list of
governors is cut as at words, but for questions, quotations and lists.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from sdrag.highlight.boundaries import holds_a_word
from sdrag.highlight.negation_cues import GOVERNOR, LEADS_IN, TAKES_BACK
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge
from sdrag.vocabulary import Confidential, Span

__all__ = ["Scope", "to_sentences"]

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
    """
    The sentences and quotations of a text, and how far a cut must reach.

    Args:
        text: The text.
        sentences: Its sentences.
        quotations: Its quotations, with their marks.
    """

    text: str
    sentences: tuple[Span, ...]
    quotations: tuple[Span, ...]

    @classmethod
    def of(cls, text: str) -> Scope:
        """Read a text."""
        quotations = [
            Span(*found.span())
            for pattern in _QUOTATIONS
            for found in pattern.finditer(text)
        ]
        return cls(text, sentences(text), merge(quotations))

    def widen(self, span: Span) -> Span:
        """Extend a span until what governs it stands in it."""
        return Span(self.left(span.start), self.right(span.end))

    def left(self, start: int) -> int:
        """Say where a cut that begins at `start` must begin."""
        index = self._sentence(start)
        if index is None:
            return start
        own = self.sentences[index].start
        edge = min(start, self._lead(index, start))
        quotation = self._quotation(start)
        if quotation is not None and quotation.start < start:
            return min(edge, self._begin(quotation.start))
        return min(edge, own) if self._is_governed(index, own, start) else edge

    def right(self, end: int) -> int:
        """Say where a cut that ends at `end` must end."""
        index = self._sentence(end - 1)
        if index is None:
            return end
        own = self.sentences[index].end
        quotation = self._quotation(end - 1)
        reach = end
        if quotation is not None and end < quotation.end:
            reach = max(end, self._finish(quotation.end - 1))
            index = self._sentence(reach - 1) or index
        elif self._is_governed(index, end, own):
            reach = own
        return max(reach, self._taken_back(index))

    def _is_governed(self, index: int, start: int, end: int) -> bool:
        """Say whether the part of a sentence outside the cut governs the cut."""
        outside = self.text[start:end]
        if not holds_a_word(outside):
            return False
        asks = self.sentences[index].of(self.text).rstrip("\"'\u201d\u2019)")
        return asks.endswith("?") or GOVERNOR.search(outside) is not None

    def _lead(self, index: int, start: int) -> int:
        """Say where the sentence begins that tells how this one is meant."""
        lead = index - 1
        if self._is_item(index):
            while lead >= 0 and self._is_item(lead):
                lead -= 1
        if lead < 0:
            return start
        said = self.sentences[lead].of(self.text)
        announces = said.endswith(":") and GOVERNOR.search(said) is not None
        tells = announces or LEADS_IN.search(said) is not None
        return self.sentences[lead].start if tells else start

    def _is_item(self, index: int) -> bool:
        return _ITEM.match(self.text, self.sentences[index].start) is not None

    def _taken_back(self, index: int) -> int:
        """Say where the sentence ends that takes this one back, if one does."""
        if index + 1 >= len(self.sentences):
            return 0
        after = self.sentences[index + 1]
        return after.end if TAKES_BACK.match(self.text, after.start, after.end) else 0

    def _sentence(self, position: int) -> int | None:
        index = bisect_right(self.sentences, position, key=lambda span: span.start) - 1
        return index if index >= 0 else None

    def _quotation(self, position: int) -> Span | None:
        index = bisect_right(self.quotations, position, key=lambda span: span.start) - 1
        if index < 0 or position >= self.quotations[index].end:
            return None
        return self.quotations[index]

    def _begin(self, position: int) -> int:
        index = self._sentence(position)
        return position if index is None else self.sentences[index].start

    def _finish(self, position: int) -> int:
        index = self._sentence(position)
        return position if index is None else self.sentences[index].end


def to_sentences(text: str, span: Span) -> Span | None:
    """Give the whole sentences that a span covers word for word, or nothing."""
    touched = [whole for whole in sentences(text) if whole.overlaps(span)]
    if not touched:
        return None
    whole = Span(touched[0].start, touched[-1].end)
    left = text[whole.start : span.start]
    right = text[span.end : whole.end]
    return None if holds_a_word(left) or holds_a_word(right) else whole
