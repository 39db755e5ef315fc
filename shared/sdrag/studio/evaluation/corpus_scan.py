"""
The corpus scan: what an attacker could ever make the summarizer read.

Highlight & Summarize, section 9: "the system designer can scan their knowledge base for
potential triggers, by inspecting each document via a (sequential) sliding window based
on what the highlighter is allowed to highlight". A window is a sentence, a pair of
sentences, or a run of words of a long sentence, from its first word on, which is what a
cut can leave of it. The injection guard says how much each reads like an instruction;
above a threshold it is an alarm, for a person to look at. Nothing is changed.

Highlights of two passages stand one below the other in the summarizer's prompt, so the
end of a chunk and the beginning of the next are a window too: an instruction that a
splitter cut in two is whole again there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from sdrag.guardrails.contradictions.corpus import Contradiction
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text
from sdrag.highlight.quote_matching import count_words
from sdrag.policy import Policy, PolicySource
from sdrag.text.sentences import sentences, words
from sdrag.vocabulary import Passage, Span

_RUN = 16
"""Words of a window in a sentence; each starts half a window after the last."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    A stretch that a summarizer could take as an instruction; no content.

    `runs_into`: the passage it ends in, if that is the next one.
    """

    passage_id: str
    span: Span
    score: float
    runs_into: str | None = None


F = TypeVar("F", Alarm, Contradiction)


def scan_passages(
    passages: Iterable[Passage], policy: PolicySource | None = None
) -> Iterator[Alarm]:
    """
    Yield what a model could take as an instruction, as it is found.

    Of windows that overlap, the surest is an alarm.

    Args:
        passages: The corpus, chunks of one document in their order; read one by one.
        policy: Its `highlight` section says what can be highlighted. With an
            `injection` section, its threshold and its local classifier are used;
            without, patterns alone, which need no model, and a threshold of 0.5.

    Raises:
        PolicyError: The policy cannot be read.
    """
    read = Policy.read(policy if policy is not None else {})
    section = read.injection or InjectionSection(local_classifier=False)
    least = read.highlight.least_words
    before: Passage | None = None
    for passage in passages:
        if before is not None and before.document_id == passage.document_id:
            yield from _at_joint(before, passage, section, least)
        spans = _windows(passage.text, least)
        scores = _scores(passage.text, spans, section)
        yield from _apart(
            Alarm(passage.id, span, score)
            for span, score in zip(spans, scores, strict=True)
            if score >= section.threshold
        )
        before = passage


def write_found(report: Path | None, found: Iterable[F]) -> Iterator[F]:
    """Yield what is found as it is written to a report, one JSON object a line."""
    file = nullcontext() if report is None else report.open("w", encoding="utf-8")
    with file as lines:
        for item in found:
            if lines is not None:
                lines.write(json.dumps(asdict(item)) + "\n")
                lines.flush()
            yield item


def _scores(text: str, spans: Sequence[Span], section: InjectionSection) -> list[float]:
    """
    Return how much each span of a text reads like an instruction, from 0 to 1.

    Patterns read each span alone. The local classifier, where the section has it, looks
    for what does not belong, so it reads the text as a whole, and a span has the score
    of what it shares a word with.
    """
    patterns = section.model_copy(update={"local_classifier": False})
    alone = [scan_text(span.of(text), patterns).score for span in spans]
    if not section.local_classifier:
        return alone
    whole = scan_text(text, section).suspicions
    return [
        max([score, *(s.score for s in whole if s.span.overlaps(span))])
        for score, span in zip(alone, spans, strict=True)
    ]


def _windows(text: str, least: int) -> list[Span]:
    """Return the windows of a text that can be highlighted."""
    whole = sentences(text)
    spans = [*whole, *(Span(item.start, after.end) for item, after in pairwise(whole))]
    for sentence in whole:
        places = words(sentence.of(text))
        longer = len(places) > _RUN
        for start in range(0, (len(places) - least + 1) * longer, _RUN // 2):
            last = places[min(start + _RUN, len(places)) - 1]
            spans.append(
                Span(sentence.start + places[start].start, sentence.start + last.end)
            )
    return _quotable(text, sorted(set(spans)), least)


def _quotable(text: str, spans: Iterable[Span], least: int) -> list[Span]:
    """Return the spans that verification would let through."""
    return [span for span in spans if count_words(text, span) >= least]


def _at_joint(
    left: Passage, right: Passage, section: InjectionSection, least: int
) -> Iterator[Alarm]:
    """Yield an alarm if two ends are an instruction together, and neither is alone."""
    ends = _quotable(left.text, sentences(left.text)[-1:], least)
    begins = _quotable(right.text, sentences(right.text)[:1], least)
    if not (ends and begins):
        return
    end, begin = ends[0].of(left.text), begins[0].of(right.text)
    first, second, together = (
        _scores(text, [Span(0, len(text))], section)[0]
        for text in (end, begin, f"{end}\n{begin}")
    )
    if together >= section.threshold > max(first, second):
        yield Alarm(left.id, ends[0], together, right.id)


def _apart(alarms: Iterable[Alarm]) -> Iterator[Alarm]:
    """Keep of overlapping alarms the surest, and of equals the shortest."""
    kept: list[Alarm] = []
    for alarm in sorted(alarms, key=lambda item: (-item.score, len(item.span))):
        if not any(alarm.span.overlaps(other.span) for other in kept):
            kept.append(alarm)
    yield from sorted(kept, key=lambda item: item.span)
