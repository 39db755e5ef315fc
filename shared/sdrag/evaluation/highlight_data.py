"""
Questions, their paragraphs and their gold passages, from SQuAD-style files.

The gold passage is `long_answer` where the file gives one (as RepliQA does), else the
sentences that hold the answer. Every question is asked three times: of its own
paragraph, of a paragraph of another article, which cannot answer it, and of another
paragraph of the same article, which may. The pairing is drawn with a fixed seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

__all__ = ["Asked", "read_squad"]


@dataclass(frozen=True, slots=True)
class Asked:
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


def read_squad(path: Path, *, seed: int = 0) -> list[Asked]:
    """
    Read a SQuAD-style file.

    Raises:
        UsageError: It is none.
    """
    try:
        articles = json.loads(path.read_text(encoding="utf-8"))["data"]
        paragraphs = [
            [
                (paragraph["context"], paragraph["qas"])
                for paragraph in one["paragraphs"]
            ]
            for one in articles
        ]
        return list(_asked(paragraphs, random.Random(seed)))  # noqa: S311 -- pairing
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise UsageError(
            f"{path.name} is no SQuAD-style file ({type(error).__name__})."
        ) from None


def _asked(
    articles: Sequence[Sequence[tuple[str, Sequence[Mapping[str, Any]]]]],
    rng: random.Random,
) -> Iterator[Asked]:
    for index, article in enumerate(articles):
        elsewhere = [
            context
            for number, other in enumerate(articles)
            if number != index
            for context, _ in other
        ]
        for place, (context, qas) in enumerate(article):
            beside = [text for at, (text, _) in enumerate(article) if at != place]
            for qa in qas:
                yield Asked(
                    qa["question"],
                    context,
                    tuple(answer["text"] for answer in qa.get("answers", ())),
                    _gold(context, qa),
                    rng.choice(elsewhere) if elsewhere else None,
                    rng.choice(beside) if beside else None,
                )


def _gold(context: str, qa: Mapping[str, Any]) -> str:
    if qa.get("long_answer"):
        return str(qa["long_answer"])
    if not qa.get("answers"):
        return ""
    answer = qa["answers"][0]
    start = int(answer["answer_start"])
    span = Span(start, start + len(answer["text"]))
    held = [one for one in sentences(context) if one.overlaps(span)]
    return context[held[0].start : held[-1].end] if held else answer["text"]
