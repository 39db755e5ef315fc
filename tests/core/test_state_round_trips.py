"""A question costs as many round trips for many chunks as for some."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.state.bindings import Bindings, Lineage
from sdrag.state.findings import Findings
from sdrag.vocabulary import Passage

RULES = [f"Remove the names of witnesses of case {n}" for n in range(45)]
POLICIES = {
    "all": {"constraints": RULES},
    "some": {
        "constraints": RULES,
        "disclosure": {"top_k": 40},
    },
}


class Counted:
    """A database that counts what is sent to it."""

    def __init__(self, database):
        self._database, self.sent = database, 0

    @contextmanager
    def reading(self):
        with self._database.reading() as connection:
            yield _Counted(connection, self)

    @contextmanager
    def writing(self):
        with self._database.writing() as connection:
            yield _Counted(connection, self)


class _Counted:
    def __init__(self, connection, counter):
        self._connection, self._counter = connection, counter

    def execute(self, *given):
        self._counter.sent += 1
        return self._connection.execute(*given)

    def executemany(self, *given):
        self._counter.sent += 1
        return self._connection.executemany(*given)


def embed(effect):
    """Embed by the letters, which costs nothing."""
    counts = [[1.0 + text.count(one) for one in "aeiourst"] for text in effect.items]
    rows = np.array(counts, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


RUNNER = PortRunner(Ports(embed=Port(embed)))


def counted():
    """Return a state, and what counts all that its stores send."""
    state = open_state()
    database = Counted(state.database)
    return database, replace(
        state,
        bindings=Bindings(database, state.keys),
        findings=Findings(database, state.keys, state.hashes),
        lineage=Lineage(database, state.keys),
    )


def chunks(many):
    """Write chunks, each of a document of its own."""
    return [
        Passage(f"p{n}", f"Case {n}: Anna Karlsson saw it.", document_id=f"d{n}")
        for n in range(many)
    ]


def sent(policy, many):
    """Count what is sent at the first question, at binding, and at the next two."""
    database, state = counted()
    engine, counts = Engine.build(policy, state=state), []
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
def test_round_trips_do_not_depend_on_how_many_chunks(policy):
    """Neither of what was never seen nor of what is bound; a server may be far away."""
    few, many = sent(policy, 2), sent(policy, 15)

    assert few == many
    assert few[-1] <= 12


def test_summaries_are_linked_and_looked_up_in_a_few():
    """However many there are, and whatever they were made from."""

    def linked(many):
        database, state = counted()
        passages = chunks(many)
        state.lineage.link([(one, passages) for one in passages])
        state.bindings.read(passages, [])
        state.bindings.forget([one.id for one in passages])
        return database.sent

    assert linked(2) == linked(20)
