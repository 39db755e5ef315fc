"""A state that fails in the middle of a question: nothing leaves, and it recovers."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace

import psycopg
import sqlalchemy as sa

from sdrag.state import open_state
from sdrag.state.database import PostgresUrl
from sdrag.state.tables import finding
from sdrag.vocabulary import Passage

from ..support.faces import Scenario, ask, langchain_retriever, llamaindex_retriever

QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."
SCENARIO = Scenario(
    "quay",
    [Passage("p", QUAY, {"source": "log.txt"}, document_id="log.txt")],
    {"constraints": ["Remove the names of witnesses"]},
)
FAILURES = {
    "the connection is lost": "PERFORM pg_terminate_backend(pg_backend_pid())",
    "a statement takes too long": "PERFORM pg_cancel_backend(pg_backend_pid())",
    "the disk is full": "RAISE EXCEPTION USING ERRCODE = 'disk_full'",
    "it became read-only": "RAISE EXCEPTION USING ERRCODE = '25006'",
}


def is_redacted(seen):
    ((_, text, _),) = seen
    return "Karlsson" not in text and "unload crates at dawn" in text


def count_findings(url):
    with open_state(url).database.reading() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(finding))


def execute(url, *statements):
    """Have the server do something, as its owner."""
    at = PostgresUrl(url)
    plain = at.url.set(drivername="postgresql")
    conninfo = plain.render_as_string(hide_password=False)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {at.schema}")
        for statement in statements:
            connection.execute(statement)


def test_a_write_that_fails_withholds_and_leaves_nothing(postgres_url, caplog):
    """The server itself fails, once the findings are being written."""
    wrapper = langchain_retriever(SCENARIO, state=postgres_url)
    for failure in FAILURES.values():
        execute(
            postgres_url,
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {failure}; RETURN NEW; END $$",
            "CREATE OR REPLACE TRIGGER failing BEFORE INSERT ON finding"
            " EXECUTE FUNCTION fail()",
        )
        with caplog.at_level(logging.WARNING, "sdrag"):
            assert ask(wrapper, SCENARIO) == ask(wrapper, SCENARIO) == []
        assert count_findings(postgres_url) == 0

    assert "failed-host" in caplog.text
    assert "Karlsson" not in caplog.text
    execute(postgres_url, "DROP TRIGGER failing ON finding")
    assert is_redacted(ask(wrapper, SCENARIO))
    assert count_findings(postgres_url) > 0


def test_a_write_to_a_file_that_fails_withholds_and_leaves_nothing(tmp_path):
    """As with a server."""
    path = tmp_path / "state.db"
    wrapper = llamaindex_retriever(SCENARIO, state=path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON finding"
            " BEGIN SELECT RAISE(ABORT, 'full'); END"
        )

        assert ask(wrapper, SCENARIO) == ask(wrapper, SCENARIO) == []
        assert count_findings(path) == 0

        connection.execute("DROP TRIGGER failing")
    assert is_redacted(ask(wrapper, SCENARIO))


def test_a_server_without_a_connection_left_withholds(postgres_url):
    """Until one is free again; none of those that are idle is in the way."""
    open_state(postgres_url)
    schema = PostgresUrl(postgres_url).schema
    execute(
        postgres_url,
        f"CREATE ROLE crowd_{schema} LOGIN CONNECTION LIMIT 1",
        f"GRANT USAGE ON SCHEMA {schema} TO crowd_{schema}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema}"
        f" TO crowd_{schema}",
    )
    state = open_state(postgres_url.replace("tester@", f"crowd_{schema}@"))
    scenario = replace(SCENARIO, state=state)
    wrapper = langchain_retriever(scenario)

    with state.database.reading():  # whoever else asks takes the only one
        assert ask(wrapper, scenario) == []

    assert is_redacted(ask(wrapper, scenario))
