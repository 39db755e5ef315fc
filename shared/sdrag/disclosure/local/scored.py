"""
What the trained scorer withholds: the words it is sure enough of.

How sure is enough depends on the constraint: a share of what it is of the surest word,
so that a text full of what is nearly meant does not go as a whole, and more where the
constraint names types, which are looked up besides. Both are asked document by
document, so that nobody can plant a passage beside which another one looks harmless.
Words of little meaning hold a sentence together and stay. So do those that the
constraint itself says, unless it says the secret ("that Meyers is ill"): then they are
what has to go. A word that is withheld in one place and is rare enough to be known
again is withheld everywhere: what was cut out of the sentence that tells a secret must
not stand in the next one.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.disclosure.local.scorer import Scores, score
from sdrag.sentences import sentences, words
from sdrag.steps import Failure, Outcome, Reply, Steps, compute
from sdrag.vocabulary import Confidential, Finding, Span

if TYPE_CHECKING:
    import numpy as np

    Chances = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["CAUTIONS", "Caution", "scored"]

_LEAST_WHERE_PLAIN = 0.5
_PLAIN_BESIDE_TYPES = 1000
"""So many of the most frequent English words tell nothing beside types."""

_LITTLE = 200
"""So many of the most frequent English words state nothing."""

_RARE = 8000
"""From this rank on, a word is known again wherever it stands."""

_ALL = sys.maxsize
_SHORTEST = 4
_PLURALS_IN_ES = ("sses", "shes", "ches", "xes")
_LONE_WORDS = frozenset({"A", "I"})
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "mx"})


@dataclass(frozen=True, slots=True)
class Caution:
    """
    How sure the scorer must be.

    Args:
        least: The least probability of a word.
        beside_types: The same where types are looked up besides.
        share: Of the surest word's probability.
        plain: So many of the most frequent English words tell nothing.
        sentences: In how many sentences of a document a constraint is told, those with
            the most.
    """

    least: float
    beside_types: float
    share: float
    plain: int
    sentences: int = _ALL


CAUTIONS: Mapping[str, Caution] = {
    "high": Caution(least=0.05, beside_types=0.2, share=0.1, plain=300),
    "balanced": Caution(
        least=0.3, beside_types=0.5, share=0.4, plain=2000, sentences=2
    ),
}
"""By the names of a policy. Both were chosen on the packaged articles and on those of
benchmarks/articles, where those kept aside counted by their sums: `balanced` withholds
at most a tenth of the words that tell no secret."""


def scored(
    dossier: Dossier, readings: Sequence[Reading], caution: Caution
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find what constraints withhold; a scorer that cannot run is a `Failure`."""
    if not readings:
        return Reply(())
    texts = [reading.constraint.text for reading in readings]
    (outcome,) = yield from compute(lambda text: score(text, texts), [dossier.text])
    if isinstance(outcome, Failure):
        return outcome
    return Reply(tuple(_found(dossier, readings, outcome.value, caution)))


class _Word(Confidential):
    """A word of the text: where it stands, how it reads, how frequent it is."""

    __slots__ = ("document", "initial", "rank", "sentence", "span", "text")

    def __init__(self, text: str, span: Span, document: int, sentence: int) -> None:
        said = span.of(text)
        self.text = said.lower()
        self.initial = len(said) == 1 and said.isupper() and said not in _LONE_WORDS
        self.span = span
        self.document = document
        self.sentence = sentence
        ranks = common_words()
        self.rank = ranks.get(self.text, len(ranks))

    def tells(self, plain: int) -> bool:
        """Say whether it means something by itself; what is no plain word does."""
        if not self.text.isalpha():
            return any(map(str.isalnum, self.text))
        if len(self.text) == 1:
            return self.initial
        return self.rank >= plain and self.text not in _TITLES

    @property
    def known_again(self) -> bool:
        """Whether it means the same wherever it stands."""
        return self.rank >= _RARE and len(self.text) >= _SHORTEST


