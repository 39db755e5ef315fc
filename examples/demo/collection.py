"""
What the demo retrieves from: a few articles, and the policy that guards them.

Chunks are sentences, as in the paper: 639 for 13,600 tokens (section IV-C2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any

import yaml

from benchmarks.suites.json_files import load_articles
from sdrag.evaluation.index import sentence_chunks
from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Passage

__all__ = ["Collection", "DemoQuestion", "collect", "story"]

_ARTICLES = 8


@dataclass(frozen=True, slots=True, repr=False)
class DemoQuestion(Confidential):
    """A question, its golden answer and what an answer may give away."""

    text: str
    golden: str
    relevant: tuple[str, ...]
    witnesses: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, repr=False)
class Collection(Confidential):
    """
    Articles cut into sentences, under one policy.

    Args:
        passages: With the metadata key `case`, by which the policy's constraints are
            limited to their article.
        policy: As a mapping; what a privacy officer would write.
        questions: Of all articles.
    """

    passages: tuple[Passage, ...]
    policy: Mapping[str, Any]
    questions: tuple[DemoQuestion, ...]

    def documents(self) -> Iterator[tuple[Passage, ...]]:
        """Yield the passages of each document."""
        for _, passages in groupby(self.passages, key=lambda one: one.document_id):
            yield tuple(passages)

    def rule_texts(self) -> dict[str, str]:
        """Return the constraints' words by their ids."""
        return {rule.id: rule.text for rule in Policy.read(self.policy).rules}


def story() -> Collection:
    """Return what can be read at a glance: the files that `sdrag init` writes."""
    starter = files("sdrag.cli").joinpath("starter")
    policy = starter.joinpath("policy.yaml").read_text(encoding="utf-8")
    (document,) = starter.joinpath("documents").iterdir()
    paragraphs = document.read_text(encoding="utf-8").split("\n\n")
    return Collection(
        passages=tuple(
            Passage(f"story-{number}", " ".join(text.split()), {}, None, "story")
            for number, text in enumerate(paragraphs[1:], start=1)
        ),
        policy=yaml.safe_load(policy),
        questions=(
            DemoQuestion(
                text="Which witness stood at the gate?",
                golden="A witness stood at the gate.",
                relevant=tuple(_STORY_WITNESSES),
                witnesses=_STORY_WITNESSES,
            ),
        ),
    )


_STORY_WITNESSES: Mapping[str, Sequence[str]] = {
    "Remove names of witnesses": ("Jonathan Meyers", "Meyers"),
    "Hide dates": ("12 May 1981",),
    "Remove telephone numbers and e-mail addresses": ("+44 20 7946 0018",),
}


def collect(count: int = _ARTICLES) -> Collection:
    """Read the first articles of the data set."""
    articles = load_articles()[:count]
    return Collection(
        passages=tuple(
            Passage(chunk.id, chunk.text, {"case": name}, None, name)
            for name, article in _named(articles)
            for chunk in sentence_chunks(str(article["article_text"]), name)
        ),
        policy={
            "constraints": [
                {"id": f"{name}.{number}", "text": text, "where": {"case": name}}
                for name, article in _named(articles)
                for number, text in enumerate(article["constraint_to_witness_words"], 1)
            ],
            "metadata": {"allow": ["case"]},
            "disclosure": {"sensitivity": "balanced"},
        },
        questions=tuple(
            DemoQuestion(
                text=question["question_text"],
                golden=question["answer_text"],
                relevant=tuple(question["relevant_constraints"]),
                witnesses=article["constraint_to_witness_words"],
            )
            for article in articles
            for question in article["questions"]
        ),
    )


def _named(
    articles: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, article in enumerate(articles, start=1):
        yield f"case-{number}", article
