"""
How well a highlighter finds the gold passage, and whether it knows when to decline.

A question of its own paragraph gives K-precision, recall and hit rate (the answer
stands in what was highlighted); declining it counts as nothing found. Together with the
same question of a paragraph of another article it gives precision, recall and F1 of
declining; with another paragraph of the same article the harder figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sdrag.engine.steps import EffectRunner, run
from sdrag.evaluation.highlight_data import Asked
from sdrag.evaluation.highlight_tokens import holds, k_precision, recall
from sdrag.highlight.answering import plan
from sdrag.highlight.exchange import Asked as Question
from sdrag.highlight.exchange import Settings
from sdrag.vocabulary import Passage

__all__ = ["Outcome", "evaluate_highlighter", "figures", "outcomes"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What was highlighted for one question.

    Args:
        asked: The question.
        own: From its own paragraph; empty when it declined.
        other: From another article's paragraph; `None` when there was none.
        hard: From another paragraph of the same article.
    """

    asked: Asked
    own: str
    other: str | None
    hard: str | None


def evaluate_highlighter(
    data: Sequence[Asked], settings: Settings, runner: EffectRunner
) -> dict[str, Any]:
    """Ask every question and give the suite's figures."""
    began = perf_counter()
    result = figures(outcomes(data, settings, runner))
    return {**result, "seconds": round(perf_counter() - began, 3)}


def figures(found: Sequence[Outcome]) -> dict[str, Any]:
    """Give the suite's figures of what was highlighted."""
    answerable = [one for one in found if one.asked.answers]
    return {
        "questions": len(found),
        "k_precision": _mean(
            k_precision(one.own, one.asked.gold) for one in answerable
        ),
        "recall": _mean(recall(one.own, one.asked.gold) for one in answerable),
        "hit_rate": _mean(
            any(holds(one.own, answer) for answer in one.asked.answers)
            for one in answerable
        ),
        "declined": _declining(found, [one.other for one in found]),
        "declined_hard": _declining(found, [one.hard for one in found]),
    }


def outcomes(
    data: Sequence[Asked], settings: Settings, runner: EffectRunner
) -> list[Outcome]:
    """Highlight for every question, in its paragraph and in the two others."""

    def highlighted(question: str, context: str | None) -> str | None:
        if context is None:
            return None
        asked = Question(question, (Passage("paragraph", context),))
        held = run(plan(asked, settings), runner)
        return " ".join(one.text for one in held.highlights)

    return [
        Outcome(
            one,
            highlighted(one.question, one.context) or "",
            highlighted(one.question, one.other),
            highlighted(one.question, one.hard),
        )
        for one in data
    ]


def _declining(
    found: Sequence[Outcome], elsewhere: Sequence[str | None]
) -> dict[str, float] | None:
    """Precision, recall and F1 of declining; a positive is a question to decline."""
    told = [not one.own for one in found if one.asked.answers]
    right = [not one.own for one in found if not one.asked.answers]
    right += [not text for text in elsewhere if text is not None]
    if not right:
        return None
    hits, false = sum(right), sum(told)
    precision = hits / (hits + false) if hits + false else 0.0
    share = hits / len(right)
    both = precision + share
    return {
        "precision": precision,
        "recall": share,
        "f1": 2 * precision * share / both if both else 0.0,
    }


def _mean(values: Any) -> float:
    held = [float(value) for value in values]
    return sum(held) / len(held) if held else 0.0
