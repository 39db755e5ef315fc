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

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.local.dossier import Dossier
from sdrag.disclosure.local.reading import Reading
from sdrag.disclosure.local.scorer import Scores, score
from sdrag.sentences import words
from sdrag.steps import Failure, Outcome, Reply, Steps, compute
from sdrag.vocabulary import Confidential, Finding, Span

if TYPE_CHECKING:
    import numpy as np

    Chances = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["scored"]

_LEAST = 0.1
_LEAST_BESIDE_TYPES = 0.2
_LEAST_WHERE_PLAIN = 0.5
_SHARE = 0.2
"""Of the surest word's probability. These four were chosen on the texts that training
kept aside: half as much again withholds a tenth fewer secrets whole, for a quarter
fewer of the other words."""

_PLAIN = 300
_PLAIN_BESIDE_TYPES = 1000
"""So many of the most frequent English words tell nothing."""

_RARE = 8000
"""From this rank on, a word is known again wherever it stands."""

_UNLISTED = 1_000_000
_SHORTEST = 4
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "mx"})


def scored(
    dossier: Dossier, readings: Sequence[Reading]
) -> Steps[Outcome[tuple[Finding, ...]]]:
    """Find what constraints withhold; a scorer that cannot run is a `Failure`."""
    if not readings:
        return Reply(())
    texts = [reading.constraint.text for reading in readings]
    (outcome,) = yield from compute(lambda text: score(text, texts), [dossier.text])
    if isinstance(outcome, Failure):
        return outcome
    return Reply(tuple(_found(dossier.text, readings, outcome.value)))


class _Word(Confidential):
    """A word of the text: where it stands, how it reads, how frequent it is."""

    __slots__ = ("rank", "span", "text")

    def __init__(self, text: str, span: Span) -> None:
        self.text = span.of(text).lower()
        self.span = span
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


def _found(text: str, readings: Sequence[Reading], scores: Scores) -> Iterator[Finding]:
    listed = [_Word(text, span) for span in scores.words]
    for reading, chances in zip(readings, scores.chances, strict=True):
        withheld = _withheld(listed, chances, reading)
        for first, last in _runs(text, listed, withheld):
            chance = max(withheld[place] for place in range(first, last + 1))
            span = Span(listed[first].span.start, listed[last].span.end)
            yield Finding(span, reading.constraint.id, "scored", chance)


def _withheld(
    listed: Sequence[_Word], chances: Chances, reading: Reading
) -> dict[int, float]:
    """Return the places of the words to withhold, and how sure that is."""
    said = {_stem(span.of(reading.subject)) for span in words(reading.subject)}
    least, plain = _LEAST, _PLAIN
    if not reading.meaning:
        least, plain = _LEAST_BESIDE_TYPES, _PLAIN_BESIDE_TYPES
    if reading.plain:
        least = _LEAST_WHERE_PLAIN
    least = max(least, _SHARE * float(chances.max(initial=0.0)))
    sure = {
        place: float(chance)
        for place, (word, chance) in enumerate(zip(listed, chances, strict=True))
        if chance >= least and _stem(word.text) not in said and word.tells(plain)
    }
    again = {
        listed[place].text: chance
        for place, chance in sure.items()
        if listed[place].known_again
    }
    return _everywhere(listed, again) | sure


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
