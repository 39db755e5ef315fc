"""
The paper's data-set builder in six steps (SD-RAG, section IV-A1), over any model.

1. Topics, each with categories of information that are likely to be sensitive.
2. An article for each, with a mapping from every category to its instances.
3. Questions that the article answers.
4. The categories relevant to each, by keyword: whose instances stand in question or
   answer.
5. Question and answer without the instances.
6. Inspection. The paper does it by hand; here `check_article` does it, and an article
   in which it finds a problem is refused. It is written again, from a prompt that lists
   the problems.

Step 4 reads the texts from before step 5, which are kept, so that the check is real.
Topics and every finished article are files, so a run that was broken off goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.suites.articles_check import (
    ARTICLE_WORDS,
    CONSTRAINTS,
    QUESTIONS,
    WITNESS_WORDS,
    check_article,
)
from sdrag.errors import ModelReplyError, UsageError

__all__ = ["Ask", "Built", "Refused", "build_articles"]

Ask = Callable[[str], str]
"""A prompt to a reply: a model of any framework, wrapped."""

_TOPICS = """\
Name {count} topics for short articles that may contain sensitive data, each of \
another genre, with {constraints} kinds of information in it that may be sensitive, \
each written as an instruction such as "Remove names of witnesses".{known}
Answer with JSON only: \
[{{"category": "...", "title": "...", "constraints": ["..."]}}]"""

_KNOWN = "\nDo not repeat any of these topics: {titles}"

_ARTICLE = """\
Write an article of {least} to {most} words on this topic: {title} ({category}). \
Include {few} to {many} instances of what each of these instructions protects:
{constraints}
Then list, for each instruction, its instances exactly as they stand in the article, \
capitals included. An instance belongs to one instruction only.{refused}
Answer with JSON only: {{"article_text": "...", "constraint_to_witness_words": \
{{"<instruction>": ["<instance>", ...]}}}}"""

_REFUSED = "\n\nAn earlier attempt was refused, for these reasons:\n{problems}\n"

_QUESTIONS = """\
Write {count} questions that this article answers, each with its answer in one or two \
sentences. Between them, questions and answers touch every one of these kinds of \
information, and name at least one instance of each:
{instances}
Answer with JSON only: [{{"question_text": "...", "answer_text": "..."}}]

{text}"""

_REMOVE = """\
Write this question and its answer again so that they still ask and tell the same, \
but in general words, without any of these: {words}
Answer with JSON only: {{"question_text": "...", "answer_text": "..."}}

{pair}"""


@dataclass(frozen=True, slots=True)
class Refused:
    """
    A topic without an article.

    Args:
        title: The topic's.
        problems: What the checks found in the last attempt, by index.
    """

    title: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Built:
    """
    What a run made.

    Args:
        paths: The files of the finished articles, of earlier runs too.
        refused: The topics whose every attempt the checks refused.
    """

    paths: tuple[Path, ...]
    refused: tuple[Refused, ...]


def build_articles(
    ask: Ask,
    folder: Path,
    *,
    count: int = 20,
    attempts: int = 3,
    progress: Callable[[int, int], None] | None = None,
) -> Built:
    """
    Build articles into a folder, one JSON file each; go on where a run was broken off.

    Whatever the model raises ends the run, and leaves what is finished.

    Args:
        ask: The model.
        folder: Holds the topics and the finished articles.
        count: How many topics; more than in an earlier run adds to it.
        attempts: How often an article is written before its topic is refused.
        progress: Called with how many topics are done, and of how many.

    Raises:
        ModelReplyError: The topics cannot be read.
        UsageError: The folder holds something else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    topics = _topics(ask, folder / "topics.list", count, attempts)
    paths: list[Path] = []
    refused: list[Refused] = []
    for number, topic in enumerate(topics, start=1):
        path = folder / f"{number:02d}.json"
        problems = () if path.exists() else _written(ask, topic, path, attempts)
        if problems:
            refused.append(Refused(topic["title"], problems))
        else:
            paths.append(path)
        if progress:
            progress(number, len(topics))
    return Built(tuple(paths), tuple(refused))


