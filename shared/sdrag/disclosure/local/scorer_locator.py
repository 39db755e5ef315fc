"""
What the trained scorer withholds: the words it is sure enough of.

Each document is read twice, sentence by sentence and as a whole. What a sentence alone
gives away is withheld whatever is around it; reading the whole adds what only its
context tells, and a document of one sentence has no context. How sure is enough depends
on the constraint: a share of what it is of the surest word of the same reading, so that
a text full of what is nearly meant does not go as a whole, and more where the
constraint names types, which are looked up too.

Frequent words hold a sentence together, and seldom is one of them the secret: the more
frequent a word is, the surer the scorer must be, and the most frequent stay. So do
those that the constraint itself says, unless it says the secret ("that Meyers is ill"):
then they are what has to go. A word that is withheld in one place and is rare enough to
be known again is withheld throughout its document: what was cut out of the sentence
that tells a secret must not be in the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Self

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.local.scorer import Scores, score
from sdrag.engine.steps import Outcome, Reply, Steps, compute
from sdrag.text.sentences import words
from sdrag.vocabulary import Confidential, Finding, Span

if TYPE_CHECKING:
    import numpy as np

    Chances = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Thresholds", "scored"]

_Minimum = tuple[float, float]

_LEAST_WHERE_PLAIN = 0.5
_PLAIN_WITH_TYPES = 1000
"""So many of the most frequent English words tell nothing next to types."""

_LITTLE = 200
"""So many of the most frequent English words state nothing."""

_TELLING = 6000
"""From this rank on, a word is taken for as sure as the scorer is; before it, for less,
in proportion to its rank."""

_RARE = 4000
"""From this rank on, a word is known again wherever it is."""

_SHORTEST = 4
_PLURALS_IN_ES = ("sses", "shes", "ches", "xes")
_LONE_WORDS = frozenset({"A", "I"})
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "mx"})


@dataclass(frozen=True, slots=True)
class Sureness:
    """
    How sure one of the two readings must be.

    Args:
        least: The least chance of a word.
        with_types: The same where types are looked up too.
        share: Of the surest word's chance.
    """

    least: float
    with_types: float
    share: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """
    How sure the scorer must be.

    Args:
        alone: Reading a sentence by itself; that holds in every document.
        whole: Reading all of a document.
        plain: So many of the most frequent English words tell nothing.
        plain_in_cued: So many of them stay in a sentence that a cue gives away.
    """

    alone: Sureness
    whole: Sureness
    plain: int
    plain_in_cued: int

    @classmethod
    def at(cls, sensitivity: float) -> Self:
        """
        Return the thresholds at a sensitivity.

        Each lies on the line through its two measured values, at 0.5 and at 1, and none
        rises with the sensitivity: a higher one never withholds less.

        Args:
            sensitivity: From 0 to 1.
        """
        low, high = _MEASURED

        def between(one: float, other: float) -> float:
            share = 2 * sensitivity - 1
            return share * other + (1 - share) * one

        def sureness(one: Sureness, other: Sureness) -> Sureness:
            return Sureness(*map(between, astuple(one), astuple(other)))

        return cls(
            sureness(low.alone, high.alone),
            sureness(low.whole, high.whole),
            round(between(low.plain, high.plain)),
            round(between(low.plain_in_cued, high.plain_in_cued)),
        )


_MEASURED = (
    Thresholds(
        alone=Sureness(least=0.3, with_types=0.5, share=0.3),
        whole=Sureness(least=0.1, with_types=0.3, share=0.3),
        plain=300,
        plain_in_cued=4000,
    ),
    Thresholds(
        alone=Sureness(least=0.05, with_types=0.3, share=0.1),
        whole=Sureness(least=0.01, with_types=0.1, share=0.025),
        plain=300,
        plain_in_cued=2000,
    ),
)
"""At the sensitivities 0.5 and 1. Both were chosen, each article read whole, on the
packaged articles, on those of benchmarks/articles but the unseen ones (of those kept
aside by their sums) and on 96 of the marked ones of benchmarks/scorer/articles."""


def scored(
    documents: Sequence[JoinedText],
    asked: Sequence[ParsedConstraint],
    thresholds: Thresholds,
) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """
    Find what constraints withhold; what the scorer cannot read is a `Failure`.

    Args:
        documents: Each is read by itself.
        asked: The constraints.
        thresholds: How sure the scorer must be.
    """
    if not asked:
        return [Reply(()) for _ in documents]
    texts = [parsed.constraint.text for parsed in asked]

    def found(document: JoinedText) -> tuple[Finding, ...]:
        whole, *alone = score(_parts(document), texts)
        alone = alone or [whole] * len(document.sentences)
        read = _ScoredDocument(document, whole, alone)
        return tuple(_found(read, asked, thresholds))

    outcomes = yield from compute(found, documents)
    return list(outcomes)


def _parts(document: JoinedText) -> list[str]:
    """Return a document and its sentences; a sentence alone is read once."""
    parts = [span.of(document.text) for span in document.sentences]
    return [document.text] if parts == [document.text] else [document.text, *parts]


class _ScoredDocument(Confidential):
    """
    A document's words, and how sure each is in both readings, by its rank too.

    Args:
        document: What was read.
        whole: Its scores.
        alone: Those of its sentences.
    """

    __slots__ = ("alone", "document", "starts", "whole", "words")

    def __init__(
        self, document: JoinedText, whole: Scores, alone: Sequence[Scores]
    ) -> None:
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        self.document = document
        self.words = [_Word(document.text, span) for span in whole.words]
        weights = np.array([word.weight for word in self.words], dtype=np.float32)
        self.whole: Matrix = whole.chances * weights
        begins = [word.span.start for word in self.words]
        # Where each sentence begins among the words, for those that have any.
        self.starts: list[int] = []
        self.alone: Matrix = np.zeros_like(self.whole)
        for sentence, scores in zip(document.sentences, alone, strict=True):
            for column, span in enumerate(scores.words):
                own = bisect_right(begins, sentence.start + span.start) - 1
                if column == 0:
                    self.starts.append(own)
                column_here = self.alone[:, own]
                np.maximum(column_here, scores.chances[:, column], out=column_here)
        self.alone *= weights
        if len(document.sentences) == 1:
            self.whole = np.zeros_like(self.alone)

    def sure(self, row: int, alone_enough: _Minimum, whole_enough: _Minimum) -> Chances:
        """
        Return how sure the words are that are so enough in a reading, else 0.

        Args:
            row: Of the constraint.
            alone_enough: The least chance in a sentence by itself, and its least share
                of the surest word's.
            whole_enough: The same in the whole document.
        """
        import numpy as np  # noqa: PLC0415 -- as above

        if not self.words:
            return np.zeros(0, dtype=np.float32)
        whole, alone = self.whole[row], self.alone[row]
        surest = np.maximum.reduceat(alone, self.starts)
        lengths = np.diff([*self.starts, len(self.words)])
        least, share = alone_enough
        sure = alone >= np.maximum(least, share * np.repeat(surest, lengths))
        least, share = whole_enough
        sure |= whole >= max(least, share * whole.max())
        return np.where(sure, np.maximum(whole, alone), 0)


class _Word(Confidential):
    """A word of the text: where it is, how it reads, how frequent it is."""

    __slots__ = ("initial", "rank", "span", "stem", "text")

    def __init__(self, text: str, span: Span) -> None:
        said = span.of(text)
        self.text = said.lower()
        self.stem = _stem(said)
        self.initial = len(said) == 1 and said.isupper() and said not in _LONE_WORDS
        self.span = span
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
    def weight(self) -> float:
        """What its chance counts for: a frequent word is seldom the secret."""
        if not self.text.isalpha() or self.initial:
            return float(any(map(str.isalnum, self.text)))
        return min(1.0, self.rank / _TELLING)

    @property
    def known_again(self) -> bool:
        """Whether it means the same wherever it is."""
        return self.rank >= _RARE and len(self.text) >= _SHORTEST


def _found(
    read: _ScoredDocument, asked: Sequence[ParsedConstraint], thresholds: Thresholds
) -> Iterator[Finding]:
    text, listed = read.document.text, read.words
    for row, parsed in enumerate(asked):
        withheld = _withheld(read, row, parsed, thresholds)
        for first, last in _runs(text, listed, withheld):
            chance = max(withheld[index] for index in range(first, last + 1))
            span = Span(listed[first].span.start, listed[last].span.end)
            yield Finding(span, parsed.constraint.id, "scored", chance)


def _withheld(
    read: _ScoredDocument, row: int, parsed: ParsedConstraint, thresholds: Thresholds
) -> dict[int, float]:
    """Return the indices of the words to withhold, and how sure that is."""
    listed = read.words
    said = _stems(parsed.subject)
    plain = thresholds.plain
    if not parsed.meaning:
        plain = max(plain, _PLAIN_WITH_TYPES)
    chances = read.sure(
        row, _enough(parsed, thresholds.alone), _enough(parsed, thresholds.whole)
    )
    told = {
        index: float(chances[index])
        for index in map(int, chances.nonzero()[0])
        if listed[index].stem not in said and listed[index].tells(plain)
    }
    again = {
        listed[index].text: chance
        for index, chance in told.items()
        if listed[index].known_again
    }
    stated = _stems(parsed.statement)
    if stated:
        told |= {
            index: 1.0
            for index, word in enumerate(listed)
            if word.stem in stated and word.tells(_LITTLE)
        }
    return _everywhere(listed, again) | told


def _enough(parsed: ParsedConstraint, sureness: Sureness) -> _Minimum:
    """Return the least chance of a word, and its least share of the surest one's."""
    if parsed.meaning:
        return sureness.least, sureness.share
    least = _LEAST_WHERE_PLAIN if parsed.plain else sureness.with_types
    return least, sureness.share


def _everywhere(listed: Sequence[_Word], again: dict[str, float]) -> dict[int, float]:
    """Return every place where one of some words is."""
    return {
        index: again[word.text]
        for index, word in enumerate(listed)
        if word.text in again
    }


def _runs(
    text: str, listed: Sequence[_Word], withheld: dict[int, float]
) -> Iterator[tuple[int, int]]:
    """Yield first and last word of what belongs together, as `88,500` does."""
    run: tuple[int, int] | None = None
    for index in sorted(withheld):
        if run and index == run[1] + 1 and _touch(text, listed[run[1]], listed[index]):
            run = (run[0], index)
            continue
        if run:
            yield run
        run = (index, index)
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
