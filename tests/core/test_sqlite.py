"""A database of sdrag's own is private, whole, shared by threads, and tells nothing."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import pytest

from sdrag.errors import HostError
from sdrag.state.sqlite import MEMORY, SqliteDatabase

SCHEMA = "CREATE TABLE IF NOT EXISTS entry (value TEXT PRIMARY KEY);"
SECRET = "Anna Karlsson"


@pytest.fixture(params=["memory", "file"])
def database(request, tmp_path):
    where = MEMORY if request.param == "memory" else tmp_path / "own.db"
    return SqliteDatabase(where, SCHEMA, name="state")


def put(database, value):
    with database.transaction() as connection:
        connection.execute("INSERT INTO entry VALUES (?)", (value,))


def held(database):
    with database.transaction() as connection:
        return [value for (value,) in connection.execute("SELECT value FROM entry")]


def test_a_transaction_is_kept_when_its_block_ends(database):
    put(database, "a")

    assert held(database) == ["a"]


def test_a_transaction_is_undone_when_its_block_raises(database):
    """Whatever was raised; a later one works."""
    with suppress(ZeroDivisionError), database.transaction() as connection:
        connection.execute("INSERT INTO entry VALUES ('a')")
        raise ZeroDivisionError

    assert held(database) == []
    put(database, "b")
    assert held(database) == ["b"]


def test_threads_lose_nothing(database):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: put(database, str(number)), range(40)))

    assert sorted(held(database), key=int) == [str(number) for number in range(40)]


def test_another_file_in_its_place_is_another_database(tmp_path):
    """A connection is kept for the file that it was opened to, and for no other."""
    path, other = tmp_path / "own.db", tmp_path / "other.db"
    database = SqliteDatabase(path, SCHEMA, name="state")
    put(database, "a")
    put(SqliteDatabase(other, SCHEMA, name="state"), "b")

    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    other.rename(path)

    assert held(database) == ["b"]


def test_a_transaction_within_another_has_a_connection_of_its_own(tmp_path):
    """The inner one is kept, though the outer one is undone."""
    database = SqliteDatabase(tmp_path / "own.db", SCHEMA, name="state")
    with suppress(ZeroDivisionError), database.transaction() as connection:
        list(connection.execute("SELECT value FROM entry"))
        put(database, "inner")
        raise ZeroDivisionError

    assert held(database) == ["inner"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_opens_connections_of_its_own(tmp_path):
    """What the parent has open is its own; both write, and both are read."""
    database = SqliteDatabase(tmp_path / "own.db", SCHEMA, name="state")
    put(database, "parent")
    child = get_context("fork").Process(target=put, args=(database, "child"))
    child.start()
    child.join()

    assert child.exitcode == 0
    assert sorted(held(database)) == ["child", "parent"]


def test_a_failure_names_the_database_and_nothing_in_it(database):
    """It is the host's; neither the statement, the row nor the path is quoted."""
    put(database, SECRET)

    with pytest.raises(HostError, match="state's database") as caught:
        put(database, SECRET)

    error = caught.value
    assert SECRET not in str(error)
    assert "own.db" not in str(error) + repr(database)
    assert error.__suppress_context__
    assert error.__cause__ is None


def test_a_file_is_its_owners_alone(tmp_path):
    path = tmp_path / "own.db"
    put(SqliteDatabase(path, SCHEMA, name="state"), "a")

    assert path.stat().st_mode & 0o077 == 0
    assert held(SqliteDatabase(str(path), SCHEMA, name="state")) == ["a"]


def test_what_sqlite_cannot_read_is_the_hosts_fault(tmp_path):
    path = tmp_path / "own.db"
    path.write_bytes(b"no database, but long enough to be looked at" * 40)

    with pytest.raises(HostError):
        SqliteDatabase(path, SCHEMA, name="state")


@pytest.mark.parametrize(("version", "left"), [(1, ["a"]), (2, [])])
def test_a_file_of_another_version_starts_anew(version, left, tmp_path):
    """What it holds is not known to be what it seems."""
    path = tmp_path / "own.db"
    put(SqliteDatabase(path, SCHEMA, name="state", version=1), "a")

    assert held(SqliteDatabase(path, SCHEMA, name="state", version=version)) == left


def test_many_may_open_a_file_at_once(tmp_path):
    """Whoever comes first lays it out, and nobody empties it again."""

    def opened(number):
        database = SqliteDatabase(tmp_path / "own.db", SCHEMA, name="state", version=1)
        put(database, str(number))
        return database

    with ThreadPoolExecutor(8) as pool:
        first, *_ = pool.map(opened, range(16))

    assert len(held(first)) == 16


def test_waiting_for_another_writer_ends(tmp_path):
    """After the patience it was given, with an error, never with half a write."""
    path = tmp_path / "own.db"
    database = SqliteDatabase(path, SCHEMA, name="state", patience=0.05)
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(HostError):
        put(database, "a")

    other.rollback()
    other.close()
    assert held(database) == []
