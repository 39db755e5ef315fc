"""
The paper's judged tables and figures, from answers and judges of whatever kind.

An `Answered` is a question with what every pipeline said to it: of its own paragraph,
and of one that does not answer it. Everything here counts; nothing asks a model but
through the judge that is handed in. Tables 3, 5, 7 and 9, Figures 4, 5, 7 and 9 of
Highlight & Summarize, sections 7 and 8.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import StatisticsError, correlation, mean
from typing import Any

from benchmarks.highlight_experiments.elo import Battle, ratings
from benchmarks.highlight_experiments.judges import (
    Ask,
    battles,
    compare,
    correctness,
    quality,
    relevance,
)
from benchmarks.suites.classification import f1
from benchmarks.suites.highlight import GoldQuestion, k_precision, recall
from sdrag.highlight.exchange import Answer

__all__ = [
    "Answered",
    "Ratings",
    "best_guess",
    "declining",
    "guess_correlation",
    "guessing",
    "highest",
    "judged_tables",
    "pairwise",
    "rate",
    "with_summarizer",
]

FORTY = 40
"""Words that both sides of Figure 7 are cut to."""
MAX_GUESSES = 10


@dataclass(frozen=True, slots=True)
class Answered:
    """
    A question, and what was said to it.

    Args:
        asked: The question.
        own: Of its own paragraph, by pipeline.
        other: Of a paragraph of another article, by pipeline; empty without one.
    """

    asked: GoldQuestion
    own: Mapping[str, Answer]
    other: Mapping[str, Answer]


Ratings = Mapping[str, Mapping[str, float | None]]
"""Of one question: by judge, then by pipeline; None where a reply cannot be read."""


def judged_tables(found: Sequence[Answered], ask: Ask) -> dict[str, Any]:
    """
    Fill the tables.

    Args:
        found: Answers of every pipeline; only questions that can be answered are
            rated.
        ask: A judge: a prompt's text to its reply.
    """
    draw = random.Random(0)
    answerable = [one for one in found if one.asked.answers]
    names = list(found[0].own) if found else []
    fought = [
        battle
        for one in answerable
        for battle in battles(
            ask,
            one.asked.question,
            {name: one.own[name].text for name in names},
            draw,
        )
    ]
    rated = [rate(one, ask) for one in answerable]
    guessers = [name for name in names if _guesses(found, name)]
    return {
        "table_3": {name: asdict(rating) for name, rating in ratings(fought).items()},
        "table_5": {name: declining(found, name) for name in names},
        "table_7": {name: guessing(answerable, name) for name in guessers},
        "table_9": pairwise(fought, names),
        "figure_4": highest(rated),
        "figure_5": {
            name: {judge: _mean(row[judge][name] for row in rated) for judge in JUDGES}
            for name in names
        },
        "figure_7": {
            name: with_summarizer(answerable, name, ask, draw)
            for name in guessers
            if name == "two_steps"
        },
        "figure_9": {
            name: guess_correlation(answerable, rated, name) for name in guessers
        },
    }


JUDGES: Mapping[str, Callable[[Ask, GoldQuestion, str], float | None]] = {
    "correctness": lambda ask, one, text: correctness(
        ask, one.question, text, one.answers[0]
    ),
    "relevance": lambda ask, one, text: relevance(ask, one.question, text),
    "quality": lambda ask, one, text: quality(ask, one.question, text),
}


def rate(one: Answered, ask: Ask) -> Ratings:
    """Let every judge rate the answers of every pipeline to a question."""
    return {
        name: {
            pipeline: judge(ask, one.asked, said.text)
            for pipeline, said in one.own.items()
        }
        for name, judge in JUDGES.items()
    }


def pairwise(fought: Iterable[Battle], names: Sequence[str]) -> dict[str, Any]:
    """Count wins and ties of each pipeline against each other (Table 9, Figure 3)."""
    cells = {
        name: {other: {"wins": 0, "ties": 0} for other in names if other != name}
        for name in names
    }
    for battle in fought:
        first, second = battle.first, battle.second
        if battle.outcome == "first":
            cells[first][second]["wins"] += 1
        elif battle.outcome == "second":
            cells[second][first]["wins"] += 1
        elif battle.outcome == "tie":
            cells[first][second]["ties"] += 1
            cells[second][first]["ties"] += 1
    for row in cells.values():
        counted = list(row.values())
        row["total"] = {
            kind: sum(cell[kind] for cell in counted) for kind in ("wins", "ties")
        }
    return cells


def highest(rated: Sequence[Ratings]) -> dict[str, dict[str, int]]:
    """
    Count how often each pipeline had the highest rating, ties included (Figure 4).

    A question that no pipeline got a rating for, or only the lowest one of
    correctness, "false", has no highest: all being wrong is no merit.
    """
    counts: dict[str, Counter[str]] = {judge: Counter() for judge in JUDGES}
    for row in rated:
        for judge, given in row.items():
            known = {name: float(value) for name, value in given.items() if value}
            best = max(known.values(), default=None)
            counts[judge].update(name for name in known if known[name] == best)
    return {judge: dict(count) for judge, count in counts.items()}


def declining(found: Sequence[Answered], name: str) -> dict[str, float]:
    """Give precision, recall and F1 of declining what cannot be answered (Table 5)."""
    right = [one.other[name].declined for one in found if name in one.other]
    right += [one.own[name].declined for one in found if not one.asked.answers]
    wrong = [one.own[name].declined for one in found if one.asked.answers]
    hits, declined = sum(right), sum(right) + sum(wrong)
    precision = hits / declined if declined else 0.0
    share = hits / len(right) if right else 0.0
    return {"precision": precision, "recall": share, "f1": f1(precision, share)}


def best_guess(guesses: Sequence[str], question: str) -> tuple[float, float]:
    """
    Give K-precision and recall of the best of up to ten guesses (Table 7).

    The best one has the highest F1 of the two, so both figures are of one guess.
    """
    pairs = [
        (k_precision(guess, question), recall(guess, question))
        for guess in guesses[:MAX_GUESSES]
    ]
    return max(pairs, key=lambda pair: f1(*pair), default=(0.0, 0.0))


def guessing(found: Sequence[Answered], name: str) -> dict[str, float | None]:
    """Say how near a summarizer's guesses come to the questions (Table 7)."""
    best = _best_guesses(found, name)
    return {
        "k_precision": _mean(pair[0] for pair in best),
        "recall": _mean(pair[1] for pair in best),
    }


