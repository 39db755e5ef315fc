"""
What the trained scorer withholds: the words it is sure enough of.

How sure is enough depends on the constraint: a share of what it is of the surest word,
so that a text full of what is nearly meant does not go as a whole, and more where the
constraint names types, which are looked up besides. Words of little meaning hold a
sentence together and stay, as do those that the constraint itself says. A word that is
withheld in one place and is rare enough to be known again is withheld everywhere: what
was cut out of the sentence that tells a secret must not stand in the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
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

_RARE = 8000
"""From this rank on, a word is known again wherever it stands."""

_UNLISTED = 1_000_000
_ALL = 1_000_000
_SHORTEST = 4
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
        sentences: In how many sentences a constraint is told, those with the most.
    """

    least: float
    beside_types: float
    share: float
    plain: int
    sentences: int = _ALL


CAUTIONS: Mapping[str, Caution] = {
    "high": Caution(least=0.1, beside_types=0.2, share=0.2, plain=300),
    "balanced": Caution(
        least=0.3, beside_types=0.5, share=0.4, plain=3000, sentences=2
    ),
}
"""By the names of a policy. `high` was chosen on the texts that training kept aside,
`balanced` on the packaged articles that are not kept aside."""


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
    return Reply(tuple(_found(dossier.text, readings, outcome.value, caution)))


class _Word(Confidential):
    """A word of the text: where it stands, how it reads, how frequent it is."""

    __slots__ = ("rank", "sentence", "span", "text")

    def __init__(self, text: str, span: Span, sentence: int) -> None:
        self.text = span.of(text).lower()
        self.span = span
        self.sentence = sentence
        self.rank = common_words().get(self.text, _UNLISTED)

    def tells(self, plain: int) -> bool:
        """Say whether it means something by itself."""
        if self.text[0].isdigit():
            return True
        word = self.text.isalpha() and len(self.text) > 1 and self.rank >= plain
        return word and self.text not in _TITLES

    @property
    def known_again(self) -> bool:
        """Whether it means the same wherever it stands."""
        return self.rank >= _RARE and len(self.text) >= _SHORTEST


def _found(
    text: str, readings: Sequence[Reading], scores: Scores, caution: Caution
) -> Iterator[Finding]:
    starts = [sentence.start for sentence in sentences(text)]
    listed = [
        _Word(text, span, bisect_right(starts, span.start)) for span in scores.words
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
    said = {_stem(span.of(reading.subject)) for span in words(reading.subject)}
    least, plain = _asked_of(reading, caution)
    least = max(least, caution.share * float(chances.max(initial=0.0)))
    sure = {
        place: float(chance)
        for place, (word, chance) in enumerate(zip(listed, chances, strict=True))
        if chance >= least and _stem(word.text) not in said and word.tells(plain)
    }
    told = _in_few_sentences(listed, sure, caution.sentences)
    again = {
        listed[place].text: chance
        for place, chance in told.items()
        if listed[place].known_again
    }
    return _everywhere(listed, again) | told


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


def _stem(word: str) -> str:
    return word.lower().removesuffix("s")


def _touch(text: str, one: _Word, other: _Word) -> bool:
    between = text[one.span.end : other.span.start]
    return len(between) <= 1 and not between.isspace()
