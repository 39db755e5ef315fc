"""
What examples teach: constraints that nothing was trained on, with none to six of them.

The documents are those of `benchmarks/scorer/documents`, the constraints those that are
`held_out` there. The examples of a draw are sentences of other documents than those
that are measured, each with the words that are marked in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.readability.examples import measure_folder
from benchmarks.scorer.labelled import (
    FOLDER,
    as_example,
    marks_in,
    parts_of,
    read_constraints,
    read_documents,
)
from benchmarks.suites.classification import auc
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
from sdrag.vocabulary import Constraint

ABSENT = 400
"""Sentences of each constraint that hold nothing of it."""
TAKEN = 40
"""Of those that the networks are surest of, some are shown to stay."""
RECALLS = (0.8, 0.9)
_NUMBERS = (0, 1, 3, 6)
"""Of the examples with words that go."""
_DRAWS = 4
"""Of examples, for each constraint and number."""


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


def examples(
    blind: Path | None = None,
    stay: int = 0,
    sensitivity: str | None = None,
    *,
    each: bool = False,
) -> dict[str, Any]:
    """
    Measure what examples teach, by none to six of them.

    Of all sentences together: `area` under the curve, the share of absent sentences
    opened at a recall, and the average `words` precision; and the means over
    constraints, each with a threshold of its own. With a folder of policies with
    examples: what is left and lost in their documents.
    """
    if blind:
        return measure_folder(blind, sensitivity, each=each)
    held = read_held_out()
    figures = {}
    for number in _NUMBERS:
        rows = [
            row
            for text, listed in held.items()
            for row in _draw(text, listed, number, stay if number else 0)
        ]
        present, absent, told, labels = map(np.concatenate, zip(*rows, strict=True))
        apart = [_area_and_opened(*row[:2]) for row in rows]
        figures[str(number)] = {
            **_area_and_opened(present, absent),
            "words": round(_precision(told, labels), 4),
            "by_constraint": {
                name: round(float(np.mean([row[name] for row in apart])), 4)
                for name in apart[0]
            },
        }
    return figures


def _draw(
    text: str, listed: Sequence[Sentence], number: int, stay: int
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield logits of present and absent sentences, and of words with their labels."""
    draw = random.Random(f"{text} {number}")
    present = [each for each in listed if each.marks]
    for _ in range(_DRAWS if number else 1):
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
        taught = tuple(as_example(one.text, one.marks) for one in shown)
        lesson = learn(Constraint("c", text, examples=taught))
        yield _measure(rest, lesson)


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


def _area_and_opened(present: Any, absent: Any) -> dict[str, float]:
    """Return the area under the curve, and the share that is opened at recalls."""
    labels = [True] * len(present) + [False] * len(absent)
    figures = {"area": auc([*present, *absent], labels)}
    for recall in RECALLS:
        least = np.sort(present)[max(0, len(present) - round(recall * len(present)))]
        figures[f"opened@{recall}"] = float((absent >= least).mean())
    return {name: round(value, 4) for name, value in figures.items()}


def _precision(told: Any, labels: Any) -> float:
    """Return the average precision of words."""
    ranked = labels[np.argsort(-told, kind="stable")]
    found = np.cumsum(ranked)
    return float((found / np.arange(1, len(ranked) + 1))[ranked].mean())
