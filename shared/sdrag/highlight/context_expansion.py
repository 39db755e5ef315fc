"""
Cuts that keep the meaning: whole sentences, and the sentences that govern them.

A verbatim cut can turn its source around: "we never claim that [you are entitled to a
full refund]" satisfies the paper's property and says the opposite. So a cut grows to
the edges of its sentences, which hold their negations, conditions and attributions, and
to those of a quotation that it is a part of. What is said of a whole sentence stands
next to it: the lead of a list, "the following is a myth", "this is not so". Such a
sentence is taken in. The result is still one contiguous stretch.

The lists of words are English; a text in another language is cut at sentences,
quotations and the leads of lists.

The left edge depends on where the cut begins and the right edge on where it ends, never
on both. The bound on an attacker's choice, of
`benchmarks/suites/control_theorem.py`, counts on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

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
