"""A table of what can happen to a state; whatever does, no name leaves."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from pathlib import Path

import pytest
import sqlalchemy as sa

from sdrag.disclosure import forget_document
from sdrag.effects.steps import run
from sdrag.errors import SdragError
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.state import open_state
from sdrag.state.rotation import rotate
from sdrag.state.tables import chunk, finding, form
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted

POLICY = {"constraints": ["Remove the names of witnesses"]}
CHUNKS = [
    Passage(f"{name}-{index}", text, document_id=name)
    for name in ("Karlsson", "Okafor")
    for index, text in enumerate(
        (f"The witness Jonathan {name} saw it.", f"{name} was late. The crew was paid.")
    )
]
RUNNER = Scripted()


def bind_corpus(where, chunks=CHUNKS):
    run(bind(chunks, Engine(POLICY, state=open_state(where))), RUNNER)


def bind_and_die(where):
    """Be killed while what was found in the second half is being written."""
    bind_corpus(where, CHUNKS[:2])
    state = open_state(where)
    sa.event.listen(
        state.database._engine, "commit", lambda _: os.kill(os.getpid(), signal.SIGKILL)
    )
    run(bind(CHUNKS, Engine(POLICY, state=state)), RUNNER)


def start(work, *args):
    process = get_context("fork").Process(target=work, args=args)
    process.start()
    return process


def kill_a_binder(where, _server):
    start(bind_and_die, where).join()


def bind_twice_at_once(where, _server):
    for process in [start(bind_corpus, where) for _ in range(2)]:
        process.join()
        assert process.exitcode == 0


def change_rows(*statements):
    def work(where, _server):
        bind_corpus(where)
        with open_state(where).database.writing() as connection:
            for statement in statements:
                connection.execute(statement)

    return work


change_a_finding = change_rows(finding.update().values(spans="[]"))
delete_findings = change_rows(finding.delete())
change_forms = change_rows(form.update().values(forms="[[],[]]"))
delete_forms = change_rows(form.delete())
delete_both = change_rows(finding.delete(), form.delete())


def forget_one(where, _server):
    """Forget one, and what is known of the other stays; the first is bound again."""
    bind_corpus(where)
    engine = Engine(POLICY, state=open_state(where))
    run(forget_document(CHUNKS[:1], engine.disclosure), RUNNER)
    with engine.state.database.reading() as connection:
        left = {*connection.scalars(sa.select(chunk.c.id))}
    assert left == {one.id for one in CHUNKS[2:]}
    bind_corpus(where)


def lose_the_key(where, _server):
    bind_corpus(where)
    Path(open_state(where).key_path).unlink()


def lose_the_database(where, _server):
    bind_corpus(where)
    if isinstance(where, Path):
        for name in ("", "-wal", "-shm"):
            where.with_name(where.name + name).unlink(missing_ok=True)
    else:
        database = open_state(where).database
        with database.writing() as connection:
            connection.execute(sa.text(f"DROP SCHEMA {database._schema} CASCADE"))


def empty_the_database(where, _server):
    bind_corpus(where)
    with open_state(where).database.writing() as connection:
        connection.execute(sa.text("DELETE FROM meta"))


def rotate_the_key(where, _server):
    bind_corpus(where)
    rotate(open_state(where))


def put_the_old_key_back(where, _server):
    bind_corpus(where)
    key = Path(open_state(where).key_path)
    old = key.read_bytes()
    rotate(open_state(where))
    key.write_bytes(old)


def stop_the_server(where, server):
    bind_corpus(where)
    server.stop()


def restart_the_server(where, server):
    stop_the_server(where, server)
    server.start()


ANSWERED, WITHHELD, REFUSED = "answered", "withheld", "refused"
BOTH, SERVER = ("file", "postgres"), ("postgres",)
HAPPENS = [
    # what happens, where, what it does, and what a question gets then
    ("a binder is killed", BOTH, kill_a_binder, ANSWERED),
    ("two processes bind", BOTH, bind_twice_at_once, ANSWERED),
    ("the key is lost", BOTH, lose_the_key, REFUSED),
    ("the key is rotated", BOTH, rotate_the_key, ANSWERED),
    ("the old key is put back", BOTH, put_the_old_key_back, REFUSED),
    ("the database is lost", BOTH, lose_the_database, REFUSED),
    ("the database is empty", BOTH, empty_the_database, REFUSED),
    ("a finding is changed", BOTH, change_a_finding, WITHHELD),
    ("findings are deleted", BOTH, delete_findings, ANSWERED),
    ("forms are changed", BOTH, change_forms, WITHHELD),
    ("forms are deleted", BOTH, delete_forms, WITHHELD),
    ("all that was found is deleted", BOTH, delete_both, WITHHELD),
    ("a document is forgotten", BOTH, forget_one, ANSWERED),
    ("the server is away", SERVER, stop_the_server, WITHHELD),
    ("the server was restarted", SERVER, restart_the_server, ANSWERED),
]
CASES = [
    pytest.param(place, work, expected, id=f"{name}-{place}")
    for name, places, work, expected in HAPPENS
    for place in places
]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.parametrize(("place", "work", "expected"), CASES)
def test_what_happens(place, work, expected, request, tmp_path):
    """Each chunk is asked for by itself, by a process that asks for the first time."""
    where, server = tmp_path / "state.db", None
    if place == "postgres":
        server = request.getfixturevalue("postgres")
        where = request.getfixturevalue("postgres_url")
    open_state(where)
    asking = open_state(where)  # by a service that is running meanwhile
    server_stopped = work in (stop_the_server, restart_the_server)
    work(where, server)

    def ask(state):
        engine = Engine(POLICY, state=state)
        asked = (disclose([chunk], Request("Who?"), engine) for chunk in CHUNKS)
        return [passage.text for s in asked for passage in run(s, RUNNER).passages]

    try:
        released = ask(asking if server_stopped else open_state(where))
        outcome = ANSWERED if len(released) == len(CHUNKS) else WITHHELD
    except SdragError:
        released, outcome = [], REFUSED
    finally:
        if work is stop_the_server:
            server.start()

    assert outcome == expected
    assert not [text for text in released if "Karlsson" in text or "Okafor" in text]
    assert len(released) in (0, len(CHUNKS))
