"""A state is opened as what it is, by everybody, or not at all."""

from __future__ import annotations

import copy
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context

import pytest

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state

from ..support.tables import each_row


def _execute(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def _delete(path):
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def _replace(path, *statements):
    _delete(path)
    path.touch()
    _execute(path, *statements)


def _link_to_nowhere(path):
    _delete(path)
    path.symlink_to(path.with_name("not mounted"))


LOSSES = {
    "deleted": _delete,
    "deleted but for the log": lambda path: path.unlink(),
    "truncated": _replace,
    "an empty database": lambda path: _replace(path, "PRAGMA journal_mode = WAL"),
    "another's tables": lambda path: _replace(path, "CREATE TABLE notes (text TEXT)"),
    "no rows": lambda path: _execute(path, "DELETE FROM meta"),
    "tables are gone": lambda path: _execute(path, "DROP TABLE form"),
    "a link to nowhere": _link_to_nowhere,
}


def _copy(path, copied):
    with (
        closing(sqlite3.connect(path)) as source,
        closing(sqlite3.connect(copied)) as target,
    ):
        source.backup(target)


FIRST_STEPS = (
    "os.open",
    "os.fsync",
    "os.link",
    "os.unlink",
    "sqlalchemy.MetaData.create_all",
    "sqlalchemy.engine.default.DefaultDialect.do_commit",
    "sdrag.state.key_file.write_waiting",
    "sdrag.state.key_file.settle",
    "sdrag.state.key_file.read_key",
)


def _end_at(path, step, ends):
    """Open a state for the first time, on a disk that is full at one step."""
    from unittest.mock import patch  # noqa: PLC0415 -- in the process that ends

    def end(*_, **__):
        if ends == "killed":
            os._exit(9)
        raise OSError(28, f"No space left on {path}")

    with patch(step, end):
        try:
            open_state(path)
        except HostError as error:
            os._exit(str(path) in str(error))


def test_a_state_is_returned_as_it_is(state):
    """And a deep copy of what holds it shares it."""
    assert open_state(state) is state
    assert copy.deepcopy([state])[0] is state


def test_two_states_share_nothing(tmp_path):
    """Not even the name by which they are told apart; one file is one state."""
    names = [open_state().name, open_state().name]
    names += [open_state(tmp_path / name).name for name in ("a", "b")]

    assert len(set(names)) == 4
    assert open_state(tmp_path / "a").name == names[2]


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_many_may_open_it_first(place, request, tmp_path):
    """There is one key, whoever made it, and nothing else is left."""
    where = tmp_path / "s"
    if place == "postgres":
        where = request.getfixturevalue("postgres_url")
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: open_state(where).name, range(16)))

    assert len(names) == 1
    assert len([one for one in tmp_path.iterdir() if "key" in one.name]) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.parametrize("ends", ["failed", "killed"])
@pytest.mark.parametrize("step", FIRST_STEPS)
def test_a_first_opening_may_end_at_any_step(step, ends, tmp_path):
    """The next one opens the state, with one key, as if nothing had been."""
    path = tmp_path / "state.db"
    worker = get_context("fork").Process(target=_end_at, args=(path, step, ends))
    worker.start()
    worker.join(60)

    assert worker.exitcode == (0 if ends == "failed" else 9)
    assert open_state(path).name == open_state(path).name
    assert path.with_name("state.db.key").stat().st_size == 32


def test_another_opening_gives_up_no_lock_of_this_process(tmp_path):
    """So no process that ends takes the log away from under a connection."""
    path = tmp_path / "state.db"
    states = [open_state(path) for _ in range(3)]
    reads = "SELECT count(*) FROM meta"
    program = f"import sqlite3; sqlite3.connect({str(path)!r}).execute({reads!r})"
    subprocess.run([sys.executable, "-c", program], check=True)

    assert path.with_name("state.db-wal").exists()
    assert len({state.name for state in states}) == 1