def guess_correlation(
    found: Sequence[Answered], rated: Sequence[Ratings], name: str
) -> float | None:
    """
    Correlate K-precision of the guess with correctness (Figure 9; Pearson).

    Returns:
        None where one of the two is the same for all questions.
    """
    best = _best_guesses(found, name)
    pairs = [
        (pair[0], float(correct))
        for pair, row in zip(best, rated, strict=True)
        if (correct := row["correctness"][name]) is not None
    ]
    try:
        return correlation(*zip(*pairs, strict=True)) if len(pairs) > 1 else None
    except StatisticsError:
        return None


def with_summarizer(
    found: Sequence[Answered], name: str, ask: Ask, draw: random.Random
) -> dict[str, float]:
    """
    Compare a pipeline with its highlighter alone, both cut to 40 words (Figure 7).

    Returns:
        The shares of questions for which the judge prefers either, or neither.
    """
    outcomes: Counter[str] = Counter()
    for one in found:
        said = one.own[name]
        alone = " ".join(highlight.text for highlight in said.highlights)
        outcome = compare(ask, one.asked.question, _cut(said.text), _cut(alone), draw)
        outcomes[outcome or "unreadable"] += 1
    names = {"first": "pipeline", "second": "highlighter"}
    return {
        names.get(outcome, outcome): count / len(found)
        for outcome, count in sorted(outcomes.items())
    }


def _best_guesses(found: Sequence[Answered], name: str) -> list[tuple[float, float]]:
    return [
        best_guess(one.own[name].guessed_questions, one.asked.question) for one in found
    ]


def _guesses(found: Sequence[Answered], name: str) -> bool:
    return any(one.own[name].guessed_questions for one in found)


def _cut(text: str) -> str:
    return " ".join(text.split()[:FORTY])


def _mean(values: Iterable[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return mean(known) if known else None
