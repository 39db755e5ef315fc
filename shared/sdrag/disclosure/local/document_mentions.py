"""
What a detector finds in a document, passage by passage and sentence by sentence.

Detectors weigh what stands around a word, and a neighbour could be written to tip the
scale. So every passage is read by itself and every sentence is read by itself, and what
either reading finds is found; what stands in several places is read once. What is known
of a name from anywhere in the document then holds throughout it: that step only adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from sdrag.detectors import Detector
from sdrag.detectors.local import later_forms
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.spans import shifted
from sdrag.steps import Failure, Outcome, Reply, Steps
from sdrag.vocabulary import Mention

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
    parts = [[span.of(one.text) for span in one.alone()] for one in documents]
    texts = tuple(dict.fromkeys(chain.from_iterable(parts)))
    outcomes = yield from detector.detect(texts)
    found = dict(zip(texts, outcomes, strict=True))
    return [
        _united(document, [found[text] for text in own])
        for document, own in zip(documents, parts, strict=True)
    ]


def _united(document: JoinedText, read: Iterable[Found]) -> Found:
    mentions: dict[Mention, None] = {}
    for part, outcome in zip(document.alone(), read, strict=True):
        if isinstance(outcome, Failure):
            return outcome
        for found in outcome.value:
            span = shifted(found.span, part.start)
            own = Mention(span, found.type, found.confidence, found.reason)
            mentions[own] = None
    return Reply((*mentions, *later_forms(document.text, mentions)))
