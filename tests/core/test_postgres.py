"""A state in PostgreSQL: private, whole, shared by hosts, and it tells nothing."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from sdrag.errors import HostError, UsageError
from sdrag.state import open_state
from sdrag.state.database import Database, PostgresUrl
from sdrag.state.tables import binding

SECRET = "Anna Karlsson"
PASSWORD = "korrekthorse"
AWAY = f"postgresql://ada:{PASSWORD}@127.0.0.1:1/notes?connect_timeout=2&key=/k"
COUNT = sa.select(sa.func.count()).select_from(binding)


@pytest.fixture
def database(postgres_url):
    return opened(postgres_url)


def opened(url, timeout_seconds=30.0):
    open_state(url)
    return Database(PostgresUrl(url), timeout_seconds=timeout_seconds)


def insert(connection, value):
    values = {"rule": b"r" * 8, "chunk": value, "score": 0.5}
    connection.execute(binding.insert(), values)


def put(database, value):
    with database.writing() as connection:
        insert(connection, value)


def held(database):
    with database.reading() as connection:
        return list(connection.scalars(sa.select(binding.c.chunk).order_by("chunk")))


def conninfo(url):
    """Return the URL as libpq reads it."""
    plain = PostgresUrl(url).url.set(drivername="postgresql")
    return plain.render_as_string(hide_password=False)


def test_a_reader_sees_one_moment(database):
    """What is written while it reads is not there, and it stops no writer."""
    with database.reading() as connection:
        before = connection.scalar(COUNT)
        put(database, "a")
        after = connection.scalar(COUNT)

    assert before == after == 0
    assert held(database) == ["a"]


def test_a_reader_cannot_write(database):
    with pytest.raises(HostError), database.reading() as connection:
        insert(connection, "a")

    assert held(database) == []


def test_of_two_writers_one_waits_and_sees_what_the_other_wrote(database):
    """Each adds one to what it has read, and none is lost."""

    def grow(_):
        with database.writing() as connection:
            insert(connection, str(connection.scalar(COUNT)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(grow, range(24)))

    assert held(database) == sorted(map(str, range(24)))


def test_waiting_for_another_writer_ends(postgres_url):
    """After the time it was given, with an error, never with half a write."""
    patient, hasty = opened(postgres_url), opened(postgres_url, timeout_seconds=1.0)

    with (
        patient.writing(),
        pytest.raises(HostError, match=r"LockNotAvailable.*another writer"),
    ):
        put(hasty, "a")

    put(hasty, "b")
    assert held(patient) == ["b"]


def test_a_restart_in_the_middle_of_a_write_undoes_it(database, postgres):
    """The writer gets an error. The next writer finds what was there before."""
    put(database, "a")

    def restarted():
        with database.writing() as connection:
            insert(connection, "b")
            postgres.stop()
            postgres.start()

    with pytest.raises(HostError):
        restarted()

    put(database, "c")
    assert held(database) == ["a", "c"]


def test_a_server_that_is_away_is_the_hosts_fault():
    """The error says what to do, and holds neither user, host nor password."""
    with pytest.raises(HostError, match="Is the server up") as caught:
        open_state(AWAY)

    for part in (PASSWORD, "ada", "127.0.0.1", "notes"):
        assert part not in f"{caught.value} {caught.value!r}"
    assert caught.value.__cause__ is None


OTHERS = {
    "a name of ours": ("CREATE TABLE form (body TEXT)",),
    "a view of ours": ("CREATE VIEW finding AS SELECT 1 AS text",),
    "facts about pages": ("CREATE TABLE meta (page TEXT)",),
    "all names of ours": tuple(
        f"CREATE TABLE {name} (body TEXT)"
        for name in ("meta", "chunk", "binding", "finding", "form")
    ),
}
TABLES = "SELECT relname, relkind FROM pg_class JOIN pg_namespace n ON n.oid ="
TABLES += " relnamespace WHERE nspname = %s AND relkind <> 't' ORDER BY 1"


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS.keys())
def test_tables_of_another_application_are_left_alone(statements, postgres_url):
    address = PostgresUrl(postgres_url)
    with psycopg.connect(conninfo(postgres_url), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {address.schema}")
        connection.execute(f"SET search_path TO {address.schema}")
        for statement in statements:
            connection.execute(statement)
        before = connection.execute(TABLES, (address.schema,)).fetchall()

        with pytest.raises(HostError):
            open_state(postgres_url)

        assert connection.execute(TABLES, (address.schema,)).fetchall() == before
    assert not Path(address.key).exists()


def test_other_tables_may_stand_beside_a_state(postgres_url):
    address = PostgresUrl(postgres_url)
    with psycopg.connect(conninfo(postgres_url), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {address.schema}")
        connection.execute(f"CREATE TABLE {address.schema}.notes (body TEXT)")
        names = {open_state(postgres_url).name for _ in range(2)}
        tables = connection.execute(TABLES, (address.schema,)).fetchall()

    assert len(names) == 1
    assert ("notes", "r") in tables


def test_a_role_that_may_only_write_rows_is_enough(postgres_url, tmp_path):
    """Whoever runs the service makes no tables; without a right the hint says which."""
    open_state(postgres_url)
    address = PostgresUrl(postgres_url)
    with psycopg.connect(conninfo(postgres_url), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS service")
        connection.execute("CREATE ROLE service LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {address.schema} TO service")
        connection.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES"
            f" IN SCHEMA {address.schema} TO service"
        )
    theirs = postgres_url.replace("tester@", "service@")

    state = open_state(theirs)
    put(state.database, "a")

    assert held(state.database) == ["a"]
    with pytest.raises(HostError, match="SELECT, INSERT"):
        open_state(theirs.replace(address.schema, "elsewhere"), key=tmp_path / "new")


def test_a_state_travels_without_its_password(postgres_url):
    """A pickle, a repr and what is shown hold none; the same state is opened again."""
    url = postgres_url.replace("tester@", f"tester:{PASSWORD}@")
    state = open_state(url)
    pickled = pickle.dumps(state)

    assert PASSWORD.encode() not in pickled
    assert PASSWORD not in f"{state!r} {state.path} {state.database!r}"
    assert pickle.loads(pickled).name == state.name  # noqa: S301 -- made above


@pytest.mark.parametrize(
    ("url", "shown", "schema", "key"),
    [
        ("postgresql://h/d", "postgresql://h/d", "sdrag", None),
        ("postgres://u:p@h:5/d", "postgresql://u@h:5/d", "sdrag", None),
        (
            "postgresql://u@a,b/d?password=p&schema=two&key=/k%20k",
            "postgresql://u@a,b/d?key=%2Fk+k&schema=two",
            "two",
            "/k k",
        ),
        ("postgresql:///d?host=/run", "postgresql:///d?host=%2Frun", "sdrag", None),
    ],
)
def test_the_url_of_a_state(url, shown, schema, key):
    """Ours are two parameters; the rest is libpq's, and the password is not shown."""
    read = PostgresUrl(url)

    assert (read.shown, read.schema, read.key) == (shown, schema, key)
    assert PostgresUrl(read.shown).key == key
    assert "schema" not in str(read.url)
    assert ":p@" not in f"{read!r} {read.shown}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"postgresql://u:{PASSWORD}@h/d", "needs the file of its key"),
        (f"postgresql://u:{PASSWORD}@h/d?schema=A;B&key=/k", "no plain name"),
        (f"postgresql:/u:{PASSWORD}@h/d", "lost a slash"),
        (f"postgresql://u:{PASSWORD}@[h/d?key=/k", "cannot be read"),
    ],
)
def test_a_url_that_cannot_be_meant_is_refused(url, said):
    with pytest.raises(UsageError, match=said) as caught:
        open_state(url)

    assert PASSWORD not in f"{caught.value!r}"


def test_what_libpq_does_not_know_is_refused_without_a_word_of_it():
    with pytest.raises(HostError) as caught:
        open_state(f"{AWAY}&passwrd={PASSWORD}")

    assert PASSWORD not in f"{caught.value!r}"
