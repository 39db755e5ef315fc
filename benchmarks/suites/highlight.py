"""
How well a highlighter finds the gold passage, and whether it knows when to decline.

The gold passage is `long_answer` where the file gives one (as RepliQA does), else the
sentences that hold the answer. Every question is asked three times. Of its own
paragraph it gives K-precision, recall and hit rate (the answer is in what was
highlighted); declining it counts as nothing found. `answer_recall` is recall of the
expected answer, for sets whose answers are in words of their own. Of a paragraph of
another article, which cannot answer it, it gives precision, recall and F1 of declining;
of another paragraph of the same article the harder figure. The pairing is drawn with a
fixed seed.

"Recall: proportion of tokens in the reference answer [that] are present in the model's
response. K-Precision: proportion of tokens in the model's response that are present in
the gold passage" (Highlight & Summarize, Table 2, after Adlakha et al.). Tokens are
lower-case words; a response without any has precision 0.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.suites.classification import f1
from benchmarks.suites.json_files import read_json
from sdrag.effects.steps import EffectRunner, run
from sdrag.errors import UsageError
from sdrag.highlight.answering import plan
from sdrag.highlight.exchange import Inquiry, Settings
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage, Span

__all__ = [
    "Article",
    "GoldQuestion",
    "Highlighted",
    "evaluate_highlighter",
    "figures",
    "highlight_all",
    "holds",
    "k_precision",
    "paired_questions",
    "read_squad",
    "recall",
    "squad_articles",
    "tokens",
]

_TOKEN = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Cut a text into lower-case words."""
    return _TOKEN.findall(text.lower())


def k_precision(response: str, gold: str) -> float:
    """Give the share of the response's tokens that are in the gold passage."""
    given, known = tokens(response), set(tokens(gold))
    return sum(token in known for token in given) / len(given) if given else 0.0


def recall(response: str, reference: str) -> float:
    """Give the share of the reference's tokens that are in the response."""
    wanted, given = tokens(reference), set(tokens(response))
    return sum(token in given for token in wanted) / len(wanted) if wanted else 0.0


def holds(response: str, answer: str) -> bool:
    """Say whether an answer is in a response, up to case and whitespace."""
    return " ".join(answer.lower().split()) in " ".join(response.lower().split())


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """
    A question and where it is looked for.

    Args:
        question: The question.
        context: Its own paragraph.
        answers: Every accepted answer; none where the paragraph holds none.
        gold: The gold passage, part of `context`; empty without an answer.
        other: A paragraph of another article, if there is one.
        hard: Another paragraph of the same article, if there is one.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    gold: str
    other: str | None = None
    hard: str | None = None


Article = Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
"""Paragraphs, each with its questions as SQuAD has them."""


def read_squad(path: Path, *, seed: int = 0) -> list[GoldQuestion]:
    """
    Read a SQuAD-style file.

    Raises:
        UsageError: It is none.
    """
    try:
        articles = squad_articles(read_json(path, "a SQuAD-style file"))
        return list(paired_questions(articles, random.Random(seed)))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UsageError(
            f"{path.name} is no SQuAD-style file ({type(error).__name__})."
        ) from None


def squad_articles(content: Any) -> list[Article]:
    """
    Take the articles out of a SQuAD-style object.

    Raises:
        KeyError: It is none.
        TypeError: Likewise.
    """
    return [
        [
            (paragraph["context"], paragraph["qas"])
            for paragraph in article["paragraphs"]
        ]
        for article in content["data"]
    ]


def paired_questions(
    articles: Sequence[Article], rng: random.Random
) -> Iterator[GoldQuestion]:
    """Yield the questions, each paired with paragraphs that do not answer it."""
    for index, article in enumerate(articles):
        elsewhere = [
            context
            for other_index, other in enumerate(articles)
            if other_index != index
            for context, _ in other
        ]
        for number, (context, qas) in enumerate(article):
            others = [text for at, (text, _) in enumerate(article) if at != number]
            for qa in qas:
                yield GoldQuestion(
                    qa["question"],
                    context,
                    tuple(answer["text"] for answer in qa.get("answers", ())),
                    _gold(context, qa),
                    rng.choice(elsewhere) if elsewhere else None,
                    rng.choice(others) if others else None,
                )


def _gold(context: str, qa: Mapping[str, Any]) -> str:
    if qa.get("long_answer"):
        return str(qa["long_answer"])
    if not qa.get("answers"):
        return ""
    answer = qa["answers"][0]
    start = int(answer["answer_start"])
    span = Span(start, start + len(answer["text"]))
    holding = [sentence for sentence in sentences(context) if sentence.overlaps(span)]
    return context[holding[0].start : holding[-1].end] if holding else answer["text"]


@dataclass(frozen=True, slots=True)
class Highlighted:
    """
    What was highlighted for one question.

    Args:
        asked: The question.
        answering: From its paragraph; empty when it declined.
        other: From another article's paragraph; `None` when there was none.
        hard: From another paragraph of the same article.
    """

    asked: GoldQuestion
    answering: str
    other: str | None
    hard: str | None


def evaluate_highlighter(
    data: Sequence[GoldQuestion], settings: Settings, runner: EffectRunner
) -> dict[str, Any]:
    """Ask every question and give the suite's figures."""
    began = perf_counter()
    result = figures(highlight_all(data, settings, runner))
    return {**result, "seconds": round(perf_counter() - began, 3)}


def figures(results: Sequence[Highlighted]) -> dict[str, Any]:
    """Give the suite's figures of what was highlighted."""
    answerable = [item for item in results if item.asked.answers]
    return {
        "questions": len(results),
        "k_precision": _mean(
            k_precision(item.answering, item.asked.gold) for item in answerable
        ),
        "recall": _mean(recall(item.answering, item.asked.gold) for item in answerable),
        "answer_recall": _mean(
            recall(item.answering, item.asked.answers[0]) for item in answerable
        ),
        "hit_rate": _mean(
            any(holds(item.answering, answer) for answer in item.asked.answers)
            for item in answerable
        ),
        "declined": _declining(results, [item.other for item in results]),
        "declined_hard": _declining(results, [item.hard for item in results]),
    }


def highlight_all(
    data: Sequence[GoldQuestion], settings: Settings, runner: EffectRunner
) -> list[Highlighted]:
    """Highlight for every question, in its paragraph and in the two others."""

    def highlighted(question: str, context: str | None) -> str | None:
        if context is None:
            return None
        asked = Inquiry(question, (Passage("paragraph", context),))
        planned = run(plan(asked, settings), runner)
        return " ".join(highlight.text for highlight in planned.highlights)

    return [
        Highlighted(
            item,
            highlighted(item.question, item.context) or "",
            highlighted(item.question, item.other),
            highlighted(item.question, item.hard),
        )
        for item in data
    ]


def _declining(
    results: Sequence[Highlighted], elsewhere: Sequence[str | None]
) -> dict[str, float] | None:
    """Precision, recall and F1 of declining; a positive is a question to decline."""
    wrong = [not item.answering for item in results if item.asked.answers]
    right = [not item.answering for item in results if not item.asked.answers]
    right += [not text for text in elsewhere if text is not None]
    if not right:
        return None
    hits, false = sum(right), sum(wrong)
    precision = hits / (hits + false) if hits + false else 0.0
    share = hits / len(right)
    return {"precision": precision, "recall": share, "f1": f1(precision, share)}


def _mean(values: Any) -> float:
    listed = [float(value) for value in values]
    return sum(listed) / len(listed) if listed else 0.0