def _found(
    dossier: Dossier, readings: Sequence[Reading], scores: Scores, caution: Caution
) -> Iterator[Finding]:
    text = dossier.text
    starts = [sentence.start for sentence in sentences(text)]
    listed = [
        _Word(
            text,
            span,
            dossier.document_at(span.start),
            bisect_right(starts, span.start),
        )
        for span in scores.words
    ]
    for reading, chances in zip(readings, scores.chances, strict=True):
        withheld = _withheld(listed, chances, reading, caution)
        for first, last in _runs(text, listed, withheld):
            chance = max(withheld[place] for place in range(first, last + 1))
            span = Span(listed[first].span.start, listed[last].span.end)
            yield Finding(span, reading.constraint.id, "scored", chance)


def _withheld(
    listed: Sequence[_Word], chances: Chances, reading: Reading, caution: Caution
) -> dict[int, float]:
    """Return the places of the words to withhold, and how sure that is."""
    said = _stems(reading.subject)
    least, plain = _asked_of(reading, caution)
    told: dict[int, float] = {}
    for places in _by_document(listed):
        own = {place: float(chances[place]) for place in places}
        enough = max(least, caution.share * max(own.values()))
        sure = {
            place: chance
            for place, chance in own.items()
            if chance >= enough
            and _stem(listed[place].text) not in said
            and listed[place].tells(plain)
        }
        told |= _in_few_sentences(listed, sure, caution.sentences)
    again = {
        listed[place].text: chance
        for place, chance in told.items()
        if listed[place].known_again
    }
    stated = _stems(reading.statement)
    told |= {
        place: 1.0
        for place, word in enumerate(listed)
        if _stem(word.text) in stated and word.tells(_LITTLE)
    }
    return _everywhere(listed, again) | told


def _by_document(listed: Sequence[_Word]) -> Iterable[Sequence[int]]:
    places: dict[int, list[int]] = {}
    for place, word in enumerate(listed):
        places.setdefault(word.document, []).append(place)
    return places.values()


def _asked_of(reading: Reading, caution: Caution) -> tuple[float, int]:
    """Return the least probability of a word, and the rank from which it tells."""
    if reading.meaning:
        return caution.least, caution.plain
    plain = max(caution.plain, _PLAIN_BESIDE_TYPES)
    return (_LEAST_WHERE_PLAIN if reading.plain else caution.beside_types), plain


def _in_few_sentences(
    listed: Sequence[_Word], sure: Mapping[int, float], most: int
) -> dict[int, float]:
    """Keep what stands in the sentences that tell most."""
    told: dict[int, float] = {}
    for place, chance in sure.items():
        sentence = listed[place].sentence
        told[sentence] = told.get(sentence, 0.0) + chance
    best = set(nlargest(most, told, key=lambda sentence: told[sentence]))
    return {p: chance for p, chance in sure.items() if listed[p].sentence in best}


def _everywhere(listed: Sequence[_Word], again: dict[str, float]) -> dict[int, float]:
    """Return every place where one of some words stands."""
    return {
        place: again[word.text]
        for place, word in enumerate(listed)
        if word.text in again
    }


def _runs(
    text: str, listed: Sequence[_Word], withheld: dict[int, float]
) -> Iterator[tuple[int, int]]:
    """Yield first and last word of what belongs together, as `88,500` does."""
    run: tuple[int, int] | None = None
    for place in sorted(withheld):
        if run and place == run[1] + 1 and _touch(text, listed[run[1]], listed[place]):
            run = (run[0], place)
            continue
        if run:
            yield run
        run = (place, place)
    if run:
        yield run


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(span.of(text)) for span in words(text))


def _stem(word: str) -> str:
    """Return a noun without the ending of the plural."""
    lower = word.lower()
    if lower.endswith(_PLURALS_IN_ES):
        return lower[:-2]
    if lower.endswith("ies"):
        return f"{lower[:-3]}y"
    return lower if lower.endswith("ss") else lower.removesuffix("s")


def _touch(text: str, one: _Word, other: _Word) -> bool:
    between = text[one.span.end : other.span.start]
    return len(between) <= 1 and not between.isspace()
