"""
Cuts that keep the meaning: what a contiguous cut may leave behind, and may not.

A verbatim cut can turn its source around: "we never claim that [you are entitled to a
full refund]" satisfies the paper's property and says the opposite. The cause is a cue
outside the cut, in the same sentence or next to it: a negation, a condition, an
exception, an attribution, a question mark, quotation marks, the lead of a list. A cut
that would leave such a cue behind takes it in. The side that the cue is on grows to the
edge of the sentence, and the result is still one contiguous stretch.

The lists of cues are English. They are read as words and not parsed, so they lean
towards too many: a cue too many costs some precision, a cue too few costs the meaning.
A text in another language is cut as at words, but for questions, quotations and lists.

The left edge depends on where the cut begins and the right edge on where it ends, never
on both. The bound on an attacker's choice, of
`benchmarks/suites/control_theorem.py`, counts on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from sdrag.highlight.boundaries import holds_a_word
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge
from sdrag.vocabulary import Confidential, Span

_NEGATION = (
    r"not|never|no|none|nobody|no-one|nothing|nowhere|neither|nor|cannot|without"
    r"|hardly|scarcely|barely|rarely|seldom|\w+n['\u2019]t|false|falsely|untrue"
    r"|incorrect|incorrectly|wrong|wrongly|myths?|misconceptions?|invalid|void"
    r"|impossible|unlikely|unable|longer|contrary|anything but|far from"
    r"|(?:den|refut|disprov|disput|reject|refus|fail|lack|doubt|avoid|prevent|prohibit"
    r"|forbid|exclud|disallow|revok|ceas|bann|abolish|repeal|supersed|overturn)\w*"
)
_CONDITION = (
    r"if|unless|until|provided|providing|when|whenever|once|should|assuming|whether"
    r"|suppos\w+|depend\w*|subject to|in case|in the event|as long as|so long as"
    r"|conditional\w*|on condition|only|pending|contingent|otherwise|or else"
)
_ATTRIBUTION = (
    r"said|says?|saying|tells?|told|writes?|wrote|according|thinks?|thought|reportedly"
    r"|(?:claim|alleg|believ|argu|assert|suggest|insist|rumou?r|pretend|imagin|propos"
    r"|maintain|complain|purport|hypothe|accus|speculat|predict|warn|mistak|mislead"
    r"|stat(?=e[sd]?\b))\w*|so-called|misled|supposedly|seem\w*|appears?|appeared"
    r"|may|might|could|would|perhaps|possibly|hop(?:e[sd]?|ing)|wish\w*|ask(?:s|ed)?"
    r"|demand\w*|lie[sd]?|scams?|tr(?:y|ies|ied)|attempt\w*|in (?:his|her|their) view"
)
_EXCEPTION = (
    r"except\w*|other than|apart from|aside from|save for|excluding|instead|rather"
    r"|however|although|though|despite|notwithstanding|used to|formerly|previously"
    r"|expire[sd]?|besides|nothing but|but"
)

CUE = re.compile(
    rf"(?<![\w'\u2019-])(?:{_NEGATION}|{_CONDITION}|{_ATTRIBUTION}|{_EXCEPTION})"
    r"(?![\w\u2019])",
    re.IGNORECASE,
)
"""A word that changes what the rest of its sentence says."""

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
    """The sentences and quotations of a text, and how far a cut must reach."""

    text: str
    sentences: tuple[Span, ...]
    quotations: tuple[Span, ...]

    @classmethod
    def of(cls, text: str) -> Scope:
        """Read a text."""
        quotations = [
            Span(*match.span())
            for pattern in _QUOTATIONS
            for match in pattern.finditer(text)
        ]
        return cls(text, sentences(text), merge(quotations))

    def widen(self, span: Span) -> Span:
        """Extend a span until it holds the cues that change what it says."""
        return Span(self.left(span.start), self.right(span.end))

    def left(self, start: int) -> int:
        """Say where a cut that begins at `start` must begin."""
        index = self._sentence_at(start)
        if index is None:
            return start
        edge = min(start, self._lead(index, start))
        quotation = self._quotation(start)
        if quotation is not None and quotation.start < start:
            opening = self._sentence_at(quotation.start)
            at = quotation.start if opening is None else self.sentences[opening].start
            return min(edge, at)
        sentence_start = self.sentences[index].start
        has_cue = self._has_cue(index, sentence_start, start)
        return min(edge, sentence_start) if has_cue else edge

    def right(self, end: int) -> int:
        """Say where a cut that ends at `end` must end."""
        index = self._sentence_at(end - 1)
        if index is None:
            return end
        sentence_end = self.sentences[index].end
        quotation = self._quotation(end - 1)
        reach = end
        if quotation is not None and end < quotation.end:
            index = self._sentence_at(quotation.end - 1) or index
            reach = max(end, quotation.end, self.sentences[index].end)
        elif self._has_cue(index, end, sentence_end):
            reach = sentence_end
        return max(reach, self._taken_back(index))

    def _has_cue(self, index: int, start: int, end: int) -> bool:
        """Say whether the sentence outside the cut changes what the cut says."""
        outside = self.text[start:end]
        if not holds_a_word(outside):
            return False
        asks = self.sentences[index].of(self.text).rstrip("\"'\u201d\u2019)")
        return asks.endswith("?") or CUE.search(outside) is not None

    def _lead(self, index: int, start: int) -> int:
        """Say where the sentence begins that tells how this one is meant."""
        lead = index - 1
        if self._is_item(index):
            while lead >= 0 and self._is_item(lead):
                lead -= 1
        if lead < 0:
            return start
        before = self.sentences[lead].of(self.text)
        announces = before.endswith(":") and CUE.search(before) is not None
        tells = announces or LEADS_IN.search(before) is not None
        return self.sentences[lead].start if tells else start

    def _is_item(self, index: int) -> bool:
        return _ITEM.match(self.text, self.sentences[index].start) is not None

    def _taken_back(self, index: int) -> int:
        """Say where the sentence ends that takes this one back, if one does."""
        if index + 1 >= len(self.sentences):
            return 0
        after = self.sentences[index + 1]
        return after.end if TAKES_BACK.match(self.text, after.start, after.end) else 0

    def _sentence_at(self, position: int) -> int | None:
        """Return the sentence that begins last at or before a position."""
        index = bisect_right(self.sentences, position, key=lambda span: span.start) - 1
        return index if index >= 0 else None

    def _quotation(self, position: int) -> Span | None:
        index = bisect_right(self.quotations, position, key=lambda span: span.start) - 1
        if index < 0 or position >= self.quotations[index].end:
            return None
        return self.quotations[index]


def to_sentences(text: str, span: Span) -> Span | None:
    """Give the whole sentences that a span covers word for word, or nothing."""
    touched = [whole for whole in sentences(text) if whole.overlaps(span)]
    if not touched:
        return None
    whole = Span(touched[0].start, touched[-1].end)
    left = text[whole.start : span.start]
    right = text[span.end : whole.end]
    return None if holds_a_word(left) or holds_a_word(right) else whole
