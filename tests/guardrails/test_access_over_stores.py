"""Access in both frameworks, over Chroma on disk and as a server."""

from __future__ import annotations

import asyncio
import zlib

import pytest
from langchain_core.structured_query import Comparator, Operator, Visitor

from sdrag import Principal, acting_as

from .corpus import ANA, BEN, CORPUS, FEE
from .hosts import LangChainHost, ids


class TestAccess:
    """Unauthorized data access: before the search, and after it."""

    def test_each_principal_finds_its_own(self, host):
        """What tenant, roles and level open, and no more."""
        app = host(CORPUS)
        retriever = app.retriever({"access": {}})

        assert set(ids(app.find(retriever, FEE, ANA))) == {"a-open", "a-hr"}
        assert set(ids(app.find(retriever, FEE, BEN))) == {"b-open"}
        assert app.find(retriever, FEE, Principal("nobody")) == []

    def test_nobody_finds_nothing_and_it_is_told_why(self, host):
        """Without a principal the store is not even asked."""
        app, told = host(CORPUS), []
        retriever = app.retriever({"access": {}}, audit=[told.append])

        assert app.find(retriever, FEE) == []
        assert {one.reason for event in told for one in event.decisions} == {
            "no-principal"
        }

    @pytest.mark.parametrize(
        "section", [{"required": ["roles"]}, {"listed": ["tenant", "roles"]}]
    )
    def test_permissions_may_be_lists(self, host, section):
        """Also where the store's framework cannot ask what a list holds."""
        corpus = {
            **{f"b-{n}": (FEE, {"tenant": ["b"], "roles": ["x"]}) for n in range(30)},
            "both": ("the harbour fee is ten", {"tenant": ["b", "a"], "roles": ["hr"]}),
            "single": ("the harbour fee is six", {"tenant": "a", "roles": "hr"}),
        }
        app = host(corpus)
        found = app.find(app.retriever({"access": section}, k=2), FEE, ANA)

        if "required" in section:  # a tenant that is pushed down is no list
            assert ids(found) == ["single"]
        else:
            assert set(ids(found)) == {"both", "single"}

    def test_more_is_fetched_where_too_little_may_be_seen(self, host):
        """Roles cannot be asked for, so others' passages crowd the first ones out."""
        corpus = {
            **{f"x{n}": (FEE, {"tenant": "a", "roles": ["x"]}) for n in range(30)},
            "mine": ("the harbour fee of today", {"tenant": "a", "roles": ["hr"]}),
            "open": ("the harbour fee of all", {"tenant": "a"}),
        }
        app = host(corpus)

        assert set(ids(app.find(app.retriever({"access": {}}, k=2), FEE, ANA))) == {
            "mine",
            "open",
        }
        few = app.retriever({"access": {"budget": 10}}, k=2)
        assert "mine" not in ids(app.find(few, FEE, ANA))

    def test_a_budget_that_is_spent_on_others_is_told_of(self, host, caplog):
        """Nothing is found, and a decision and one warning say why, without a text."""
        others = {
            f"x{n}": (f"{FEE} number {n}", {"tenant": "a", "roles": ["x"]})
            for n in range(30)
        }
        app, told = host(others), []
        policy = {"access": {"budget": 10}}
        retriever = app.retriever(policy, k=2, audit=[told.append])

        assert app.find(retriever, FEE, ANA) == []
        for event in told:
            query = [one for one in event.decisions if one.subject == "query"]
            assert [(one.rule, one.reason) for one in query] == [
                ("access", "budget-spent")
            ]
        said = [one.getMessage() for one in caplog.records if one.name == "sdrag"]
        assert sum("budget-spent" in one for one in said) == 1
        assert "harbour" not in " ".join(said)

    def test_the_hosts_own_filter_stays(self, host):
        """The policy's condition is ANDed with the filter that the host set up."""
        corpus = {
            "en": (FEE, {"tenant": "a", "lang": "en"}),
            "de": (FEE, {"tenant": "a", "lang": "de"}),
            "b-en": (FEE, {"tenant": "b", "lang": "en"}),
        }
        app = host(corpus)
        retriever = app.retriever({"access": {}}, own={"lang": "en"})

        assert ids(app.find(retriever, FEE, ANA)) == ["en"]

    def test_the_hosts_authorizer_has_the_last_word(self, host):
        """It is asked about what the tags admit, and its no is a no."""
        app, asked = host(CORPUS), set()

        def authorize(principal, passages):
            asked.update(one.id for one in passages)
            return [one.id != "a-hr" for one in passages]

        retriever = app.retriever({"access": {}}, authorize=authorize)

        assert ids(app.find(retriever, FEE, ANA)) == ["a-open"]
        assert asked == {"a-open", "a-hr"}

    @pytest.mark.parametrize(
        "client",
        ["disk", pytest.param("server", marks=pytest.mark.slow)],
        indirect=True,
    )
    def test_interleaved_requests_of_two_tenants_never_mix(self, host):
        """A thousand at once, in one event loop, each with its own principal."""
        app = host(CORPUS)
        retriever = app.retriever({"access": {}})

        async def asked(principal):
            with acting_as(principal):
                return set(await app.ids(retriever, FEE))

        async def everyone():
            return await asyncio.gather(
                *(asked(ANA if turn % 2 else BEN) for turn in range(1000))
            )

        for turn, seen in enumerate(asyncio.run(everyone())):
            assert seen == ({"a-open", "a-hr"} if turn % 2 else {"b-open"})


class ChromaWords(Visitor):
    """A translator of structured queries, as integrations ship one for each store."""

    allowed_operators = (Operator.AND, Operator.OR)
    allowed_comparators = (Comparator.EQ, Comparator.IN, Comparator.LTE)

    def visit_operation(self, operation):
        self._validate_func(operation.operator)
        parts = [part.accept(self) for part in operation.arguments]
        return {f"${operation.operator.value}": parts}

    def visit_comparison(self, comparison):
        self._validate_func(comparison.comparator)
        word = f"${comparison.comparator.value}"
        return {comparison.attribute: {word: comparison.value}}

    def visit_structured_query(self, structured_query):
        given = structured_query.filter.accept(self)
        return structured_query.query, {"filter": given}


@pytest.mark.parametrize("listed", [[], ["tenant", "roles"]])
def test_a_stores_own_translator_is_enough(client, request, listed):
    """What it cannot say is fetched and checked; a filter of the host's is kept."""
    name = f"c{zlib.crc32(request.node.nodeid.encode())}"
    app = LangChainHost(client, name, CORPUS)
    policy = {"access": {"listed": listed}}
    plain = app.retriever(policy, translator=ChromaWords())
    paged = app.retriever(policy, translator=ChromaWords(), own={"page": 1})

    assert set(ids(app.find(plain, FEE, ANA))) == {"a-open", "a-hr"}
    assert app.find(paged, FEE, ANA) == []
