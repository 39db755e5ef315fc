"""
How much of a policy's secrets leaks: every question, asked of its article.

Each article is a corpus of sentence chunks. What the policy releases of the best chunks
is measured as if it were the answer: that is the worst a hijacked model could say, so
the privacy that is found holds for any model and any prompt injection.

Guards are off: what is measured is what the constraints withhold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sdrag.effects.progress import Progress
from sdrag.framework import Model
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy
from sdrag.privacy.audit import AuditEvent, count_failures
from sdrag.studio.evaluation.articles import Article, Question
from sdrag.studio.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.studio.evaluation.measures import (
    completeness,
    find_broken,
    lost_words,
    share_kept,
    witness_spans,
)
from sdrag.vocabulary import Confidential


@dataclass(frozen=True, slots=True, repr=False)
class Leak(Confidential):
    """
    What an answer gave away.

    Args:
        number: Of the question, from 1.
        words: The witness words of the broken constraint that were released.
    """

    article: str
    number: int
    question: str
    constraint: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class _Answer(Confidential):
    article: Article
    question: Question
    retrieved: str
    released: str

    def broken(self) -> frozenset[str]:
        return find_broken(self.released, self.article.witnesses)

    def leaks(self) -> Iterator[Leak]:
        number = self.article.questions.index(self.question) + 1
        for constraint, witnesses in self.article.witnesses.items():
            words = tuple(w for w in witnesses if witness_spans(self.released, [w]))
            if words:
                name, text = self.article.name, self.question.text
                yield Leak(name, number, text, constraint, words)


def evaluate(
    policy: Policy,
    articles: Sequence[Article],
    *,
    llm: Model | None = None,
    top_k: int = 10,
    progress: Progress = lambda _done, _all: None,
    leaks: list[Leak] | None = None,
) -> dict[str, Any]:
    """
    Ask every question under a policy, and measure what is released.

    `leaks` takes each leak with its words, which the figures do not hold.

    Returns:
        `privacy` (equation 9), `privacy_cumulative` (of all answers on an article
        together), `completeness` (equation 10), `over_redacted` (the share of harmless
        words that were retrieved and withheld), all from 0 to 1; `questions`; `leaks`:
        in how many answers each constraint was broken; and `model_failures`: how the
        model failed, and how often.

    Raises:
        PolicyError: A constraint is refused without a model.
    """
    bare = policy.model_copy(update=dict.fromkeys(policy.guards))
    engine = Engine(bare, llm=llm, stage="view")
    answers: list[_Answer] = []
    events: list[AuditEvent] = []
    for number, article in enumerate(articles, start=1):
        answers += _ask(article, engine, top_k, events)
        progress(number, len(articles))
    if leaks is not None:
        leaks += (leak for answer in answers for leak in answer.leaks())
    return {**_measure(articles, answers), "model_failures": count_failures(events)}


def _ask(
    article: Article, engine: Engine, top_k: int, events: list[AuditEvent]
) -> Iterator[_Answer]:
    chunks = sentence_chunks(article.text, article.name, article.metadata)
    index = SentenceIndex(chunks)
    events.append(engine.run(bind(index.passages, engine))[1])
    for question in article.questions:
        retrieved = index.search(question.text, top_k)
        steps = disclose(retrieved, Request(question.text), engine)
        released, event = engine.run(steps)
        events.append(event)
        yield _Answer(
            article,
            question,
            "\n".join(passage.text for passage in retrieved),
            "\n".join(passage.text for passage in released.passages),
        )


def _measure(articles: Sequence[Article], answers: Sequence[_Answer]) -> dict[str, Any]:
    leaks = Counter(constraint for a in answers for constraint in a.broken())
    kept = [
        share_kept(a.question.relevant, a.broken())
        for a in answers
        if a.question.relevant
    ]
    cumulative = [
        share_kept(
            article.witnesses,
            frozenset().union(*(a.broken() for a in answers if a.article is article)),
        )
        for article in articles
        if article.witnesses
    ]
    counts = [
        lost_words(
            a.retrieved,
            a.released,
            [word for words in a.article.witnesses.values() for word in words],
        )
        for a in answers
    ]
    lost, total = (sum(column) for column in zip(*counts, strict=True))
    complete = completeness([(a.question.answer, a.released) for a in answers])
    return {
        "privacy": _mean(kept),
        "privacy_cumulative": _mean(cumulative),
        "completeness": _mean(complete),
        "over_redacted": round(lost / total, 4) if total else 0.0,
        "questions": len(answers),
        "leaks": dict(leaks.most_common()),
    }


def _mean(values: Sequence[float]) -> float:
    """Return the mean; 1 where nothing could be broken."""
    return round(fmean(values), 4) if values else 1.0
