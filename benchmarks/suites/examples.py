"""
What examples teach: constraints that nothing was trained on, with none to six of them.

The documents are those of `benchmarks/scorer/documents`, the constraints those that are
`held_out` there. The examples of a draw are sentences of other documents than those
that are measured, each with the words that are marked in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.scorer.train_gate import (
    FOLDER,
    marks_in,
    parts_of,
    read_constraints,
    read_documents,
)
from sdrag.disclosure.local.by_example import compare, learn, read_tokens
from sdrag.disclosure.local.lesson import Lesson
from sdrag.disclosure.local.scorer import (
    Compared,
    GateScores,
    decide,
    logit,
    score,
    unite,
)
from sdrag.vocabulary import Constraint, Example

__all__ = ["evaluate_examples", "read_held_out"]

ABSENT = 400
"""Sentences of each constraint that hold nothing of it."""
TAKEN = 40
"""Of those that the networks are surest of, some are shown to stay."""
RECALLS = (0.8, 0.9)


@dataclass(frozen=True)
class Sentence:
    """
    A sentence of a document and what of it a constraint withholds.

    Args:
        document: Its number.
        text: Its characters.
        marks: Of what has to go.
        decision: What the networks say without examples.
        read: Its tokens and their mean, as the scorer reads them.
    """

    document: int
    text: str
    marks: tuple[tuple[int, int], ...]
    decision: GateScores
    read: tuple[Any, Any] = field(repr=False)


def read_held_out() -> dict[str, list[Sentence]]:
    """Read the constraints that are held out, each with sentences."""
    constraints = read_constraints(held_out=True)
    places = [
        (number, text.body[start:end], [marks_in(s, start, end) for s in text.secrets])
        for number, text in enumerate(read_documents(FOLDER / "documents", constraints))
        for start, end in parts_of(text)
    ]
    draw = random.Random(7)
    read: dict[str, tuple[Any, Any]] = {}
    held: dict[str, list[Sentence]] = {}
    for row, wordings in enumerate(constraints.values()):
        absent = [place for place in places if not place[2][row]]
        chosen = [place for place in places if place[2][row]]
        chosen += draw.sample(absent, ABSENT)
        texts = [text for _, text, _ in chosen]
        scored = score(texts, [wordings[0]])
        decided = decide([(0, text) for text in texts], [wordings[0]])
        for text in texts:
            read[text] = read.get(text) or read_tokens(text)
        held[wordings[0]] = [
            Sentence(number, text, marks[row], unite(d, s.chances[0]), read[text])
            for (number, text, marks), d, s in zip(chosen, decided, scored, strict=True)
        ]
    return held


def evaluate_examples(
    held: Mapping[str, Sequence[Sentence]],
    numbers: Sequence[int] = (0, 1, 3, 6),
    stay: int = 0,
    draws: int = 4,
) -> dict[str, Any]:
    """
    Measure constraints with so many examples each.

    Args:
        held: As `read_held_out` gives them.
        numbers: Of the examples with words that go.
        stay: Of sentences beside them that stay.
        draws: Of examples for each constraint and number.

    Returns:
        For each number, of all sentences together: `area` under the curve, the share of
        absent sentences opened at a recall, and the average `words` precision; and the
        means over constraints, each with a threshold of its own.
    """
    figures = {}
    for number in numbers:
        rows = [
            row
            for text, listed in held.items()
            for row in _draw(text, listed, number, stay if number else 0, draws)
        ]
        present = np.concatenate([row[0] for row in rows])
        absent = np.concatenate([row[1] for row in rows])
        told = np.concatenate([row[2] for row in rows])
        labels = np.concatenate([row[3] for row in rows])
        shares = {
            f"opened@{recall}": _opened(present, absent, recall) for recall in RECALLS
        }
        apart = {
            f"opened@{recall}": np.mean([_opened(*row[:2], recall) for row in rows])
            for recall in RECALLS
        }
        figures[str(number)] = {
            "area": round(_area(present, absent), 4),
            **{name: round(float(share), 3) for name, share in shares.items()},
            "words": round(_precision(told, labels), 4),
            "by_constraint": {
                "area": round(float(np.mean([_area(*row[:2]) for row in rows])), 4),
                **{name: round(float(share), 3) for name, share in apart.items()},
            },
        }
    return figures


def _draw(
    text: str, listed: Sequence[Sentence], number: int, stay: int, draws: int
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield logits of present and absent sentences, and of words with their labels."""
    draw = random.Random(f"{text} {number}")
    present = [each for each in listed if each.marks]
    for _ in range(draws if number else 1):
        documents = list(dict.fromkeys(each.document for each in present))
        chosen = draw.sample(documents, min(number, len(documents) - 3))
        shown = [
            draw.choice([each for each in present if each.document == document])
            for document in chosen
        ]
        others = sorted(
            (each for each in listed if not each.marks),
            key=lambda each: -each.decision.chance,
        )
        shown += draw.sample(others[:TAKEN], stay)
        taken = {each.document for each in shown}
        rest = [each for each in listed if each.document not in taken]
        lesson = learn(Constraint("c", text, examples=tuple(map(_as_example, shown))))
        yield _measure(rest, lesson)


def _as_example(sentence: Sentence) -> Example:
    quoted = tuple(sentence.text[start:end] for start, end in sentence.marks)
    return Example(sentence.text, quoted, () if quoted else (sentence.text,))


def _measure(
    rest: Sequence[Sentence], lesson: Lesson | None
) -> tuple[Any, Any, Any, Any]:
    chances = np.array(
        [
            lesson.weigh(
                each.decision.chance, compare(*each.read, lesson.compared)[:, None]
            )
            if lesson
            else each.decision.chance
            for each in rest
        ]
    )
    marked = np.array([bool(each.marks) for each in rest])
    told, labels = [], []
    present = [each for each in rest if each.marks]
    compared = lesson.compared if lesson else None
    for each, cosines in zip(present, _cosines(present, compared), strict=True):
        words = each.decision.chances
        told.append(lesson.weigh_words(words, cosines) if lesson else words)
        labels += [
            any(span.start < end and start < span.end for start, end in each.marks)
            for span in each.decision.words
        ]
    logits = logit(chances)
    return logits[marked], logits[~marked], np.concatenate(told), np.array(labels)


def _cosines(present: Sequence[Sentence], compared: Compared | None) -> list[Any]:
    texts = [each.text for each in present]
    return [each.cosines for each in score(texts, ["-"], compared)]


def _area(present: Any, absent: Any) -> float:
    """Return the area under the curve: how often what is present ranks higher."""
    ranked = np.sort(absent)
    below = np.searchsorted(ranked, present, "left")
    beside = np.searchsorted(ranked, present, "right")
    return float((below + beside).mean() / 2 / len(absent))


def _opened(present: Any, absent: Any, recall: float) -> float:
    """Return the share of absent sentences that are opened at a recall."""
    least = np.sort(present)[max(0, len(present) - round(recall * len(present)))]
    return float((absent >= least).mean())


def _precision(told: Any, labels: Any) -> float:
    """Return the average precision of words."""
    ranked = labels[np.argsort(-told, kind="stable")]
    found = np.cumsum(ranked)
    return float((found / np.arange(1, len(ranked) + 1))[ranked].mean())
