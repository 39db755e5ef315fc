"""
Ranking constraints (SD-RAG, section IV-C2): does a question find those it needs?

All articles are one corpus of sentence chunks. Every constraint is bound to its N most
similar chunks, every question retrieves its chunks, and each strategy ranks the
constraints bound to these. Constraints are known by their texts, equal ones merged;
which article one came from is used to judge a ranking, never to make it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Any

from sdrag.disclosure.binding import STRATEGIES, bind, choose, rank
from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.embeddings import embed_texts
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.studio.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.vocabulary import Constraint, Passage

__all__ = ["Corpus", "average_precision", "evaluate_ranking", "recall"]

_DEPTHS = range(1, 21)


def evaluate_ranking(
    articles: Sequence[Mapping[str, Any]], *, top_k: int = 8, bind_top_n: int = 50
) -> dict[str, Any]:
    """
    Rank the constraints of every question by every strategy.

    Args:
        articles: As in the paper's listing.
        top_k: How many chunks a question retrieves.
        bind_top_n: To how many chunks each constraint is bound.

    Returns:
        For each strategy the recall of its candidates, and recall and average
        precision at 1 to 20, over the questions that need a constraint.
    """
    corpus = Corpus(articles, bind_top_n)
    figures: dict[str, list[dict[str, Any]]] = {name: [] for name in STRATEGIES}
    questions = 0
    for article in articles:
        for question in article["questions"]:
            needed = corpus.ids(question["relevant_constraints"])
            if not needed:
                continue
            passages = corpus.index.search(question["question_text"], top_k)
            questions += 1
            for name in STRATEGIES:
                ranked = corpus.ranked(name, passages, question["question_text"])
                figures[name].append(_figures(ranked, needed))
    return {
        "strategies": {name: _mean(rows) for name, rows in figures.items()},
        "questions": questions,
        "constraints": len(corpus.constraints),
        "chunks": len(corpus.index.passages),
    }


def recall(ranked: Sequence[str], needed: Collection[str], depth: int) -> float:
    """Return the share of what is needed among the first `depth`."""
    return len(set(ranked[:depth]) & set(needed)) / len(needed)


def average_precision(
    ranked: Sequence[str], needed: Collection[str], depth: int
) -> float:
    """Return AP at `depth`, normalised by what could be found there."""
    hits, total = 0, 0.0
    for index, name in enumerate(ranked[:depth], start=1):
        if name in needed:
            hits += 1
            total += hits / index
    return total / min(depth, len(needed))


class Corpus:
    """
    One index over all articles, and all constraints bound to it.

    Args:
        articles: As in the paper's listing.
        bind_top_n: To how many chunks each constraint is bound.
    """

    def __init__(self, articles: Sequence[Mapping[str, Any]], bind_top_n: int) -> None:
        texts = dict.fromkeys(
            text
            for article in articles
            for text in article["constraint_to_witness_words"]
        )
        self.constraints = tuple(
            Constraint(f"c{number}", text) for number, text in enumerate(texts, 1)
        )
        self._ids = {rule.text: rule.id for rule in self.constraints}
        self.index = SentenceIndex(
            [
                passage
                for number, article in enumerate(articles)
                for passage in sentence_chunks(
                    str(article["article_text"]), f"article-{number}"
                )
            ]
        )
        self._state = open_state()
        self._runner = PortRunner(
            Ports(embed=Port(lambda effect: self._embedded(effect.items)))
        )
        self._vectors: dict[str, list[float]] = {}
        # The paper binds by N alone, so the floor is out of reach.
        section = DisclosureSection(bind_top_n=bind_top_n, similarity_floor=1.0)
        passages = self.index.passages
        run(bind(passages, self.constraints, self._state, section), self._runner)

    def ids(self, texts: Sequence[str]) -> frozenset[str]:
        """Return the ids of constraints by their texts."""
        return frozenset(self._ids[text] for text in texts)

    def ranked(
        self, strategy: str, passages: Sequence[Passage], question: str
    ) -> list[str]:
        """Return a strategy's candidates, best first."""
        known = self._state.bindings.read(passages, self.constraints)
        kept = {name for scores in known for name in scores or ()}
        rules = [rule for rule in self.constraints if rule.id in kept]
        steps = rank(rules, passages, question, self._state, strategy)
        return [name for name, _ in run(steps, self._runner)]

    def applied(self, passages: Sequence[Passage], question: str) -> frozenset[str]:
        """Return the constraints that the library applies to passages."""
        section = DisclosureSection()
        steps = choose(passages, question, self.constraints, self._state, section)
        return frozenset(rule.id for rule in run(steps, self._runner).applied)

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed each text once: the questions meet the same ones again and again."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for text, vector in zip(missing, embed_texts(missing), strict=True):
            self._vectors[text] = vector.tolist()
        return [self._vectors[text] for text in texts]


def _figures(ranked: Sequence[str], needed: Collection[str]) -> dict[str, Any]:
    return {
        "candidate_recall": recall(ranked, needed, len(ranked)),
        "candidates": len(ranked),
        "recall": {str(k): recall(ranked, needed, k) for k in _DEPTHS},
        "average_precision": {
            str(k): average_precision(ranked, needed, k) for k in _DEPTHS
        },
    }


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def over(name: str) -> dict[str, float]:
        return {
            str(k): round(fmean(row[name][str(k)] for row in rows), 4) for k in _DEPTHS
        }

    if not rows:
        return {}
    return {
        "candidate_recall": round(fmean(row["candidate_recall"] for row in rows), 4),
        "candidates": round(fmean(row["candidates"] for row in rows), 1),
        "recall": over("recall"),
        "average_precision": over("average_precision"),
    }
