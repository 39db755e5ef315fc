"""
Ranking constraints (SD-RAG, section IV-C2): does a question find those it needs?

All articles are one corpus of sentence chunks. Every constraint is bound to its N most
similar chunks, every question retrieves its chunks, and each strategy ranks the
constraints bound to these. Constraints are known by their texts, equal ones merged;
which article one came from is used to judge a ranking, never to make it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.suites.json_files import load_articles
from sdrag.disclosure.binding import STRATEGIES, bind, rank
from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.embeddings import embed_texts
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.studio.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.vocabulary import Constraint

_DEPTHS = (1, 5, 10, 20)


def ranking(
    data: Path | None = None, top_k: int = 8, bind_top_n: int = 50
) -> dict[str, Any]:
    """
    Rank the constraints of every question by every strategy, over all articles.

    For each strategy the recall of its candidates, and recall and average precision at
    several depths, over the questions that need a constraint.
    """
    articles = load_articles(data)
    texts = [text for a in articles for text in a["constraint_to_witness_words"]]
    rules = [Constraint(text, text) for text in dict.fromkeys(texts)]
    index = SentenceIndex(
        [
            passage
            for number, article in enumerate(articles)
            for passage in sentence_chunks(article["article_text"], f"article-{number}")
        ]
    )
    runner = PortRunner(Ports(embed=Port(_Embedder())))
    # The paper binds by N alone, so the floor is out of reach.
    section = DisclosureSection(bind_top_n=bind_top_n, similarity_floor=1.0)
    state = open_state()
    run(bind(index.passages, rules, state, section), runner)
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in STRATEGIES}
    for question in (question for a in articles for question in a["questions"]):
        if needed := frozenset(question["relevant_constraints"]):
            asked = question["question_text"]
            passages = index.search(asked, top_k)
            scores = state.bindings.read(passages, rules)
            kept = {name for of in scores for name in of or ()}
            candidates = [rule for rule in rules if rule.id in kept]
            for name in STRATEGIES:
                ranked = run(rank(candidates, passages, asked, state, name), runner)
                figures[name].append(_figures([id_ for id_, _ in ranked], needed))
    return {
        "strategies": {
            name: {of: round(fmean(row[of] for row in rows), 4) for of in rows[0]}
            for name, rows in figures.items()
        },
        "questions": len(next(iter(figures.values()))),
        "constraints": len(rules),
        "chunks": len(index.passages),
    }


class _Embedder:
    """Embeds each text once: the questions meet the same ones again and again."""

    def __init__(self) -> None:
        self._vectors: dict[str, list[float]] = {}

    def __call__(self, effect: Any) -> list[list[float]]:
        missing = [t for t in dict.fromkeys(effect.items) if t not in self._vectors]
        for text, vector in zip(missing, embed_texts(missing), strict=True):
            self._vectors[text] = vector.tolist()
        return [self._vectors[text] for text in effect.items]


def _figures(ranked: Sequence[str], needed: Collection[str]) -> dict[str, float]:
    """Return recall, and average precision normalised by what could be found."""
    hits = [name in needed for name in ranked]
    found = [sum(hits[: place + 1]) for place in range(len(hits))]
    figures = {"candidate_recall": sum(hits) / len(needed), "candidates": len(ranked)}
    for depth in _DEPTHS:
        some = list(zip(hits, found, strict=True))[:depth]
        total = sum(n / place for place, (hit, n) in enumerate(some, 1) if hit)
        figures[f"recall@{depth}"] = sum(hits[:depth]) / len(needed)
        figures[f"precision@{depth}"] = total / min(depth, len(needed))
    return figures
