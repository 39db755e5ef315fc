"""A located corpus: a chunk leaves as it leaves, whatever is retrieved beside it."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

import langchain_sdrag
import llamaindex_sdrag
from benchmarks.suites.json_files import load_articles
from benchmarks.suites.rcqa import policy_of
from sdrag.evaluation.index import sentence_chunks
from sdrag.vocabulary import EVIDENCE_KEY, Passage

from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    Seen,
    documents,
    nodes,
    of_documents,
    of_nodes,
)
from ..support.wrappers import build

ARTICLES = load_articles()
QUESTIONS = ["What?", "Who was it?", "When was that?", "Where?", "Why?", "Tell me all."]
WITHHELD = "withheld"
LETTERS = str.maketrans("0123456789", "abcdefghij")

Asked = Mapping[str, Sequence[Passage]]
"""What the host's retriever finds for each question."""


class DocumentsAsked(Documents):
    """The host's retriever in LangChain; its scenarios by their questions."""

    def _get_relevant_documents(self, query, *, run_manager):
        return documents(self.scenario[query])


class NodesAsked(Nodes):
    """The same in LlamaIndex."""

    def _retrieve(self, query_bundle):
        return nodes(self.scenario[query_bundle.query_str])


class LangChainHost:
    """An application over LangChain."""

    def bind(self, chunks, **shared):
        binder = build(langchain_sdrag.ConstraintBinder, **shared)
        return binder.bind_documents(documents(Scenario("corpus", chunks)))

    def ask(self, asked: Asked, **shared) -> dict[str, Seen]:
        retriever = build(
            langchain_sdrag.SelectiveDisclosureRetriever,
            base_retriever=DocumentsAsked(scenario=scenarios(asked)),
            **shared,
        )
        return {one: of_documents(retriever.invoke(one)) for one in asked}


class LlamaIndexHost:
    """An application over LlamaIndex, which is asked in the opposite order."""

    def bind(self, chunks, **shared):
        binder = build(llamaindex_sdrag.ConstraintBinder, **shared)
        found = nodes(Scenario("corpus", chunks))
        return binder.bind_documents(one.node for one in found)

    def ask(self, asked: Asked, **shared) -> dict[str, Seen]:
        retriever = build(
            llamaindex_sdrag.SelectiveDisclosureRetriever,
            base_retriever=NodesAsked(scenarios(asked)),
            **shared,
        )
        return {one: of_nodes(retriever.retrieve(one)) for one in reversed(asked)}


HOSTS = [LangChainHost(), LlamaIndexHost()]


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """One file for all articles and both frameworks."""
    return tmp_path_factory.mktemp("located") / "state.sqlite"


@pytest.mark.parametrize(
    "number", range(len(ARTICLES)), ids=[article["title"] for article in ARTICLES]
)
def test_two_questions_are_shown_a_chunk_alike(number, state):
    """Byte for byte, its text and its metadata; in both frameworks."""
    chunks, asked = chunks_of(number), questions_on(number)
    shared: dict[str, Any] = {"policy": policy_on(number), "state": state}
    first, second = HOSTS if number % 2 else reversed(HOSTS)
    located = first.bind(chunks, **shared)
    again = second.bind(chunks, **shared)

    ways = defaultdict(set)
    for host in HOSTS:
        for question, seen in host.ask(asked, **shared).items():
            left = {one: json.dumps(rest) for one, *rest in seen}
            assert left.keys() <= {chunk.id for chunk in asked[question]}
            for chunk in asked[question]:
                ways[chunk.id].add(left.get(chunk.id, WITHHELD))

    assert located.located == len(chunks) == len(ways)
    assert again.read == 0
    assert [ways[one] for one in ways if len(ways[one]) > 1] == []
    assert any(f'"{EVIDENCE_KEY}"' in str(way) for way in ways.values())


def policy_on(number: int) -> dict[str, Any]:
    """Return what a privacy officer would write for an article."""
    policy = policy_of([ARTICLES[number]], "redact")
    return {**policy, "metadata": {"allow": ["title", "category", "place"]}}


def chunks_of(number: int) -> list[Passage]:
    """
    Return the sentences of an article, with metadata of which some may leave.

    Their ids hold no number that an article may keep secret, so they leave as they are.
    """
    article = ARTICLES[number]
    own = {key: article[key] for key in ("title", "category")}
    return [
        replace(
            chunk,
            id=chunk.id.translate(LETTERS),
            metadata={**own, "place": place, "text": chunk.text},
        )
        for place, chunk in enumerate(sentence_chunks(article, f"article-{number}"))
    ]


def questions_on(number: int) -> dict[str, list[Passage]]:
    """Draw what each question finds: one chunk, some, half of them, or all."""
    rng, chunks = random.Random(number), chunks_of(number)
    half = len(chunks) // 2
    sizes = (1, 4, 10, half, half, len(chunks))
    return {
        question: rng.sample(chunks, size)
        for question, size in zip(QUESTIONS, sizes, strict=True)
    }


def scenarios(asked: Asked) -> dict[str, Scenario]:
    return {question: Scenario(question, found) for question, found in asked.items()}
