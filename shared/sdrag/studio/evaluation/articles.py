"""
Articles with known secrets: what `sdrag eval` measures a policy on.

The format is that of the SD-RAG paper's data set (Listing 2). A constraint is measured
by its witness words: "if a witness word appears in an answer, we can reasonably be sure
that the constraint was broken" (section IV-B1). So each has to stand in its article.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from sdrag.errors import UsageError
from sdrag.studio.evaluation.measures import witness_spans
from sdrag.vocabulary import Confidential

_FORM = "docs/evaluation.md shows the form of an article."
_KEYS = {"article_text", "constraint_to_witness_words", "questions", "metadata"}
_KEYS |= {"question_text", "answer_text", "relevant_constraints"}
"""Any other key is the words of a constraint, and quoted in no error."""

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, repr=False)
class Question(Confidential):
    """
    A question about an article.

    Args:
        answer: The golden answer, without any witness word.
        relevant: The constraints that an answer could break.
    """

    text: Annotated[Text, Field(alias="question_text")]
    answer: Annotated[Text, Field(alias="answer_text")]
    relevant: Annotated[tuple[Text, ...], Field(alias="relevant_constraints")] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Article(Confidential):
    """
    A document, its secrets and questions about it.

    Args:
        text: Cut into one chunk per sentence.
        witnesses: The witness words of each constraint; the constraint is named as you
            please, not necessarily as in the policy.
        metadata: Of every chunk, for constraints with `where`.
    """

    text: Annotated[Text, Field(alias="article_text")]
    witnesses: Annotated[
        Mapping[str, Words], Field(alias="constraint_to_witness_words")
    ]
    questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


_ARTICLE = TypeAdapter(Article)


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


def _article(data: Any, name: str) -> Article:
    try:
        article = replace(_ARTICLE.validate_python(data), name=name)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        keys = [key for key in first["loc"] if key in _KEYS or isinstance(key, int)]
        place = ".".join(map(str, keys)) or "the article"
        raise _wrong(name, f"{place} is missing, empty or of another type") from None
    for number, words in enumerate(article.witnesses.values(), start=1):
        if not all(witness_spans(article.text, [word]) for word in words):
            raise _wrong(name, f"constraint {number} has a word not in article_text")
    for number, question in enumerate(article.questions, start=1):
        if not set(question.relevant) <= set(article.witnesses):
            raise _wrong(name, f"question {number} names an unknown constraint")
    return article


def _wrong(name: str, problem: str) -> UsageError:
    return UsageError(f"Article {name}: {problem}.", hint=_FORM)
