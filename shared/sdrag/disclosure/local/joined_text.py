"""
The passages of one document as one text, and what a detector finds in it.

Detectors weigh what is around a word, and a neighbour could be written to tip the
scale. So every passage and every sentence is read by itself, and detections are
unioned. What is known of a name from anywhere in the document then holds throughout it
(document-level propagation), which only adds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Self

from sdrag.detectors import Detector
from sdrag.detectors.local import later_forms
from sdrag.effects.steps import Outcome, Steps, replied, try_each
from sdrag.text.sentences import sentences
from sdrag.text.spans import shift
from sdrag.vocabulary import Confidential, Finding, Mention, Passage, Span

_JOINT = "\n\n"


@dataclass(frozen=True, slots=True, repr=False)
class JoinedText(Confidential):
    """
    The texts of one document.

    Args:
        text: All of them, a blank line between each two.
        passages: The span of each; `None` for an empty one.
        sentences: The spans of the sentences of each, in order.
    """

    text: str
    passages: tuple[Span | None, ...]
    sentences: tuple[Span, ...]

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> Self:
        """Join the texts of passages."""
        whole: list[Span | None] = []
        parts: list[Span] = []
        start = 0
        for passage in passages:
            end = start + len(passage.text)
            whole.append(Span(start, end) if passage.text else None)
            spans = sentences(passage.text, cells=True)
            parts += (shift(span, start) for span in spans)
            start = end + len(_JOINT)
        text = _JOINT.join(passage.text for passage in passages)
        return cls(text, tuple(whole), tuple(parts))

    def alone(self) -> tuple[Span, ...]:
        """Return what is read by itself: every passage and every sentence, once."""
        whole = (span for span in self.passages if span is not None)
        return tuple(dict.fromkeys([*whole, *self.sentences]))

    def sentence_at(self, offset: int) -> int:
        """Return the index of the sentence that a character of a word is in."""
        return max(0, bisect_right(self.sentences, offset, key=_start) - 1)

    def indices(self, span: Span) -> range:
        """Return the indices of the sentences that a span is in."""
        last = self.sentence_at(span.end - 1)
        return range(self.sentence_at(span.start), last + 1)

    def divide(self, findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
        """Return the findings of each passage, in its own offsets, without repeats."""
        divided: list[dict[Finding, None]] = [{} for _ in self.passages]
        filled = [
            (span, part)
            for span, part in zip(self.passages, divided, strict=True)
            if span is not None
        ]
        starts = [span.start for span, _ in filled]
        for finding in findings:
            first = max(0, bisect_right(starts, finding.span.start) - 1)
            for index in range(first, len(filled)):
                whole, part = filled[index]
                if whole.start >= finding.span.end:
                    break
                if whole.overlaps(finding.span):
                    start = max(finding.span.start, whole.start) - whole.start
                    end = min(finding.span.end, whole.end) - whole.start
                    part[replace(finding, span=Span(start, end))] = None
        return [tuple(sorted(part, key=lambda f: f.span)) for part in divided]


_start = attrgetter("start")


def find_mentions(
    documents: Sequence[JoinedText], detector: Detector
) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
    """
    Find the mentions of each document, in the offsets of its text.

    A document of which a part could not be read is a `Failure`.
    """
    texts = tuple(
        dict.fromkeys(part.of(doc.text) for doc in documents for part in doc.alone())
    )
    outcomes = dict(zip(texts, (yield from detector.detect(texts)), strict=True))

    def unite(document: JoinedText) -> tuple[Mention, ...]:
        mentions: dict[Mention, None] = {}
        for part in document.alone():
            for mention in replied(outcomes[part.of(document.text)]):
                mentions[replace(mention, span=shift(mention.span, part.start))] = None
        return (*mentions, *later_forms(document.text, mentions))

    return try_each(unite, documents)
