"""What comes first: the order of guards, and what is cut off only after them all."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_sdrag import SelectiveDisclosureRetriever
from sdrag import Options, Principal
from sdrag.pipeline import Engine, Request, retrieve
from sdrag.vocabulary import Passage

from .hosts import days_ago

ANA = Principal("ana", tenant="a")
RECENT = {"staleness": {"recency_half_life_days": 30}}
AGED = [
    Passage(name, text, {"tenant": "a", "updated": days_ago(days)})
    for name, text, days in (
        ("old", "the fee was one", 900),
        ("older", "the fee was two", 1200),
        ("new", "the fee is three", 1),
        ("newer", "the fee is four", 0),
    )
]


@pytest.fixture
def found(ask):
    """Return what a request over a store that ranks as given retrieves, by id."""

    def ids(held, policy, limit, **handlers):
        authorize = bool if "authorize" in handlers else None
        judges = {"relevance": bool} if "score" in handlers else {}
        engine = Engine(policy, options=Options(authorize=authorize, judges=judges))
        steps = retrieve(Request("the fee", ANA, limit), engine)
        screened = ask(steps, search=lambda *_: tuple(held), **handlers)
        return [passage.id for passage in screened.passages]

    return ids


def test_age_ranks_before_the_number_that_is_wanted_is_cut_off(found):
    """The newest are found although the store ranks them last."""
    for access in ({}, {"access": {}}):
        assert set(found(AGED, {**RECENT, **access}, 2)) == {"new", "newer"}
        every = found(AGED, {**RECENT, **access}, None)
        assert set(every[:2]) == {"new", "newer"}
        assert every[2:] == ["old", "older"]


def test_what_is_out_of_date_takes_no_place_of_what_is_not(found):
    """The number that is wanted is cut from what the guards leave."""
    gone = [Passage(n, "gone", {"tenant": "a", "superseded_by": "y"}) for n in "12"]

    assert found([*gone, *AGED], {"staleness": {}, "access": {}}, 2) == ["old", "older"]


def test_age_weighs_the_score_of_the_cross_encoder(found):
    """Relevance scores first, and what is as relevant is ranked by age."""

    def scorer(_effect, pair):
        return 0.9 if "three" in pair[1] or "one" in pair[1] else 0.1

    policy = {**RECENT, "relevance": {"rerank": True, "min_score": 0.0}}

    assert found(AGED, policy, 2, score=scorer) == ["new", "newer"]
    far = {**policy, "staleness": {"recency_half_life_days": 1e9}}
    assert set(found(AGED, far, 2, score=scorer)) == {"new", "old"}


def test_the_hosts_authorizer_chooses_before_anything_is_cut_off(found):
    """Its yes is found behind every no, with the section `access` and without."""
    for policy in ({"allow_empty": True}, {"access": {}}):
        for allowed in ({"new", "newer"}, {"old"}, set()):

            def authorize(effect, item, allowed=allowed):
                assert effect.principal == ANA
                return item.id in allowed

            assert set(found(AGED, policy, 2, authorize=authorize)) == allowed


class Store(BaseRetriever):
    """A retriever that returns as much of its list as it is asked for."""

    held: list[Document]
    asked: list[int | None]

    def _get_relevant_documents(self, query, *, run_manager, k=None):
        self.asked.append(k)
        return self.held[:k]


def test_a_store_that_takes_a_number_is_asked_for_more_than_is_ranked():
    """Else there is nothing to choose from: four times what is wanted."""
    held = [Document(id=item.id, page_content=item.text) for item in AGED]
    base = Store(held=held, asked=[])
    for policy in (RECENT, {"staleness": {}}):
        SelectiveDisclosureRetriever(base_retriever=base, policy=policy, k=1).invoke(
            "the fee"
        )

    assert base.asked == [4, 1]


def test_the_scale_of_scores_is_read_before_age_reorders_them(found):
    """Similarities that fall are taken as such: nothing has to be measured."""
    held = (
        Passage("old", "one", {"updated": days_ago(900)}, 0.9),
        Passage("new", "two", {"updated": days_ago(1)}, 0.3),
        Passage("far", "six", {"updated": days_ago(1)}, 0.1),
    )

    ranked = found(held, {**RECENT, "relevance": {"min_score": 0.2}}, None)

    assert ranked == ["new", "old"]
