"""The corpus of the state machine, and its binder that is killed in a process."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import sqlalchemy as sa

from sdrag.effects.steps import run
from sdrag.errors import SdragError
from sdrag.pipeline import Engine, bind
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted


def chunk_of(document, tenant, text):
    name = f"{document} {tenant} {len(text)}"
    return Passage(name, text, {"tenant": tenant}, document_id=document)


PAID = chunk_of("ledger", "harbour", "Jonathan Karlsson paid 12,400 euros in cash.")
GATE = chunk_of("ledger", "harbour", "The gate that karlsson had opened was shut.")
CALL = chunk_of("notes", "harbour", "Call Maria Okafor at 020 7946 0142 about it.")
SOLD = chunk_of("ledger", "airport", "Mr Hope Osei sold a boat for $7,350 in May.")
GONE = chunk_of("ledger", "airport", "The karlsson that osei had was gone.")
"""Of another document: its name is that of one of another tenant."""
CORPUS = [PAID, GATE, CALL, SOLD, GONE]


def bind_and_die(where, policy, commits):
    """Be killed at one of the commits of binding."""
    state = open_state(where)
    left = iter(range(1, commits))

    def count(_):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(state.database._engine, "commit", count)
    with suppress(SdragError):
        run(bind(CORPUS, Engine(policy, state=state)), Scripted())
