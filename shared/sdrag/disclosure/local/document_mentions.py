"""
What a detector finds in a document, passage by passage and sentence by sentence.

Detectors weigh what stands around a word, and a neighbour could be written to tip the
scale. So every passage is read by itself and every sentence is read by itself, and what
either reading finds is found. What is known of a name from anywhere in the document
then holds throughout it: that step only adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdrag.detectors import Detector
from sdrag.detectors.local import later_forms
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.spans import shifted
from sdrag.steps import Failure, Outcome, Reply, Steps
from sdrag.vocabulary import Mention, Span

__all__ = ["document_mentions"]

Found = Outcome[tuple[Mention, ...]]


def document_mentions(
    documents: Sequence[JoinedText], detector: Detector
) -> Steps[list[Found]]:
    """
    Find the mentions of each document.

    Returns:
        One outcome a document, in the offsets of its text; a document of which a part
        could not be read is a `Failure`.
    """
    parts = [(document, span) for document in documents for span in document.alone()]
    outcomes = yield from detector.detect(
        [span.of(document.text) for document, span in parts]
    )
    found = iter(zip(parts, outcomes, strict=True))
    return [
        _united(document, [next(found) for _ in document.alone()])
        for document in documents
    ]


def _united(
    document: JoinedText,
    read: Iterable[tuple[tuple[JoinedText, Span], Found]],
) -> Found:
    mentions: dict[Mention, None] = {}
    for (_, part), outcome in read:
        if isinstance(outcome, Failure):
            return outcome
        for found in outcome.value:
            span = shifted(found.span, part.start)
            own = Mention(span, found.type, found.confidence, found.reason)
            mentions[own] = None
    return Reply((*mentions, *later_forms(document.text, mentions)))
