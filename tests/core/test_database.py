"""The database of a state: whole writes, one writer, and no text in an error."""

from __future__ import annotations

import gc
import logging
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from weakref import ref

import pytest
import sqlalchemy as sa

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state
from sdrag.state.database import Database
from sdrag.state.tables import binding
from sdrag.vocabulary import Constraint, Passage

from ..support.tables import each_row

RULE = Constraint("names", "Hide names")
SECRET = "Anna Karlsson"


@each_row("name", ["a\0b", "\ud800"])
def test_an_id_that_no_database_holds_is_refused(state, name):
    """It is not quoted, and a look-up of one finds nothing."""
    passage = Passage(name, "Text.")

    with pytest.raises(UsageError, match="An id holds"):
        state.bindings.write([passage], [RULE], [], top_n=1, floor=1.0)
    assert state.bindings.read([passage], [RULE]) == [None]
    state.bindings.forget([name])


def bound(database):
    with database.reading() as connection:
        return sorted(connection.scalars(sa.select(binding.c.chunk)))


def put(database, name):
    with database.writing() as connection:
        values = {"rule": b"r" * 8, "chunk": name, "score": 0.5}
        connection.execute(binding.insert(), values)


def test_a_transaction_is_undone_when_its_block_raises(state):
    """Whatever was raised; a later one works."""
    with suppress(ZeroDivisionError), state.database.writing() as connection:
        values = {"rule": b"r" * 8, "chunk": "a", "score": 0.5}
        connection.execute(binding.insert(), values)
        raise ZeroDivisionError

    put(state.database, "b")
    assert bound(state.database) == ["b"]


def test_a_failure_names_neither_statement_nor_row(state):
    """It is the host's, whatever the database said."""
    put(state.database, SECRET)

    with pytest.raises(HostError, match="state's database") as caught:
        put(state.database, SECRET)

    error = caught.value
    assert SECRET not in f"{error} {error!r} {error.__cause__!r}"
    assert "binding" not in f"{error}"
    assert error.__suppress_context__


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
def test_a_forked_process_closes_no_connection_of_its_parent(state):
    """SQLite would take locks and the log of the parent for its own."""
    put(state.database, "parent")
    inherited = ref(state.database._engine.pool)
    pid = os.fork()
    if not pid:
        gc.collect()
        os._exit(inherited() is None)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
def test_a_forked_process_opens_connections_of_its_own(state):
    """What the parent has open is its own; both write, and both are read."""
    put(state.database, "parent")
    child = get_context("fork").Process(target=put, args=(state.database, "child"))
    child.start()
    child.join()

    assert child.exitcode == 0
    assert bound(state.database) == ["child", "parent"]


def test_a_debug_log_of_sqlalchemy_holds_no_row(state, caplog):
    """Rows hold ids of the host, and hashes."""
    with caplog.at_level(logging.DEBUG, "sqlalchemy"):
        put(state.database, SECRET)
        assert bound(state.database) == [SECRET]

    assert SECRET not in caplog.text


def test_a_file_is_its_owners_alone(tmp_path):
    open_state(tmp_path / "state.db")

    assert {f.stat().st_mode & 0o077 for f in tmp_path.iterdir()} == {0}


def test_waiting_for_another_writer_ends(tmp_path):
    """Whether a process or a thread has it; never with half a write."""
    path = tmp_path / "state.db"
    open_state(path)
    database = Database(str(path), timeout_seconds=0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(HostError, match=r"locked for 0\.05 s\. Does another"):
        put(database, "a")

    other.rollback()
    other.close()
    with (
        database.writing(),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(HostError, match=r"locked for 0\.05 s\."),
    ):
        pool.submit(put, database, "a").result()
    assert bound(database) == []
