"""
The question sets of `python -m benchmarks.suites highlight`: SQuAD, RepliQA and BioASQ.

The paper measures on RepliQA and on a small BioASQ (section 6.1). Each form is known by
its keys. The forms become one: articles of paragraphs, each with its questions.

| form | file |
|---|---|
| SQuAD | an object with `data` |
| RepliQA | rows with `document_extracted`, `question`, `answer`, `long_answer` |
| rag-mini-bioasq | rows with `question`, `answer`, `relevant_passage_ids`; a corpus |
| BioASQ | an object with `questions`, each with `body`, `ideal_answer`, `snippets` |

In RepliQA a topic is an article, so the harder paragraph to decline is of the same
topic, and questions that a document does not answer have no answer. In BioASQ every
question is its own article. Its gold passage are the snippets, or the passages that
are named as relevant: no sentence of them is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.suites.highlight import (
    Article,
    GoldQuestion,
    paired_questions,
    squad_articles,
)
from benchmarks.suites.json_files import read_json
from sdrag.errors import UsageError

__all__ = ["read_questions"]

_UNANSWERABLE = "the answer is not found in the document"
Row = Mapping[str, Any]


def read_questions(
    path: Path, corpus: Path | None = None, *, seed: int = 0
) -> list[GoldQuestion]:
    """
    Read a question set of any of the forms.

    Args:
        path: JSON or JSON lines.
        corpus: The passages that a set names by `id`: rows with `passage` or `text`.
        seed: Of the pairing with paragraphs that do not answer.

    Raises:
        UsageError: It is of no form, or names passages that are not there.
    """
    content = read_json(path, "a question set")
    try:
        articles = _form(content, corpus)(content)
        return list(paired_questions(articles, random.Random(seed)))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(
            f"{path.name} is no question set of a known form ({type(error).__name__}).",
            hint="Known are SQuAD, RepliQA, BioASQ, and rag-mini-bioasq with a corpus.",
        ) from None


def _form(content: Any, corpus: Path | None) -> Callable[[Any], list[Article]]:
    if isinstance(content, Mapping):
        return squad_articles if "data" in content else _challenge
    if "document_extracted" in content[0]:
        return _repliqa
    if "relevant_passage_ids" in content[0]:
        passages = _passages(corpus)
        return lambda rows: [_mini(row, passages) for row in rows]
    raise ValueError


def _repliqa(rows: Sequence[Row]) -> list[Article]:
    topics: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        text = row["document_extracted"]
        topic = topics.setdefault(row.get("document_topic") or text, {})
        topic.setdefault(text, []).append(
            _asked(row["question"], row["answer"], row.get("long_answer") or "")
        )
    return [list(topic.items()) for topic in topics.values()]


def _asked(question: str, answer: str, gold: str) -> dict[str, Any]:
    if answer.strip().rstrip(".").lower() == _UNANSWERABLE:
        return {"question": question}
    answers = [{"text": answer}]
    return {"question": question, "answers": answers, "long_answer": gold or answer}


def _mini(row: Row, passages: Mapping[str, str]) -> Article:
    ids = row["relevant_passage_ids"]
    ids = json.loads(ids) if isinstance(ids, str) else ids
    text = "\n\n".join(passages[str(each)] for each in ids)
    return [(text, [_asked(row["question"], row["answer"], text)])]


def _passages(corpus: Path | None) -> dict[str, str]:
    if corpus is None:
        raise UsageError(
            "The question set names passages of a corpus.", hint="Pass --corpus."
        )
    rows = read_json(corpus, "passages")
    return {str(row["id"]): row.get("passage") or row["text"] for row in rows}


def _challenge(content: Row) -> list[Article]:
    articles: list[Article] = []
    for row in content["questions"]:
        snippets = list(dict.fromkeys(snippet["text"] for snippet in row["snippets"]))
        ideal = row["ideal_answer"]
        answer = ideal if isinstance(ideal, str) else ideal[0]
        text = "\n\n".join(snippets)
        articles.append([(text, [_asked(row["body"], answer, text)])])
    return articles
