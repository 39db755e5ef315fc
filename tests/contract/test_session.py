"""A session puts together no more than the policy lets it, through every face."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
import sqlalchemy as sa

from sdrag import Principal, UsageError, acting_as, stream_as
from sdrag.state import open_state
from sdrag.state.tables import shown
from sdrag.vocabulary import Passage

from ..support.faces import (
    BUILDERS,
    FACES,
    Scenario,
    core_run,
    langchain_compressor,
    langchain_retriever,
    of_documents,
    through,
)

CLINIC = "A man of 43 was at Riverside Clinic on 4 May 2021."
BOAT = "The owner of the boat was at Riverside Clinic on 4 May 2021, and sang."
CLINIC_COARSE = "A man of 43 was at [organisation] on [date]."
COARSE = "The owner of the boat was at [organisation] on [date], and sang."
POLICY = {"constraints": ["Remove the names of people"], "session": {}}
ADA = Principal("ada")
FIRST, SECOND = (
    Scenario(text, [Passage(name, text, document_id=name)], POLICY, principal=ADA)
    for name, text in (("a", CLINIC), ("b", BOAT))
)


def texts(seen):
    return [text for _, text, _ in seen]


@pytest.fixture
def state(tmp_path):
    return open_state(tmp_path / "state.db")


@through(*FACES)
def test_every_face_limits_a_session(face, state):
    """What was shown in it counts, whichever wrapper showed it, and in no other."""

    def ask(face, scenario, session_id):
        with acting_as(ADA, session_id):
            return texts(face(replace(scenario, state=state)))

    assert ask(core_run, FIRST, "s") == [CLINIC]
    assert ask(face, SECOND, "s") == [COARSE]
    assert ask(face, SECOND, "t") == [BOAT]
    assert ask(core_run, FIRST, "t") == [CLINIC_COARSE]
    assert ask(face, FIRST, None) == [CLINIC]


def test_langchain_takes_the_session_from_the_config(state):
    """By every way to call, before that of `acting_as`; a stream keeps its own."""
    config = {"configurable": {"session_id": "s", "principal": ADA}}
    first = langchain_retriever(replace(FIRST, state=state))
    second = langchain_retriever(replace(SECOND, state=state))
    compressor = langchain_compressor(replace(SECOND, state=state))
    with acting_as(ADA, "t"):
        stream = stream_as(ADA, second.stream, "q")
        first.invoke("q", config)
        answers = [
            second.invoke("q", config),
            asyncio.run(second.ainvoke("q", config)),
            *second.stream("q", config),
            compressor.invoke(second.base_retriever.invoke("q"), config),
        ]

    assert [texts(of_documents(answer)) for answer in answers] == [[COARSE]] * 4
    assert texts(of_documents(next(iter(stream)))) == [BOAT]
    for wrong in (7, ""):
        with pytest.raises(UsageError, match="session id"):
            first.invoke("q", {"configurable": {"session_id": wrong}})


@pytest.mark.parametrize("build", BUILDERS)
def test_a_wrapper_without_a_state_is_refused(build):
    """What is not remembered limits nothing; the error says what to pass."""
    with pytest.raises(UsageError, match="no state was passed") as caught:
        build(FIRST)

    assert "state=" in str(caught.value)


@through(*FACES)
def test_a_ledger_that_fails_withholds(face, state):
    """Nothing is shown that could not be remembered."""
    with state.database.writing() as connection:
        connection.execute(
            sa.text(
                "CREATE TRIGGER failing BEFORE INSERT ON shown"
                " BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        )

    assert face(replace(FIRST, state=state)) == []


def test_the_ledger_holds_no_text_and_compares_no_sessions(state, tmp_path):
    """Hashes alone: neither words nor ids, and no two sessions share one."""
    for session_id in ("Anna's session", "Bob's session"):
        with acting_as(ADA, session_id):
            core_run(replace(FIRST, state=state))
    with state.database.reading() as connection:
        rows = connection.execute(sa.select(shown)).all()

    written = b"".join(file.read_bytes() for file in tmp_path.iterdir()).lower()
    words = (b"clinic", b"riverside", b"2021", b"anna's", b"bob's", b"'ada'", b"man of")
    assert not any(word in written for word in words)
    one, two = (
        {row.session, row.text, row.document, *json.loads(row.facts)} for row in rows
    )
    assert len(one) == 5
    assert one.isdisjoint(two)
