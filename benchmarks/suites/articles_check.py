"""
The articles of the `rcqa` suite: reading them, and the rules each of them keeps.

An article holds a text, six constraints and some questions. A constraint is measured
by its witness words: "if a witness word appears in an answer, we can reasonably be
sure that the constraint was broken" (SD-RAG, IV-B1). The measurement is worth no more
than these words, so the rules say what makes them sound: each is in the text, none
is in a golden answer or a question, and the constraints said to be relevant to a
question are those whose words its raw texts (the paper's builder before step 5) hold.

Words are compared at word boundaries: in the article with their case, since they are
quoted from it, and everywhere else without, since an answer may open with one.
Problems name places by index and never quote the article.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.suites.json_files import DATA
from sdrag.errors import UsageError

__all__ = ["check_article", "load_articles"]

CONSTRAINTS = 6
WITNESS_WORDS = range(2, 9)
QUESTIONS = range(4, 6)
ARTICLE_WORDS = range(450, 701)

_TEXTS = ("category", "title", "article_text")
_QUESTION_TEXTS = ("question_text", "answer_text")
_RAW_TEXTS = ("raw_question_text", "raw_answer_text")


def load_articles(path: Path | None = None) -> list[dict[str, Any]]:
    """
    Read articles, in the order of their file names.

    Args:
        path: A folder of JSON files, a JSON file with one article or a list of
            them, or None for the twenty of this folder.

    Raises:
        UsageError: If a file cannot be read as articles.
    """
    source = path or DATA / "articles"
    if not source.is_dir():
        return _read(source)
    found = sorted(
        (file for file in source.iterdir() if file.name.endswith(".json")),
        key=lambda file: file.name,
    )
    articles = [article for file in found for article in _read(file)]
    if not articles:
        raise UsageError("The folder holds no article.", hint="Articles are .json.")
    return articles


def check_article(article: Mapping[str, Any]) -> list[str]:
    """Return every rule the article breaks, by index; nothing if it is sound."""
    # Rules about words read fields that only a well-formed article has.
    return list(_shape(article)) or [
        *_counts(article),
        *_witness_words(article),
        *_secrecy(article),
        *_relevance(article),
        *_coverage(article),
    ]


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(
            file.read_text(encoding="utf-8"), object_pairs_hook=_distinct
        )
    except (OSError, ValueError):
        # The error below quotes what it could not read.
        raise UsageError(
            f"{file.name!r} cannot be read as articles.",
            hint="It must be UTF-8 JSON, no key twice in one object.",
        ) from None
    articles = content if isinstance(content, list) else [content]
    if not all(isinstance(article, dict) for article in articles):
        raise UsageError(
            f"{file.name!r} holds something that is not an article.",
            hint="Write one object, or a list of objects.",
        )
    return articles


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a key twice: JSON would drop the first silently."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _stands_in(word: str, text: str, *, case: bool = False) -> bool:
    flags = re.NOFLAG if case else re.IGNORECASE
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) is not None


def _shape(article: Mapping[str, Any]) -> Iterator[str]:
    for key in _TEXTS:
        if not _is_text(article.get(key)):
            yield f"{key}: missing or not a text"
    constraints = article.get("constraint_to_witness_words")
    if not isinstance(constraints, Mapping):
        yield "constraint_to_witness_words: missing or not an object"
    else:
        for index, words in enumerate(constraints.values()):
            if not _is_texts(words):
                yield f"constraint {index}: witness words are not a list of texts"
    questions = article.get("questions")
    if not isinstance(questions, list):
        yield "questions: missing or not a list"
    else:
        for index, question in enumerate(questions):
            yield from _question_shape(index, question)


def _question_shape(index: int, question: object) -> Iterator[str]:
    if not isinstance(question, Mapping):
        yield f"question {index}: not an object"
        return
    raw = _RAW_TEXTS if any(key in question for key in _RAW_TEXTS) else ()
    for key in (*_QUESTION_TEXTS, *raw):
        if not _is_text(question.get(key)):
            yield f"question {index}: {key} missing or not a text"
    if not _is_texts(question.get("relevant_constraints")):
        yield f"question {index}: relevant_constraints is not a list of texts"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _counts(article: Mapping[str, Any]) -> Iterator[str]:
    constraints = article["constraint_to_witness_words"]
    if len(constraints) != CONSTRAINTS:
        yield f"{len(constraints)} constraints, not {CONSTRAINTS}"
    if repeated := _repeated(list(constraints)):
        yield f"constraint {repeated[0]}: the same as another"
    if (length := len(article["article_text"].split())) not in ARTICLE_WORDS:
        yield f"article_text: {length} words, not {_limits(ARTICLE_WORDS)}"
    questions = article["questions"]
    if len(questions) not in QUESTIONS:
        yield f"{len(questions)} questions, not {_limits(QUESTIONS)}"
    for index in _repeated([question["question_text"] for question in questions]):
        yield f"question {index}: the same as another"


def _witness_words(article: Mapping[str, Any]) -> Iterator[str]:
    owners: dict[str, int] = {}
    for index, words in enumerate(article["constraint_to_witness_words"].values()):
        if len(words) not in WITNESS_WORDS:
            limits = _limits(WITNESS_WORDS)
            yield f"constraint {index}: {len(words)} witness words, not {limits}"
        for place, word in enumerate(words):
            where = f"constraint {index}, word {place}"
            if not _stands_in(word, article["article_text"], case=True):
                yield f"{where}: is not in the article"
            if word.casefold() in owners:
                yield f"{where}: also a word of constraint {owners[word.casefold()]}"
            owners.setdefault(word.casefold(), index)


def _secrecy(article: Mapping[str, Any]) -> Iterator[str]:
    constraints = article["constraint_to_witness_words"].values()
    for number, question in enumerate(article["questions"]):
        for key in _QUESTION_TEXTS:
            for index, words in enumerate(constraints):
                for place, word in enumerate(words):
                    if _stands_in(word, question[key]):
                        where = f"constraint {index}, word {place}"
                        yield f"question {number}: {key} gives away {where}"


def _relevance(article: Mapping[str, Any]) -> Iterator[str]:
    constraints = article["constraint_to_witness_words"]
    index_of = {text: index for index, text in enumerate(constraints)}
    for number, question in enumerate(article["questions"]):
        relevant = question["relevant_constraints"]
        for place, text in enumerate(relevant):
            if text not in index_of:
                yield f"question {number}: relevant constraint {place} is unknown"
        for place in _repeated(relevant):
            yield f"question {number}: relevant constraint {place} occurs twice"
        if _RAW_TEXTS[0] in question:
            said = {index_of[text] for text in relevant if text in index_of}
            held = _held(question, list(constraints.values()))
            for index in sorted(held - said):
                yield f"question {number}: constraint {index} is relevant, not listed"
            for index in sorted(said - held):
                yield f"question {number}: constraint {index} is listed, not relevant"


def _held(question: Mapping[str, Any], constraints: Sequence[list[str]]) -> set[int]:
    """Return the constraints of which the raw question or answer holds a word."""
    return {
        index
        for index, words in enumerate(constraints)
        for word in words
        if any(_stands_in(word, question[key]) for key in _RAW_TEXTS)
    }


def _coverage(article: Mapping[str, Any]) -> Iterator[str]:
    used = {
        text
        for question in article["questions"]
        for text in question["relevant_constraints"]
    }
    for index, text in enumerate(article["constraint_to_witness_words"]):
        if text not in used:
            yield f"constraint {index}: relevant to no question"


def _repeated(texts: Sequence[str]) -> list[int]:
    """Return the indices of texts that say what an earlier one says."""
    seen: Counter[str] = Counter()
    found = []
    for index, text in enumerate(texts):
        key = " ".join(text.casefold().split())
        if seen[key]:
            found.append(index)
        seen[key] += 1
    return found


def _limits(numbers: range) -> str:
    return f"{numbers.start} to {numbers.stop - 1}"
