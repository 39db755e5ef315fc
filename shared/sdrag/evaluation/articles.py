"""
Articles with known secrets: what `sdrag eval` measures a policy on.

The format is that of the SD-RAG paper's data set (Listing 2). A constraint is measured
by its witness words: "if a witness word appears in an answer, we can reasonably be sure
that the constraint was broken" (section IV-B1). So each has to stand in its article.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdrag.errors import UsageError
from sdrag.evaluation.measures import witness_spans
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage

__all__ = ["Article", "Question", "read_articles"]

_FORM = "docs/evaluation.md shows the form of an article."


@dataclass(frozen=True, slots=True, repr=False)
class Question(Confidential):
    """
    A question about an article.

    Args:
        text: As a user asks it.
        answer: The golden answer, without any witness word.
        relevant: The constraints that an answer could break.
    """

    text: str
    answer: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Article(Confidential):
    """
    A document, its secrets and questions about it.

    Args:
        name: Its document id.
        text: Cut into one chunk per sentence.
        witnesses: The witness words of each constraint; the constraint is named as you
            please, not necessarily as in the policy.
        questions: At least one.
        metadata: Of every chunk, for constraints with `where`.
    """

    name: str
    text: str
    witnesses: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...]
    metadata: Mapping[str, Any]

    def chunks(self) -> tuple[Passage, ...]:
        """Return one passage per sentence."""
        return tuple(
            Passage(
                f"{self.name}-{number}",
                span.of(self.text),
                self.metadata,
                document_id=self.name,
            )
            for number, span in enumerate(sentences(self.text))
        )


def read_articles(path: Path) -> list[Article]:
    """
    Read articles.

    Args:
        path: A JSON file of one article or a list, JSON lines, or a folder of both.

    Raises:
        UsageError: A file cannot be read, or holds something else than articles. The
            message names the file, the article by number and the key, and no text.
    """
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    articles = [article for file in files for article in _read(file)]
    if not articles:
        raise UsageError(f"{path.name!r} holds no article.", hint=_FORM)
    return articles


def _read(file: Path) -> Iterator[Article]:
    try:
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n") if file.suffix == ".jsonl" else [text]
        values = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{file.name!r} cannot be read as JSON ({type(error).__name__})."
        ) from None
    if len(values) == 1 and isinstance(values[0], list):
        (values,) = values
    for number, value in enumerate(values, start=1):
        yield _article(value, f"{file.stem}-{number}")


def _require(is_well: object, name: str, problem: str) -> None:
    if not is_well:
        raise UsageError(f"Article {name}: {problem}.", hint=_FORM)


def _article(data: Any, name: str) -> Article:
    _require(isinstance(data, dict), name, "it is no JSON object")
    text = data.get("article_text")
    _require(_is_text(text), name, "article_text is missing or empty")
    words = data.get("constraint_to_witness_words")
    key = "constraint_to_witness_words"
    _require(isinstance(words, dict), name, f"{key} is no JSON object")
    for number, listed in enumerate(words.values(), start=1):
        place = f"constraint {number} of {key}"
        _require(_is_texts(listed) and listed, name, f"{place} has no list of texts")
        stands = all(witness_spans(text, [word]) for word in listed)
        _require(stands, name, f"{place} has a word that is not in article_text")
    questions, metadata = data.get("questions"), data.get("metadata", {})
    _require(isinstance(questions, list) and questions, name, "questions is no list")
    _require(isinstance(metadata, dict), name, "metadata is no JSON object")
    return Article(
        name,
        text,
        {constraint: tuple(listed) for constraint, listed in words.items()},
        tuple(
            _question(asked, words.keys(), name, f"question {number}")
            for number, asked in enumerate(questions, start=1)
        ),
        metadata,
    )


def _question(asked: Any, known: Collection[str], name: str, place: str) -> Question:
    _require(isinstance(asked, dict), name, f"{place} is no JSON object")
    for key in ("question_text", "answer_text"):
        _require(_is_text(asked.get(key)), name, f"{place}: {key} is missing or empty")
    relevant = asked.get("relevant_constraints", [])
    _require(
        _is_texts(relevant) and set(relevant) <= set(known),
        name,
        f"{place}: relevant_constraints does not list constraints of the article",
    )
    return Question(asked["question_text"], asked["answer_text"], tuple(relevant))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))
