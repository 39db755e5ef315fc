"""
The sentences that tell what a constraint speaks of, known by the words of its trade.

A constraint on disciplinary records withholds the sentence that has "written warning"
in it. Of words that every text is full of, the hints ("late", "panel"), two different
ones next to each other are needed. A sentence that carries on with a pronoun goes with
the one before it. Mentions of a topic's types count beside any of its cues or hints.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from sdrag.disclosure.constraint_parser import ParsedConstraint, Topic
from sdrag.text.folding import fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Finding, Span

_CARRIES_ON = re.compile(
    r"[\"'(\u201c\u2018]?(?:he|she|it|they|this|that|these|those|his|her|hers|its|their"
    r"|both|neither|none|one of them|such|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_NEAR = 50
"""Characters between two hints that tell a topic together."""
_REMEMBERED = 256


class CuedText(Confidential):
    """
    The sentences of a text, and which of them tell a topic.

    Args:
        text: One passage, or a document.
        parts: Its sentences; found here when missing.
    """

    __slots__ = ("_folded", "_leaning", "_starts", "parts")

    def __init__(self, text: str, parts: Sequence[Span] | None = None) -> None:
        self._folded = fold(text)
        self.parts = sentences(text, cells=True) if parts is None else parts
        self._starts = [part.start for part in self.parts]
        self._leaning = [bool(_CARRIES_ON.match(text, p.start)) for p in self.parts]

    def telling(self, topic: Topic) -> list[int]:
        """Return the indices of the sentences that tell a topic."""
        if not topic.cues:
            return []
        cues, hints = _matchers(topic)
        told = {i for span in cues.find(self._folded) for i in self.indices(span)}
        found = sorted(hints.find(self._folded))
        for first, second in pairwise(found):
            if second.start - first.end <= _NEAR and self._differ(first, second):
                told |= {*self.indices(first)} & {*self.indices(second)}
        return self._with_neighbours(told)

    def beside(self, topic: Topic) -> frozenset[int]:
        """Return the indices of the sentences in which its types count."""
        cues, hints = _matchers(topic)
        spans = (*cues.find(self._folded), *hints.find(self._folded))
        told = {index for span in spans for index in self.indices(span)}
        return frozenset(self._with_neighbours(told))

    def indices(self, span: Span) -> range:
        """Return the indices of the sentences that a span is in."""
        first, last = (
            bisect_right(self._starts, at) for at in (span.start, span.end - 1)
        )
        return range(max(0, first - 1), max(0, last - 1) + 1)

    def _differ(self, first: Span, second: Span) -> bool:
        text = self._folded.original
        return first.of(text).lower() != second.of(text).lower()

    def _with_neighbours(self, told: set[int]) -> list[int]:
        """Add what carries on, and what a sentence that carries on leans on."""
        leaning = self._leaning
        after = {i + 1 for i in told if leaning[i + 1 : i + 2] == [True]}
        before = {i - 1 for i in told if i and leaning[i]}
        return sorted(told | after | before)


def find_by_cue(text: str, asked: Sequence[ParsedConstraint]) -> Iterator[Finding]:
    """Yield every sentence of a passage that tells a topic of a constraint."""
    if not any(parsed.topics for parsed in asked):
        return
    cued = CuedText(text)
    for parsed in asked:
        told = {index for topic in parsed.topics for index in cued.telling(topic)}
        for index in sorted(told):
            yield Finding(cued.parts[index], parsed.constraint.id, "cue")


@lru_cache(maxsize=_REMEMBERED)
def _matchers(topic: Topic) -> tuple[PhraseMatcher, PhraseMatcher]:
    return PhraseMatcher(topic.cues), PhraseMatcher(topic.hints)
