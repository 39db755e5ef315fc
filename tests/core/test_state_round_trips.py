"""A question costs as many round trips for many chunks as for some."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import event

from sdrag.effects.calls import Port
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state, statements
from sdrag.vocabulary import Passage

RULES = [f"Remove the names of witnesses of case {n}" for n in range(45)]
POLICIES = {
    "all": {"constraints": RULES},
    "some": {"constraints": RULES, "disclosure": {"top_k": 40}},
}


def embed(effect):
    """Embed by the letters, which costs nothing."""
    counts = [[1.0 + text.count(one) for one in "aeiourst"] for text in effect.items]
    rows = np.array(counts, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


RUNNER = PortRunner(Ports(embed=Port(embed)))


class Counter:
    """Counts what a state sends to its database."""

    def __init__(self, state):
        self.sent = 0
        event.listen(state.database._engine, "before_cursor_execute", self._count)

    def _count(self, *_):
        self.sent += 1


def chunks(many):
    """Write chunks, each of a document of its own."""
    return [
        Passage(f"p{n}", f"Case {n}: Anna Karlsson saw it.", document_id=f"d{n}")
        for n in range(many)
    ]


def sent(policy, many):
    """Count what is sent at the first question, at binding, and at the next two."""
    state = open_state()
    database = Counter(state)
    engine, counts = Engine(policy, state=state), []
    question = Request("Who?")
    for steps in (
        disclose(chunks(many), question, engine),
        bind(chunks(many), engine),
        disclose(chunks(many), question, engine),
        disclose(chunks(many), question, engine),
    ):
        before = database.sent
        run(steps, RUNNER)
        counts.append(database.sent - before)
    return counts


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_round_trips_do_not_depend_on_how_many_chunks(policy, monkeypatch):
    """Neither of what was never seen nor of what is bound; a server may be far away."""
    monkeypatch.setattr(statements, "random", lambda: 1.0)  # evicts by chance
    few, many = sent(policy, 2), sent(policy, 15)

    assert few == many
    assert few[-1] <= 12
