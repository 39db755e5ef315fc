"""
What a detector finds in a document, passage by passage and sentence by sentence.

Detectors weigh what stands around a word, and a neighbour could be written to tip the
scale. So every passage is read by itself and every sentence is read by itself, and what
either reading finds is found; what stands in several places is read once. What is known
of a name from anywhere in the document then holds throughout it: that step only adds.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.detectors import Detector
from sdrag.detectors.local import later_forms
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.engine.deadlines import check_time
from sdrag.engine.steps import Outcome, Steps, compute, replied
from sdrag.text.spans import shifted
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
        check_time()
        return (*mentions, *later_forms(document.text, mentions))

    return list((yield from compute(united, documents)))