def test_what_is_no_state_of_this_key_and_version_is_refused(tmp_path):
    """Half a key would make fingerprints that somebody can guess."""
    path, key = tmp_path / "state.db", tmp_path / "state.db.key"
    open_state(path)
    whole = key.read_bytes()
    for content, message in ((b"short", "key"), (b"o" * 32, "not the one")):
        key.write_bytes(content)
        with pytest.raises(UsageError, match=message):
            open_state(path)
    key.write_bytes(whole)
    _execute(path, "UPDATE meta SET value = x'30' WHERE name = 'version'")
    for _ in range(2):
        with pytest.raises(UsageError, match=r"another version.*bind"):
            open_state(path)
    with pytest.raises(UsageError, match="must be a path or a State"):
        open_state(3)


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES.keys())
def test_a_lost_file_is_not_made_anew(lose, tmp_path):
    """While its key is there. The error says what to do; a backup is opened."""
    path, copied = tmp_path / "state.db", tmp_path / "copy"
    name = open_state(path).name
    _copy(path, copied)
    lose(path)
    before = path.exists()

    for _ in range(2):
        with pytest.raises((UsageError, HostError), match=r"[Rr]estore"):
            open_state(path)
    assert path.exists() == before

    _delete(path)
    copied.replace(path)
    assert open_state(path).name == name


def test_without_its_key_a_lost_file_is_a_new_state(tmp_path):
    path = tmp_path / "state.db"
    first = open_state(path).name
    path.unlink()
    path.with_name("state.db.key").unlink()

    assert open_state(path).name != first


def test_a_state_may_be_moved_with_its_key(tmp_path):
    """And a key serves no other state: it would not know that one is lost."""
    name = open_state(tmp_path / "a.db", key=tmp_path / "key").name
    (tmp_path / "moved").mkdir()
    for file in ("a.db", "key"):
        (tmp_path / file).rename(tmp_path / "moved" / file)

    moved = {"key": tmp_path / "moved" / "key"}
    assert open_state(tmp_path / "moved" / "a.db", **moved).name == name
    with pytest.raises(UsageError, match="lost"):
        open_state(tmp_path / "moved" / "b.db", **moved)


def test_it_shows_neither_its_path_nor_its_key(tmp_path):
    state = open_state(tmp_path / "karlsson.db")

    assert "karlsson" not in f"{state!r} {state.keys!r} {state.database!r}"


OTHERS = {
    "notes": ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')"),
    "some of our names": ("CREATE TABLE meta (body TEXT)",),
    "all of our names": tuple(
        f"CREATE TABLE {name} (body TEXT)"
        for name in ("meta", "chunk", "binding", "finding", "form")
    ),
    "a log ahead": ("PRAGMA journal_mode = WAL", "CREATE TABLE notes (text TEXT)"),
    "a view alone": ("CREATE VIEW today AS SELECT 1 AS n",),
    "full text search": ("CREATE VIRTUAL TABLE pages USING fts5(body)",),
}
NO_DATABASES = {
    "a letter": b"x",
    "words": b"no database, but long enough to be looked at" * 40,
    "zeros": bytes(4096),
    "half a header": b"SQLite form",
    "lines of JSON": b'{"text": "kept"}\n' * 200,
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS.keys())
def test_a_database_of_another_application_is_left_alone(statements, tmp_path):
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as application:
        for statement in statements:
            application.execute(statement)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

        with pytest.raises(HostError):
            open_state(path)

        for name, data in before.items():
            if not name.endswith("-shm"):  # it counts the readers of the log
                assert (tmp_path / name).read_bytes() == data
        assert {file.name for file in tmp_path.iterdir()} == before.keys()


@each_row("data", NO_DATABASES.values())
def test_what_is_no_database_is_left_alone(data, tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(data)

    with pytest.raises(HostError):
        open_state(path)

    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_tables_beside_a_state_stay(tmp_path):
    """What an application put there is not touched; an empty file is made one."""
    path = tmp_path / "both.db"
    path.touch()
    name = open_state(path).name
    _execute(path, "CREATE TABLE notes (text TEXT)")

    assert open_state(path).name == name
