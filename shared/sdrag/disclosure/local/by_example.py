"""
What a policy's author shows: examples of a constraint, which teach the local engine.

An example says of a text what must go and what must stay. The scorer reads it once;
what it makes of the words that go, and of their sentences, is compared with each
sentence that it reads anyway. A head that learned from many constraints weighs that
with what the networks say: how near a sentence is to what goes and to what stays, how
near those are to one another, and how the networks read the examples themselves. So a
constraint whose words the networks take for less than they mean has a threshold of its
own, and where they make nothing of its words the examples decide.

Cosines count as deviations from those to a bank of sentences, so that a sentence which
is like everything is like nothing. What an example opens rests on the sentence alone,
and only the author's own words close one. `python -m benchmarks.suites examples`
measures it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Self

import numpy as np

from sdrag.disclosure.local.lesson import HEARD, UNHEARD, Lesson
from sdrag.disclosure.local.scorer import (
    Compared,
    GateScores,
    Scores,
    decide,
    logit,
    read_states,
    score,
    unite,
)
from sdrag.embeddings import DIMENSIONS, to_unit_length
from sdrag.text.folding import fold, fold_text
from sdrag.text.sentences import sentences
from sdrag.text.spans import shift
from sdrag.vocabulary import Confidential, Constraint, Example, Span

Row = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_BANK = files(__package__).joinpath("bank.txt")
_MOST = 8
"""Sentences that go of which a constraint keeps the readings; more are put together."""
_MOST_KEPT = 32
_SAMPLE = 16
"""Examples whose agreement is measured, and how the networks read them."""
_LESSONS = 256

_UNREAD, _READ, _PRIOR = -4.0, -2.0, -1.5
"""Mean logits of examples from which on they are heard, and that of one more."""
_ALIKE = 3.0
"""How near a lone example is to others of its kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Shown(Confidential):
    """A sentence of an example; without spans, it stays as it is."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Lessons(Confidential):
    """
    The lessons of constraints, by their rows.

    Args:
        lessons: Of the rows that have one, each with the rows of its cosines.
        compared: What texts are compared with for all of them.
    """

    lessons: Mapping[int, tuple[Lesson, list[int]]]
    compared: Compared | None

    @classmethod
    def of(cls, constraints: Sequence[Constraint]) -> Self:
        """Learn from the examples of constraints."""
        learned = {row: learn(each) for row, each in enumerate(constraints)}
        known = {row: lesson for row, lesson in learned.items() if lesson}
        if not known:
            return cls({}, None)
        both = [lesson.compared for lesson in known.values()]
        phrases = np.concatenate([each.phrases for each in both])
        whole = np.concatenate([each.sentences for each in both])
        placed: dict[int, tuple[Lesson, list[int]]] = {}
        at, after = 0, len(phrases)
        for (row, lesson), each in zip(known.items(), both, strict=True):
            end, last = at + len(each.phrases), after + len(each.sentences)
            placed[row] = lesson, [*range(at, end), *range(after, last)]
            at, after = end, last
        return cls(placed, Compared(phrases, whole))

    def weigh(self, row: int, decision: GateScores, cosines: Matrix) -> GateScores:
        """Return a decision as the examples of its constraint have it."""
        if row not in self.lessons:
            return decision
        lesson, rows = self.lessons[row]
        near = cosines[rows]
        return GateScores(
            lesson.weigh(decision.chance, near),
            decision.words,
            lesson.weigh_words(decision.chances, near),
        )

    def proposes(self, row: int, scores: Scores, least: float) -> bool:
        """Say whether the gate is to decide a sentence that is like an example."""
        if row not in self.lessons:
            return False
        lesson, rows = self.lessons[row]
        return lesson.proposes(scores.chances[row], scores.cosines[rows], least)


def learn(constraint: Constraint) -> Lesson | None:
    """Return what the examples of a constraint show; nothing where it has none."""
    return _learn(constraint.text, constraint.examples) if constraint.examples else None


@lru_cache(maxsize=_LESSONS)
def _learn(text: str, examples: tuple[Example, ...]) -> Lesson | None:
    goes, stays = _part(examples)
    if not goes and not stays:
        return None
    phrases, whole = _gather(*_read(goes)) if goes else (_none(), _none())
    kept = _read(stays[:_MOST_KEPT])[1] if stays else _none()
    return _weigh_examples(text, goes, Compared(phrases, np.concatenate([whole, kept])))


def _part(examples: Sequence[Example]) -> tuple[list[Shown], list[Shown]]:
    """Return the sentences of which something goes, and those that stay."""
    shown = [*dict.fromkeys(part for each in examples for part in split(each))]
    goes = [part for part in shown if part.spans]
    return goes, [part for part in shown if not part.spans]


def _none() -> Matrix:
    return np.empty((0, DIMENSIONS), dtype=np.float32)


def split(example: Example) -> Iterator[Shown]:
    """Yield the sentences of an example of which something goes, or is to stay."""
    folded = fold(example.text)
    goes, stays = (
        [span for quoted in listed for span in folded.find(fold_text(quoted))]
        for listed in (example.hides, example.keeps)
    )
    for sentence in sentences(example.text, cells=True):
        inside = tuple(
            shift(Span(max(s.start, sentence.start), min(s.end, sentence.end)), -at)
            for at in (sentence.start,)
            for s in goes
            if s.overlaps(sentence)
        )
        if inside or any(span.overlaps(sentence) for span in stays):
            yield Shown(sentence.of(example.text), inside)


def _read(shown: Sequence[Shown]) -> tuple[Matrix, Matrix]:
    """Return the means of the tokens that go, or of all, and of the sentences."""
    phrases, whole = [], []
    for part in shown:
        spans, states = read_states(part.text)
        rows = to_unit_length(states)
        places = [
            index
            for index, span in enumerate(spans)
            if any(span.overlaps(phrase) for phrase in part.spans)
        ]
        phrases.append(rows[places or slice(None)].mean(axis=0))
        whole.append(states.mean(axis=0))
    return to_unit_length(np.stack(phrases)), to_unit_length(np.stack(whole))


def _gather(phrases: Matrix, whole: Matrix) -> tuple[Matrix, Matrix]:
    """Put many readings together: the most different ones, each with those near it."""
    if len(phrases) <= _MOST:
        return phrases, whole
    chosen = [0]
    near = phrases @ phrases[0]
    while len(chosen) < _MOST:
        chosen.append(int(near.argmin()))
        near = np.maximum(near, phrases @ phrases[chosen[-1]])
    owner = (phrases @ phrases[chosen].T).argmax(axis=1)
    parts = [owner == number for number in range(_MOST)]
    return tuple(
        to_unit_length(
            np.stack([rows[part].mean(axis=0) for part in parts if any(part)])
        )
        for rows in (phrases, whole)
    )


def _weigh_examples(text: str, goes: Sequence[Shown], compared: Compared) -> Lesson:
    """Return a lesson: what examples say of any sentence, by the head."""
    bank = [compare(*states, compared) for states in _read_bank()]
    cosines = np.stack(bank, axis=1)
    means, spreads = cosines.mean(axis=1), np.maximum(cosines.std(axis=1), 1e-3)
    weights, known = dict(UNHEARD), dict[str, float]()
    if count := len(compared.phrases):
        own = [part.text for part in goes[:_SAMPLE]]
        decisions = decide([(0, each) for each in own], [text])
        read = zip(decisions, score(own, [text]), strict=True)
        logits = [logit(unite(each, s.chances[0]).chance) for each, s in read]
        mean = float((sum(logits) + _PRIOR) / (len(logits) + 1))
        heard = hear(mean)
        weights |= {n: UNHEARD[n] + heard * each for n, each in HEARD.items()}
        known = {
            "networks of examples": mean,
            "number": math.log(count),
            "examples alike": _measure_likeness(
                goes[:_SAMPLE], compared, means, spreads
            ),
        }
    return Lesson(compared, means[:, None], spreads[:, None], weights, known)


def hear(mean: float) -> float:
    """Say how far the networks read examples as they are meant, by the mean logit."""
    return min(1.0, max(0.0, (mean - _UNREAD) / (_READ - _UNREAD)))


def _measure_likeness(
    goes: Sequence[Shown], compared: Compared, means: Row, spreads: Row
) -> float:
    """Return how near examples are to one another, in deviations."""
    count = len(compared.phrases)
    if count < 2:
        return _ALIKE
    near = np.stack([compare(*read_tokens(part.text), compared) for part in goes])
    far = ((near - means) / spreads)[:, :count]
    others = ~np.eye(count, dtype=bool) if len(goes) == count else slice(None)
    return float(far[others].mean())


def judge(constraint: Constraint, texts: Sequence[str]) -> list[float]:
    """Return the probabilities that sentences hold what a constraint withholds."""
    lessons = Lessons.of([constraint])
    decisions = decide([(0, text) for text in texts], [constraint.text])
    scored = score(texts, [constraint.text], lessons.compared)
    return [
        lessons.weigh(0, unite(decision, scores.chances[0]), scores.cosines).chance
        for decision, scores in zip(decisions, scored, strict=True)
    ]


def judge_left_out(constraint: Constraint) -> tuple[float, ...]:
    """
    Return the probability of each sentence of which something goes.

    Each is judged as the other examples have it, so that none vouches for itself.
    """
    return _judge_left_out(constraint.text, constraint.examples)


@lru_cache(maxsize=_LESSONS)
def _judge_left_out(text: str, examples: tuple[Example, ...]) -> tuple[float, ...]:
    chances: list[float] = []
    for example in examples:
        rest = tuple(each for each in examples if each != example)
        if own := [part.text for part in split(example) if part.spans]:
            chances += judge(Constraint("-", text, examples=rest), own)
    return tuple(chances)


def compare(rows: Matrix, mean: Row, compared: Compared) -> Row:
    """Return the cosines of a sentence, by its tokens and their mean."""
    near = (rows @ compared.phrases.T).max(axis=0, initial=-1.0)
    joined: Row = np.concatenate([near, compared.sentences @ mean])
    return joined


def read_bank() -> list[str]:
    """Return sentences of many kinds, with which the others are compared."""
    return _BANK.read_text(encoding="utf-8").splitlines()


@lru_cache(maxsize=1)
def _read_bank() -> list[tuple[Matrix, Row]]:
    """Return the tokens and the mean of each sentence of the bank."""
    return [*map(read_tokens, read_bank())]


def read_tokens(text: str) -> tuple[Matrix, Row]:
    """Return the tokens of a text as the scorer reads them, and their mean."""
    states = read_states(text)[1]
    return to_unit_length(states), to_unit_length(states.mean(axis=0))
