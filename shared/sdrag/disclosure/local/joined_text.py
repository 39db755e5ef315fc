"""
The passages of one document as one text, and what a detector finds in it.

A finding is a fact about a passage of a document. So what is found is found in a
passage or in one of its sentences by itself, where no neighbour can take it away, and
only the scorer reads the whole document too, to find more.

Detectors weigh what is around a word, and a neighbour could be written to tip the
scale. So every passage is read by itself and every sentence is read by itself, and what
either reading finds is found; what is in several places is read once. What is known of
a name from anywhere in the document then holds throughout it: that step only adds.
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
from sdrag.text.spans import shifted
from sdrag.vocabulary import Confidential, Finding, Mention, Passage, Span

__all__ = ["JoinedText", "document_mentions"]

_JOINT = "\n\n"


@dataclass(frozen=True, slots=True, repr=False)
class JoinedText(Confidential):
    """
    The texts of one document.

    Args:
        text: All of them, a blank line between each two.
        passages: Where each is; `None` for an empty one.
        sentences: Where the sentences of each stand, in order.
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
            parts += (
                shifted(span, start) for span in sentences(passage.text, cells=True)
            )
            start = end + len(_JOINT)
        text = _JOINT.join(passage.text for passage in passages)
        return cls(text, tuple(whole), tuple(parts))

    def alone(self) -> tuple[Span, ...]:
        """Return what is read by itself: every passage and every sentence, once."""
        whole = (span for span in self.passages if span is not None)
        return tuple(dict.fromkeys([*whole, *self.sentences]))

    def sentence_at(self, offset: int) -> Span:
        """Return the sentence that a character of a word is in."""
        after = bisect_right(self.sentences, offset, key=attrgetter("start"))
        return self.sentences[max(0, after - 1)]

    def divide(self, findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
        """Return the findings of each passage, in its own offsets, without repeats."""
        divided: list[dict[Finding, None]] = [{} for _ in self.passages]
        indices = [
            (span, own)
            for span, own in zip(self.passages, divided, strict=True)
            if span is not None
        ]
        starts = [span.start for span, _ in indices]
        for finding in findings:
            first = max(0, bisect_right(starts, finding.span.start) - 1)
            for index in range(first, len(indices)):
                whole, own = indices[index]
                if whole.start >= finding.span.end:
                    break
                if whole.overlaps(finding.span):
                    own[_within(finding, whole)] = None
        return [tuple(sorted(own, key=lambda f: f.span)) for own in divided]


def _within(finding: Finding, whole: Span) -> Finding:
    """Return what of a finding lies within a passage, in the passage's offsets."""
    start = max(finding.span.start, whole.start) - whole.start
    end = min(finding.span.end, whole.end) - whole.start
    return replace(finding, span=Span(start, end))


MentionsOutcome = Outcome[tuple[Mention, ...]]


def document_mentions(
    documents: Sequence[JoinedText], detector: Detector
) -> Steps[list[MentionsOutcome]]:
    """
    Find the mentions of each document.

    Returns:
        One outcome a document, in the offsets of its text; a document of which a part
        could not be read is a `Failure`.
    """
    texts = tuple(
        dict.fromkeys(span.of(one.text) for one in documents for span in one.alone())
    )
    outcomes = yield from detector.detect(texts)
    found = dict(zip(texts, outcomes, strict=True))

    def united(document: JoinedText) -> tuple[Mention, ...]:
        mentions: dict[Mention, None] = {}
        for part in document.alone():
            for own in replied(found[part.of(document.text)]):
                span = shifted(own.span, part.start)
                mentions[Mention(span, own.type, own.confidence, own.reason)] = None
        return (*mentions, *later_forms(document.text, mentions))

    return try_each(united, documents)
