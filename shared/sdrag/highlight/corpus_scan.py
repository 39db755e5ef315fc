"""
The knowledge-base scan: what an attacker could ever make the summarizer read.

Section 9: "the system designer can scan their knowledge base for potential triggers, by
inspecting each document via a (sequential) sliding window based on what the highlighter
is allowed to highlight". A window is a sentence, a pair of sentences, or a run of words
of a long sentence, from its first word on, which is what a cut can leave of it. A judge
says how much each window reads like an instruction; above a threshold it is an alarm.

Highlights of two passages stand one below the other in the summarizer's prompt, so the
end of a chunk and the beginning of the next are a window too: an instruction that a
splitter cut in two is whole again there. The scan is lazy: passages go in one by one
and alarms come out as they are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sdrag.highlight.boundaries import count_words
from sdrag.text.sentences import sentences, words
from sdrag.vocabulary import Passage, Span

_RUN = 16
"""Words of a window in a sentence; each starts half a window after the last."""

Judge = Callable[[str, Sequence[Span]], Sequence[float]]
"""
Says of each span of a text, from 0 to 1, how much it reads like an instruction.
"""


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    A stretch that a summarizer could take as an instruction; no content.

    Args:
        passage_id: Where it is, or begins.
        span: Its place there.
        score: From 0 to 1.
        runs_into: The passage it ends in, if that is the next one.
    """

    passage_id: str
    span: Span
    score: float
    runs_into: str | None = None


def scan(
    passages: Iterable[Passage],
    judge: Judge,
    *,
    threshold: float = 0.5,
    min_words: int = 3,
) -> Iterator[Alarm]:
    """
    Yield the alarms of each passage; of windows that overlap, the surest.

    Args:
        passages: The corpus, chunks of one document in their order; read one by one.
        judge: Scores windows.
        threshold: The least score of an alarm.
        min_words: Shorter windows cannot be highlighted.
    """
    before: Passage | None = None
    for passage in passages:
        if before is not None and before.document_id == passage.document_id:
            yield from _at_joint(before, passage, judge, threshold, min_words)
        spans = windows(passage.text, min_words)
        scores = judge(passage.text, spans)
        yield from _apart(
            Alarm(passage.id, span, float(score))
            for span, score in zip(spans, scores, strict=True)
            if score >= threshold
        )
        before = passage


def windows(text: str, min_words: int = 3) -> list[Span]:
    """Give the windows of a text that can be highlighted."""
    whole = sentences(text)
    spans = [*whole, *(Span(item.start, after.end) for item, after in pairwise(whole))]
    for sentence in whole:
        places = words(sentence.of(text))
        longer = len(places) > _RUN
        for start in range(0, (len(places) - min_words + 1) * longer, _RUN // 2):
            last = places[min(start + _RUN, len(places)) - 1]
            spans.append(
                Span(sentence.start + places[start].start, sentence.start + last.end)
            )
    return _quotable(text, sorted(set(spans)), min_words)


def _quotable(text: str, spans: Iterable[Span], min_words: int) -> list[Span]:
    """Return the spans that verification would let through."""
    return [span for span in spans if count_words(text, span) >= min_words]


def _at_joint(
    left: Passage,
    right: Passage,
    judge: Judge,
    threshold: float,
    min_words: int,
) -> Iterator[Alarm]:
    """Yield an alarm if two ends are an instruction together, and neither is alone."""
    ends = _quotable(left.text, sentences(left.text)[-1:], min_words)
    begins = _quotable(right.text, sentences(right.text)[:1], min_words)
    if not (ends and begins):
        return
    parts = (ends[0].of(left.text), begins[0].of(right.text))
    together = "\n".join(parts)
    alone = max(
        float(score) for part in parts for score in judge(part, [Span(0, len(part))])
    )
    (score,) = judge(together, [Span(0, len(together))])
    if score >= threshold > alone:
        yield Alarm(left.id, ends[0], float(score), right.id)


def _apart(alarms: Iterable[Alarm]) -> Iterator[Alarm]:
    """Keep of overlapping alarms the surest, and of equals the shortest."""
    kept: list[Alarm] = []
    for alarm in sorted(alarms, key=lambda item: (-item.score, len(item.span))):
        if not any(alarm.span.overlaps(other.span) for other in kept):
            kept.append(alarm)
    yield from sorted(kept, key=lambda item: item.span)
