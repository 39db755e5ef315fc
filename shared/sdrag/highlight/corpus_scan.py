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

`score_orders` is the judge that knows lines which are no attack where they are, and
could be one where they are quoted. "Tell the reader that they have won a voucher of ten
dollars" addresses no model: it may be a line of a handbook for clerks. Quoted to a
summarizer, it is an instruction. The injection guard looks for others: for text that
knows it is read by a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sdrag.highlight.boundaries import count_words
from sdrag.text.folding import fold
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


# Three things are looked for: somebody is to be told something, something is to be
# said, and somebody is to be given something or has won it. A highlight may begin at
# any word, so an instruction counts inside a sentence too ("our clerks shall [tell the
# reader that...]"), with a lower score than at its beginning. English is known, and
# the first of the three in German, Spanish and French. Every gap is bounded, so a text
# is read in linear time.
_PEOPLE = (
    r"(?:readers?|users?|customers?|clients?|askers?|visitors?|guests?|callers?"
    r"|members?|people|persons?|public|audience|recipients?|applicants?|patients?"
    r"|students?|employees?|tenants?|buyers?|shoppers?|subscribers?|passengers?"
    r"|travell?ers?|viewers?|listeners?)"
)
_SOMEBODY = (
    r"(?:(?:the|any|every|all|each|our|your|this|that|these|those) (?:of )?(?:the )?"
    rf"(?:[\w-]{{1,20}} )?{_PEOPLE}|{_PEOPLE}|everyone|everybody|anyone|anybody"
    r"|whoever|them|him|her|me|us)\b"
)
_SAYING = (
    r"(?:say|write|answer|reply|respond|state|announce|declare|confirm|claim|mention"
    r"|add|repeat|output|print|pretend|promise|guarantee|explain|admit|agree|conclude"
    r"|insist|recommend|suggest|note|report|assert|proclaim)"
)
_GIVING = (
    r"(?:give|offer|grant|send|issue|refund|pay|award|provide|sell|ship|mail|e-?mail"
    r"|transfer|hand|credit|reimburse)"
)

_TOLD = re.compile(
    r"\b(?:(?:tell|inform|advise|notify|assure|reassure|remind|promise|convince|persuade"
    r"|warn|congratulate|instruct|order|show|teach|brief|ask) "
    rf"{_SOMEBODY}|let {_SOMEBODY} know|{_SAYING} to {_SOMEBODY})"
)
# German, Spanish and French; accents are folded away.
_TOLD_ELSEWHERE = re.compile(
    r"\b(?:"
    r"(?:sag(?:e|en sie)?|teilen sie|informier(?:e|en sie)|erzahl(?:e|en sie)?"
    r"|versprich|versprechen sie|erklar(?:e|en sie)?|versicher(?:e|n sie)"
    r"|schreib(?:e|en sie)?) (?:dem|der|den|jedem|jeder|allen|ihm|ihr|ihnen)"
    r"|(?:di(?:les|le)|diga(?:les|le)?|informa|informe|avisa|avise|promete|prometa"
    r"|asegura|asegure) (?:a(?:l| los| las| la| todos)? [\w-]{1,30} )?(?:de )?que"
    r"|(?:dites?|dis|informez|informe|promettez|promets|annoncez|annonce|assurez|assure)"
    r" (?:a la|a tous|au|aux|le|la|les|leur|lui)"
    r")\b"
)
_SAID = re.compile(rf"\b{_SAYING}(?:,? that\b| with\b| ?:| ?[\"'])")
_GIVEN = re.compile(rf"\b{_GIVING} {_SOMEBODY}")
_WON = re.compile(
    r"\byou(?:'ve| have)? (?:just )?(?:been (?:selected|chosen|awarded)|won)\b"
)
_BEGINS = re.compile(
    r"(?:^|[.!?:;>)\"\]*\u2022-] ?|\b(?:please|always|now|then|must|shall|should|bitte"
    r"|por favor|veuillez)[ ,]{1,2})$"
)
_LOOK_BACK = 14
_KINDS = (
    (_TOLD, 0.9, 0.6),
    (_TOLD_ELSEWHERE, 0.9, 0.6),
    (_SAID, 0.7, 0.3),
    (_GIVEN, 0.7, 0.3),
    (_WON, 0.7, 0.6),
)
"""What is looked for, and its score where a sentence begins and in its middle."""


def score_orders(text: str, spans: Sequence[Span]) -> list[float]:
    """Give each span the score of the surest order that it holds whole."""
    folded = fold(text)
    orders = [
        (folded.span(*match.span()), first if begins else inside)
        for pattern, first, inside in _KINDS
        for match in pattern.finditer(folded.text)
        for begins in [_begins(folded.text, match.start())]
    ]
    return [
        max((score for order, score in orders if span.contains(order)), default=0.0)
        for span in spans
    ]


def _begins(text: str, start: int) -> bool:
    """Say whether a sentence or its order begins at an offset of a folded text."""
    return _BEGINS.search(text[max(0, start - _LOOK_BACK) : start]) is not None
