"""Constraints come and go through both adapters, while the index stands."""

from __future__ import annotations

import asyncio

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.disclosure import bind
from sdrag.effects.steps import run
from sdrag.errors import UsageError
from sdrag.policy import DisclosureSection, Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    langchain_invoke,
    llamaindex_retrieve,
)
from ..support.scripted import Scripted

NAMES = {"id": "names", "text": "Remove names of witnesses"}
PHONES = {"id": "phones", "text": "Suppress private telephone numbers"}
OLD = {"constraints": [NAMES]}
NEW = {"constraints": [NAMES, PHONES]}
RULES = Policy.read(NEW).rules
SECRET = "555-0142"
PASSAGES = (
    Passage("p", f"Call {SECRET} now.", {}, 0.9),
    Passage("q", "Rain.", {}, 0.5),
)


class Index:
    """One framework's retriever over the passages, and a state on disk."""

    def __init__(self, framework, path):
        self.path, self.queries = path, []
        bound = bind(PASSAGES, RULES[:1], open_state(path), DisclosureSection())
        run(bound, Scripted())
        if framework == "langchain":
            self.binders = langchain_sdrag.ConstraintBinder
            self.face = langchain_invoke
            self.retriever = Documents(scenario=self)
        else:
            self.binders = llamaindex_sdrag.ConstraintBinder
            self.face = llamaindex_retrieve
            self.retriever = Nodes(self)

    def found(self):
        self.queries.append(1)
        return PASSAGES

    def binder(self, policy):
        return self.binders(policy=policy, state=self.path)

    def ask(self, policy):
        seen = self.face(Scenario("ask", PASSAGES, policy, state=self.path))
        return " ".join(text for _, text, _ in seen)

    def known(self):
        return open_state(self.path).bindings.read(PASSAGES[:1], RULES[1:])


@pytest.fixture(params=["langchain", "llamaindex"])
def index(request, tmp_path):
    return Index(request.param, tmp_path / "state.sqlite")


def test_a_constraint_is_added_by_one_query_and_removed(index):
    """It holds from the next question on; once removed, it does not."""
    assert SECRET in index.ask(OLD)

    count = index.binder(NEW).bind_constraint("phones", index.retriever)

    assert count == len(PASSAGES)
    assert index.queries == [1]
    assert index.known() != [None]
    assert SECRET not in index.ask(NEW)

    assert SECRET in index.ask(OLD)
    assert asyncio.run(
        index.binder(NEW).abind_constraint("phones", index.retriever)
    ) == len(PASSAGES)


def test_unknown_constraint(index):
    """An id that the policy does not have is the developer's fault."""
    binder = index.binder(OLD)

    with pytest.raises(UsageError):
        binder.bind_constraint("phones", index.retriever)
    assert index.queries == []
