"""
Comparing texts sentence by sentence, where these are about the same.

Local rules judge, or a model that was handed in. The number of sentences read, and of
pairs that a model is asked about, is bounded. A judgment that could not be had, for
that reason or another, is reported as `unchecked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdrag.engine.steps import Steps, compute, replied
from sdrag.errors import SdragError
from sdrag.guardrails.judging import ask_model, ask_nli
from sdrag.guardrails.opposition import Reading, alike, opposed, read
from sdrag.policy import ContradictionsSection
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential

__all__ = ["Conflict", "compared"]

_MOST_SENTENCES = 300
_MOST_JUDGED = 100
_WORTH_JUDGING = 0.35
Places = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Conflict:
    """
    Two passages that contradict each other, by their places.

    Args:
        left: The place of one.
        right: The place of the other, or of a claim of the answer.
        reason: `figures`, `negation`, `antonym`, `model`, or `unchecked`.
    """

    left: int
    right: int
    reason: str


def compared(
    lefts: Sequence[str],
    rights: Sequence[str],
    pairs: Sequence[Places],
    section: ContradictionsSection,
) -> Steps[tuple[Conflict, ...]]:
    """
    Compare pairs of texts, by their sentences.

    Args:
        lefts: The texts that `left` counts.
        rights: The texts that `right` counts; they may be the same.
        pairs: The places to compare.
        section: The method and the threshold.

    Returns:
        One conflict a pair at most. A pair that could not be judged is one, too.
    """
    try:
        (outcome,) = yield from compute(_work, ((lefts, rights, pairs),))
        work = replied(outcome)
        if section.method != "local":
            return (yield from _judged(work, section))
        (signs,) = yield from compute(_signs, (work,))
        return replied(signs)
    except SdragError:
        return tuple(Conflict(left, right, "unchecked") for left, right in pairs)


@dataclass(frozen=True, slots=True, repr=False)
class _Cut(Confidential):
    """The sentences of a text that are read, and whether those are all."""

    sentences: tuple[tuple[str, Reading], ...]
    whole: bool


@dataclass(frozen=True, slots=True, repr=False)
class _Sentences(Confidential):
    """Two sentences to compare, and the places of the texts they are from."""

    places: Places
    texts: tuple[str, str]
    readings: tuple[Reading, Reading]


@dataclass(frozen=True, slots=True, repr=False)
class _Work(Confidential):
    """All sentences to compare, and the pairs of texts that are read in part."""

    sentences: tuple[_Sentences, ...]
    in_part: tuple[Places, ...]


def _work(given: tuple[Sequence[str], Sequence[str], Sequence[Places]]) -> _Work:
    lefts, rights, pairs = given
    one, other = _cut(lefts), _cut(rights)
    return _Work(
        tuple(
            _Sentences((left, right), (a[0], b[0]), (a[1], b[1]))
            for left, right in pairs
            for a in one[left].sentences
            for b in other[right].sentences
        ),
        tuple(
            (left, right)
            for left, right in pairs
            if not (one[left].whole and other[right].whole)
        ),
    )


def _signs(work: _Work) -> tuple[Conflict, ...]:
    found: dict[Places, Conflict] = {}
    for pair in work.sentences:
        if pair.places not in found and (reason := opposed(*pair.readings)):
            found[pair.places] = Conflict(*pair.places, reason)
    return _with_unchecked(found, work.in_part)


def _judged(work: _Work, section: ContradictionsSection) -> Steps[tuple[Conflict, ...]]:
    """Ask a model about the pairs that are closest; the rest is about other things."""
    (outcome,) = yield from compute(_near, (work,))
    near = replied(outcome)
    chosen = near[:_MOST_JUDGED]
    ask = ask_nli if section.method == "nli" else ask_model
    values = yield from ask([pair.texts for pair in chosen], "contradiction")
    found: dict[Places, Conflict] = {}
    left_out = [pair.places for pair in near[_MOST_JUDGED:]]
    for pair, value in zip(chosen, values, strict=True):
        if value is None:
            left_out.append(pair.places)
        elif value >= section.threshold:
            found[pair.places] = Conflict(*pair.places, "model")
    return _with_unchecked(found, [*left_out, *work.in_part])


def _near(work: _Work) -> list[_Sentences]:
    """Return the pairs that may be about the same, the closest first."""
    scored = [(alike(*pair.readings), pair) for pair in work.sentences]
    worth = [one for one in scored if one[0] >= _WORTH_JUDGING]
    return [pair for _, pair in sorted(worth, key=lambda one: -one[0])]


def _with_unchecked(
    found: Mapping[Places, Conflict], doubtful: Iterable[Places]
) -> tuple[Conflict, ...]:
    """Add the pairs that show no contradiction so far, and were not read to the end."""
    return (
        *found.values(),
        *(
            Conflict(*places, "unchecked")
            for places in dict.fromkeys(doubtful)
            if places not in found
        ),
    )


def _cut(texts: Sequence[str]) -> list[_Cut]:
    """Cut texts into sentences and read them, as many of each as the bound allows."""
    share = max(1, _MOST_SENTENCES // max(1, len(texts)))
    held = []
    for text in texts:
        spans = sentences(text)
        read_ones = tuple(
            (span.of(text), read(span.of(text))) for span in spans[:share]
        )
        held.append(_Cut(read_ones, len(spans) <= share))
    return held
