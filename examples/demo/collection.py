"""What the demo retrieves from: eight invented articles, and a policy for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from benchmarks.suites.json_files import load_articles
from sdrag.studio.evaluation.index import sentence_chunks
from sdrag.vocabulary import Confidential, Passage


@dataclass(frozen=True, slots=True, repr=False)
class Question(Confidential):
    """A question, its golden answer, and the words that break each constraint."""

    text: str
    golden: str
    relevant: tuple[str, ...]
    witnesses: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, repr=False)
class Collection(Confidential):
    """
    Documents cut into passages, under one policy.

    Args:
        documents: The passages of each document.
        policy: What a privacy officer would write.
        questions: Of all documents.
    """

    documents: tuple[tuple[Passage, ...], ...]
    policy: Mapping[str, Any]
    questions: tuple[Question, ...]


_STORY_WITNESSES = {
    "Remove names of witnesses": ("Jonathan Meyers", "Meyers"),
    "Hide dates": ("12 May 1981",),
    "Remove telephone numbers and e-mail addresses": ("+44 20 7946 0018",),
}


def story() -> Collection:
    """Return the policy and the document that `sdrag init` writes."""
    starter = files("sdrag.studio.cli").joinpath("starter")
    (document,) = starter.joinpath("documents").iterdir()
    paragraphs = document.read_text(encoding="utf-8").split("\n\n")[1:]
    passages = tuple(
        Passage(f"story-{number}", " ".join(text.split()), {}, None, "story")
        for number, text in enumerate(paragraphs, start=1)
    )
    question = Question(
        "Which witness stood at the gate?",
        "A witness stood at the gate.",
        tuple(_STORY_WITNESSES),
        _STORY_WITNESSES,
    )
    policy = yaml.safe_load(starter.joinpath("policy.yaml").read_text(encoding="utf-8"))
    return Collection((passages,), policy, (question,))


def collect(count: int = 8) -> Collection:
    """Read articles; a chunk is a sentence, as in the paper (section IV-C2)."""
    articles = {
        f"case-{number}": article
        for number, article in enumerate(load_articles()[:count], start=1)
    }
    return Collection(
        documents=tuple(
            tuple(
                Passage(chunk.id, chunk.text, {"case": name}, None, name)
                for chunk in sentence_chunks(str(article["article_text"]), name)
            )
            for name, article in articles.items()
        ),
        policy={
            "constraints": [
                {"id": f"{name}.{number}", "text": text, "where": {"case": name}}
                for name, article in articles.items()
                for number, text in enumerate(article["constraint_to_witness_words"], 1)
            ],
            "metadata": {"allow": ["case"]},
        },
        questions=tuple(
            Question(
                question["question_text"],
                question["answer_text"],
                tuple(question["relevant_constraints"]),
                article["constraint_to_witness_words"],
            )
            for article in articles.values()
            for question in article["questions"]
        ),
    )