def _topics(ask: Ask, path: Path, count: int, attempts: int) -> list[dict[str, Any]]:
    """Read the topics of an earlier run, and ask for those that are missing."""
    topics = _kept_topics(path)
    for _ in range(attempts):
        if len(topics) >= count:
            break
        titles = [topic["title"] for topic in topics]
        prompt = _TOPICS.format(
            count=count - len(topics),
            constraints=CONSTRAINTS,
            known=_KNOWN.format(titles=json.dumps(titles)) if titles else "",
        )
        found = _json(ask(prompt), list)
        topics += [t for t in found if _is_topic(t) and t["title"] not in titles]
        _keep(path, topics)
    if len(topics) < count:
        raise ModelReplyError(f"Only {len(topics)} of {count} topics can be used.")
    return topics[:count]


def _kept_topics(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        kept = None
    if not isinstance(kept, list) or not all(map(_is_topic, kept)):
        raise UsageError(
            f"{path.name!r} holds no topics of an earlier run.",
            hint="Take another folder.",
        )
    return kept


def _is_topic(topic: object) -> bool:
    if not isinstance(topic, dict):
        return False
    texts = [topic.get("category"), topic.get("title")]
    rules = topic.get("constraints")
    return (
        isinstance(rules, list)
        and len(rules) == CONSTRAINTS
        and all(isinstance(text, str) and text.strip() for text in (*texts, *rules))
    )


def _written(
    ask: Ask, topic: Mapping[str, Any], path: Path, attempts: int
) -> tuple[str, ...]:
    """Write an article until the checks find nothing; return what they found last."""
    problems: list[str] = []
    for _ in range(attempts):
        try:
            article = _article(ask, topic, problems)
            problems = check_article(article)
        except (ModelReplyError, KeyError, TypeError, AttributeError):
            problems = ["a reply is not of the form that was asked for"]
            continue
        if not problems:
            _keep(path, article)
            break
    return tuple(problems)


def _keep(path: Path, value: object) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_suffix(".part")
    text = json.dumps(value, indent=2, ensure_ascii=False)
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def _article(
    ask: Ask, topic: Mapping[str, Any], problems: Sequence[str]
) -> dict[str, Any]:
    prompt = _ARTICLE.format(
        title=topic["title"],
        category=topic["category"],
        constraints=_listed(topic["constraints"]),
        least=ARTICLE_WORDS[0],
        most=ARTICLE_WORDS[-1],
        few=WITNESS_WORDS[0],
        many=WITNESS_WORDS[-1],
        refused=_REFUSED.format(problems=_listed(problems)) if problems else "",
    )
    written = _json(ask(prompt), dict)
    witnesses = written["constraint_to_witness_words"]
    asked = _QUESTIONS.format(
        count=QUESTIONS[-1],
        instances=_listed(f"{name}: {json.dumps(w)}" for name, w in witnesses.items()),
        text=written["article_text"],
    )
    return {
        "category": topic["category"],
        "title": topic["title"],
        "article_text": written["article_text"],
        "constraint_to_witness_words": witnesses,
        "questions": [_question(ask, p, witnesses) for p in _json(ask(asked), list)],
    }


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _question(
    ask: Ask, raw: Mapping[str, str], witnesses: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Find what is relevant in the raw texts, then take it out of them."""
    texts = f"{raw['question_text']}\n{raw['answer_text']}"
    standing = {
        constraint: [word for word in words if _stands(word, texts)]
        for constraint, words in witnesses.items()
    }
    words = [word for found in standing.values() for word in found]
    clean: Mapping[str, str] = raw
    if words:
        prompt = _REMOVE.format(words=json.dumps(words), pair=json.dumps(dict(raw)))
        clean = _json(ask(prompt), dict)
    return {
        "question_text": clean["question_text"],
        "answer_text": clean["answer_text"],
        "relevant_constraints": [name for name, found in standing.items() if found],
        "raw_question_text": raw["question_text"],
        "raw_answer_text": raw["answer_text"],
    }


def _stands(word: str, text: str) -> bool:
    return (
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
    )


def _json(reply: str, kind: type[Any]) -> Any:
    """Read the first JSON value of a kind that is in a reply."""
    decoder = json.JSONDecoder()
    opening = "[" if kind is list else "{"
    index = reply.find(opening)
    while index >= 0:
        try:
            value, _ = decoder.raw_decode(reply, index)
        except (json.JSONDecodeError, RecursionError):
            index = reply.find(opening, index + 1)
            continue
        return value
    raise ModelReplyError("The reply holds no JSON of the form that was asked for.")
