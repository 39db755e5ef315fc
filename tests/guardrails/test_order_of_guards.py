"""What comes first: the order of guards, and what is cut off only after them all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainBase
from llama_index.core.base.base_retriever import BaseRetriever as LlamaIndexBase
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Principal, acting_as
from sdrag.effects.steps import run
from sdrag.guardrails import staleness
from sdrag.pipeline import Engine, Request, retrieve
from sdrag.policy import StalenessSection
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted
from ..support.wrappers import build
from .hosts import days_ago

ANA = Principal("ana", tenant="a")
RECENT = {"staleness": {"recency_half_life_days": 30}}


class LangChainList(LangChainBase):
    """A retriever that returns its list."""

    held: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.held


class LangChainStore(LangChainBase):
    """A retriever that returns as much of its list as it is asked for."""

    held: list[Document]
    asked: list[int | None]

    def _get_relevant_documents(self, query, *, run_manager, k=None):
        self.asked.append(k)
        return self.held[:k]


class LlamaIndexList(LlamaIndexBase):
    """The same, for a framework that has no number at call time."""

    def __init__(self, held):
        super().__init__()
        self.held = held

    def _retrieve(self, query_bundle):
        return self.held


def in_langchain(corpus, policy, k, **given):
    base = LangChainList(
        held=[
            Document(id=key, page_content=text, metadata=metadata)
            for key, text, metadata in corpus
        ]
    )
    retriever = build(
        langchain_sdrag.SelectiveDisclosureRetriever,
        base_retriever=base,
        policy=policy,
        k=k,
        **given,
    )
    once = retriever.invoke("the fee")
    assert asyncio.run(retriever.ainvoke("the fee")) == once
    return [one.id for one in once]


def in_llamaindex(corpus, policy, k, **given):
    held = [
        NodeWithScore(node=TextNode(id_=key, text=text, metadata=metadata))
        for key, text, metadata in corpus
    ]
    retriever = build(
        llamaindex_sdrag.SelectiveDisclosureRetriever,
        base_retriever=LlamaIndexList(held),
        policy=policy,
        k=k,
        **given,
    )
    once = [one.node_id for one in retriever.retrieve("the fee")]
    again = asyncio.run(retriever.aretrieve("the fee"))
    assert [one.node_id for one in again] == once
    return once


FACES = pytest.mark.parametrize("found", [in_langchain, in_llamaindex])
AGED = [
    ("old", "the fee was one", {"tenant": "a", "updated": days_ago(900)}),
    ("older", "the fee was two", {"tenant": "a", "updated": days_ago(1200)}),
    ("new", "the fee is three", {"tenant": "a", "updated": days_ago(1)}),
    ("newer", "the fee is four", {"tenant": "a", "updated": days_ago(0)}),
]


@FACES
@pytest.mark.parametrize("access", [{}, {"access": {}}])
def test_age_ranks_before_the_number_that_is_wanted_is_cut_off(found, access):
    """The newest are found although the store ranks them last."""
    with acting_as(ANA):
        two = found(AGED, {**RECENT, **access}, 2)
        every = found(AGED, {**RECENT, **access}, None)

    assert set(two) == {"new", "newer"}
    assert set(every[:2]) == {"new", "newer"}
    assert every[2:] == ["old", "older"]


@FACES
def test_what_is_out_of_date_takes_no_place_of_what_is_not(found):
    """The number that is wanted is cut from what the guards leave."""
    gone = [(f"x{n}", "gone", {"tenant": "a", "superseded_by": "y"}) for n in "12"]
    with acting_as(ANA):
        kept = found([*gone, *AGED], {"staleness": {}, "access": {}}, 2)

    assert kept == ["old", "older"]


@FACES
def test_age_weighs_the_score_of_the_cross_encoder(found):
    """Relevance scores first, and what is as relevant is ranked by age."""

    def scorer(pairs):
        return [0.9 if "three" in text or "one" in text else 0.1 for _, text in pairs]

    policy = {**RECENT, "relevance": {"rerank": True, "min_score": 0.0}}

    ranked = found(AGED, policy, 2, judges={"relevance": scorer})

    assert ranked == ["new", "newer"]
    far = {**policy, "staleness": {"recency_half_life_days": 1e9}}
    assert set(found(AGED, far, 2, judges={"relevance": scorer})) == {"new", "old"}


@FACES
@pytest.mark.parametrize("policy", [{}, {"access": {}}])
@pytest.mark.parametrize("said", [{"new", "newer"}, {"old"}, set()])
def test_the_hosts_authorizer_chooses_before_anything_is_cut_off(found, policy, said):
    """Its yes is found behind every no, with the section `access` and without."""

    def authorize(principal, passages):
        assert principal == ANA
        return [one.id in said for one in passages]

    with acting_as(ANA):
        assert set(found(AGED, policy, 2, authorize=authorize)) == said


def test_a_store_that_takes_a_number_is_asked_for_more_than_is_ranked():
    """Else there is nothing to choose from: four times what is wanted."""
    base = LangChainStore(
        held=[Document(id=k, page_content=t, metadata=m) for k, t, m in AGED], asked=[]
    )
    for policy in (RECENT, {"staleness": {}}):
        langchain_sdrag.SelectiveDisclosureRetriever(
            base_retriever=base, policy=policy, k=1
        ).invoke("the fee")

    assert base.asked == [4, 1]


def test_the_scale_of_scores_is_read_before_age_reorders_them():
    """Similarities that fall are taken as such: nothing has to be measured."""
    held = (
        Passage("old", "one", {"updated": days_ago(900)}, 0.9),
        Passage("new", "two", {"updated": days_ago(1)}, 0.3),
        Passage("far", "six", {"updated": days_ago(1)}, 0.1),
    )
    engine = Engine({**RECENT, "relevance": {"min_score": 0.2}})
    runner = Scripted(search=lambda _: held)

    released = run(retrieve(Request("the fee"), engine), runner)

    assert [one.id for one in released.passages] == ["new", "old"]
    assert {type(one).__name__ for one in runner.effects} == {"Search"}


def test_distances_are_not_weighted_as_if_they_were_similarities():
    """Scores that rise are distances; the first is the nearest."""
    day = {"updated": "2026-02-28"}
    held = [Passage("near", "t", day, 0.1), Passage("far", "t", day, 0.6)]
    section = StalenessSection(recency_half_life_days=30)
    now = datetime(2026, 3, 1, tzinfo=UTC)

    ranked = staleness.by_recency(held, section, now=now)

    assert [one.id for one in ranked] == ["near", "far"]
