"""Constraints come and go through both adapters, while the index stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

from ..support.faces import (
    Documents,
    Nodes,
    Scenario,
    core_disclose,
    documents,
    text_nodes,
)

NAMES = {"id": "names", "text": "Remove names of witnesses"}
PHONES = {"id": "phones", "text": "Suppress private telephone numbers"}
OLD = {"constraints": [NAMES]}
NEW = {"constraints": [NAMES, PHONES]}
SECRET = "555-0142"
INDEX = Scenario(
    "index", [Passage("p", f"Call {SECRET} now."), Passage("q", "Rain.")], OLD
)


@pytest.fixture(params=["langchain", "llamaindex"])
def host(request, tmp_path):
    """A framework's binder, its retriever, and the index bound."""
    state = tmp_path / "state.sqlite"
    if request.param == "langchain":
        kind, retriever = langchain_sdrag.ConstraintBinder, Documents(scenario=INDEX)
        kind(policy=OLD, state=state).transform_documents(documents(INDEX))
    else:
        kind, retriever = llamaindex_sdrag.ConstraintBinder, Nodes(INDEX)
        kind(policy=OLD, state=state)(text_nodes(INDEX))
    return lambda policy: kind(policy=policy, state=state), retriever, state


def test_a_constraint_is_added_and_removed(host):
    """It holds from the next question on; once removed, it does not."""
    binder, retriever, state = host

    def shows(policy):
        return SECRET in str(core_disclose(replace(INDEX, policy=policy, state=state)))

    assert shows(OLD)
    assert binder(NEW).bind_constraint("phones", retriever) == len(INDEX.passages)
    assert not shows(NEW)

    assert shows(OLD)
    again = binder(NEW).abind_constraint("phones", retriever)
    assert asyncio.run(again) == len(INDEX.passages)


def test_unknown_constraint(host):
    """An id that the policy does not have is the developer's fault."""
    binder, retriever, _ = host

    with pytest.raises(UsageError):
        binder(OLD).bind_constraint("phones", retriever)
