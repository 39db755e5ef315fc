"""
Comparing texts sentence by sentence, where these are about the same.

Local rules judge, or a model that was passed. The number of sentences read, and of
pairs that a model is asked about, is bounded. A judgment that could not be had, for
that reason or another, is reported as `unchecked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdrag.effects.steps import Steps
from sdrag.guardrails.judging import ask_model, ask_nli
from sdrag.guardrails.opposition import SentenceFacts, alike, opposed, read_sentence
from sdrag.guardrails.statements import statements
from sdrag.policy import ContradictionsSection
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
        reason: `figures`, `negation`, `antonym`, `name`, `model`, or `unchecked`.
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
        work = _work(lefts, rights, pairs)
        if section.method != "local":
            return (yield from _judged(work, section))
        return _signs(work)
    except Exception:  # noqa: BLE001 -- what could not be compared is unchecked
        return tuple(Conflict(left, right, "unchecked") for left, right in pairs)


@dataclass(frozen=True, slots=True, repr=False)
class _ReadText(Confidential):
    """The sentences of a text that are read, and whether those are all."""

    sentences: tuple[tuple[str, SentenceFacts], ...]
    whole: bool


@dataclass(frozen=True, slots=True, repr=False)
class _SentencePair(Confidential):
    """Two sentences to compare, and the places of the texts they are from."""

    places: Places
    texts: tuple[str, str]
    facts: tuple[SentenceFacts, SentenceFacts]


@dataclass(frozen=True, slots=True, repr=False)
class _Work(Confidential):
    """All sentences to compare, and the pairs of texts that are read in part."""

    sentences: tuple[_SentencePair, ...]
    in_part: tuple[Places, ...]


def _work(
    lefts: Sequence[str], rights: Sequence[str], pairs: Sequence[Places]
) -> _Work:
    left_texts, right_texts = _read_texts(lefts), _read_texts(rights)
    return _Work(
        tuple(
            _SentencePair((left, right), (a[0], b[0]), (a[1], b[1]))
            for left, right in pairs
            for a in left_texts[left].sentences
            for b in right_texts[right].sentences
        ),
        tuple(
            (left, right)
            for left, right in pairs
            if not (left_texts[left].whole and right_texts[right].whole)
        ),
    )


def _signs(work: _Work) -> tuple[Conflict, ...]:
    found: dict[Places, Conflict] = {}
    for pair in work.sentences:
        if pair.places not in found and (reason := opposed(*pair.facts)):
            found[pair.places] = Conflict(*pair.places, reason)
    return _with_unchecked(found, work.in_part)


def _judged(work: _Work, section: ContradictionsSection) -> Steps[tuple[Conflict, ...]]:
    """Ask a model about the pairs that are closest; the rest is about other things."""
    near = _near(work)
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


def _near(work: _Work) -> list[_SentencePair]:
    """Return the pairs that may be about the same, the closest first."""
    scored = [(alike(*pair.facts), pair) for pair in work.sentences]
    worth = [item for item in scored if item[0] >= _WORTH_JUDGING]
    return [pair for _, pair in sorted(worth, key=lambda item: -item[0])]


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


def _read_texts(texts: Sequence[str]) -> list[_ReadText]:
    """Cut texts into sentences and read them, as many of each as the bound allows."""
    share = max(1, _MOST_SENTENCES // max(1, len(texts)))
    read = []
    for text in texts:
        stated = statements(text)
        read_ones = tuple((one, read_sentence(one)) for one in stated[:share])
        read.append(_ReadText(read_ones, len(stated) <= share))
    return read
