"""
The sentences that tell what a constraint speaks of, known by the words of its trade.

A constraint on disciplinary records withholds the sentence that has "written warning"
in it: which of its words is the secret nobody can tell, so all of it goes but words so
frequent that they tell nothing. Of the words that every text is full of ("said",
"days"), two different ones are needed. A sentence that carries on with a pronoun goes
with the one it leans on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.text.folding import Folded, fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences, words
from sdrag.text.spans import shifted
from sdrag.vocabulary import Finding, Span

__all__ = ["cued"]

_CARRIES_ON = re.compile(
    r"[\"'(\u201c\u2018]?(?:he|she|it|they|this|that|these|those|his|her|hers|its|their"
    r"|both|neither|none|one of them|such|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_ORDINARY = 2000
"""So many of the most frequent English words are in every text."""
_ENOUGH = 2
_REMEMBERED = 256


def cued(
    text: str, asked: Sequence[ParsedConstraint], plain: int = 0
) -> Iterator[Finding]:
    """
    Yield every sentence in which cues of a constraint are.

    Args:
        text: One passage.
        asked: All constraints.
        plain: So many of the most frequent English words stay in such a sentence.
    """
    if not any(parsed.cues for parsed in asked):
        return
    folded = fold(text)
    parts = sentences(text, cells=True)
    leaning = [bool(_CARRIES_ON.match(text, part.start)) for part in parts]
    for parsed in asked:
        if parsed.cues:
            for index in _with_neighbours(_told(folded, parts, parsed.cues), leaning):
                for span in _telling(text, parts[index], plain):
                    yield Finding(span, parsed.constraint.id, "cue")


def _telling(text: str, sentence: Span, plain: int) -> Iterator[Span]:
    if not plain:
        yield sentence
        return
    ranks = common_words()
    for word in words(sentence.of(text)):
        span = shifted(word, sentence.start)
        if ranks.get(span.of(text).lower(), plain) >= plain:
            yield span


@lru_cache(maxsize=_REMEMBERED)
def _needles(cues: frozenset[str]) -> tuple[PhraseMatcher, PhraseMatcher]:
    """Return the cues that tell alone, and the others."""
    ranks = common_words()
    ordinary = {cue for cue in cues if ranks.get(cue, _ORDINARY) < _ORDINARY}
    return PhraseMatcher(cues - ordinary), PhraseMatcher(ordinary)


def _told(folded: Folded, parts: Sequence[Span], cues: frozenset[str]) -> set[int]:
    """Return the indices of the sentences that tell."""
    starts = [part.start for part in parts]

    def indices(span: Span) -> range:
        first, last = (bisect_right(starts, at) for at in (span.start, span.end - 1))
        return range(max(0, first - 1), max(0, last - 1) + 1)

    telling, ordinary = _needles(cues)
    told = {index for span in telling.find(folded) for index in indices(span)}
    heard = {
        (index, span.of(folded.original).lower())
        for span in ordinary.find(folded)
        for index in indices(span)
    }
    often = Counter(index for index, _ in heard)
    return told | {index for index, times in often.items() if times >= _ENOUGH}


def _with_neighbours(told: set[int], leaning: Sequence[bool]) -> list[int]:
    """Add what carries on, and what a sentence that carries on leans on."""
    after = {index + 1 for index in told if leaning[index + 1 : index + 2] == [True]}
    before = {index - 1 for index in told if index and leaning[index]}
    return sorted(told | after | before)
