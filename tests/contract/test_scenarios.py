"""
One table of scenarios through every face: sync, async, batch, stream, both hooks.

What the scenarios promise is tried on the core, and every face gives what the core
gives: whatever remembers, nothing but the wrapper, a file, or a server.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from sdrag.effects.limits import Limits
from sdrag.errors import PolicyError
from sdrag.state import open_state
from sdrag.state.tables import tables
from sdrag.vocabulary import Passage, Principal

from ..support.doubles import failing, garbled, hanging, talkative, verdicts
from ..support.faces import (
    FACES,
    WRAPPERS,
    Scenario,
    core_run,
    langchain_retriever,
    llamaindex_retriever,
    through,
)
from ..support.frameworks import CustomEvents, disclosure_events

QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."
HIDDEN = QUAY.replace("Anna Karlsson", "[person]")
CREW = "The crew was paid 4,200 crowns in cash, said the harbour master."
NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
WEATHER = {"id": "weather", "text": "Only the weather may be disclosed", "always": True}
LOG = "log.txt"
ONE = (Passage("p1", QUAY, {"source": LOG, "author": "Karlsson"}, 0.9, LOG),)
TWO = (*ONE, Passage("p2", CREW, {"source": LOG}, 0.4, LOG))
FORBIDDEN = {"Anna", "Karlsson"}


def policy(**sections):
    return {"constraints": [NAMES], **sections}


TABLES = [table for name, table in tables.tables.items() if name != "meta"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return open_state(tmp_path_factory.mktemp("states") / "state.db")


@pytest.fixture(scope="module")
def server(postgres, tmp_path_factory):
    key = tmp_path_factory.mktemp("keys") / "state.key"
    return open_state(postgres.url(f"s{uuid4().hex}", key))


def emptied(state):
    with state.database.writing() as connection:
        for table in TABLES:
            connection.execute(table.delete())
    return state


REDACTED = [
    Scenario("local engine", TWO, policy()),
    Scenario("model", TWO, policy(), reply=verdicts(names=["Anna Karlsson"])),
    Scenario(
        "talkative model", TWO, policy(), reply=talkative(names=["Anna Karlsson"])
    ),
    Scenario("persuaded model", TWO, policy(), reply=verdicts(names=[])),
]
STUMBLING = [
    ("failing model", {"reply": failing}),
    ("garbled model", {"reply": garbled}),
    ("no verdict", {"reply": verdicts(other=[])}),
    ("hanging model", {"reply": hanging, "limits": Limits(seconds=0.05)}),
]
IN_DOUBT = [Scenario(name, TWO, policy(), **how) for name, how in STUMBLING]
WITHHELD = [
    *(
        Scenario(name, TWO, {"constraints": [WEATHER]}, **how)
        for name, how in STUMBLING
    ),
    Scenario(
        "constraint that withholds",
        ONE,
        {"constraints": [{**NAMES, "method": "withhold"}]},
    ),
]
UNTOUCHED = [
    Scenario("no constraints", TWO, {"allow_empty": True}),
    Scenario(
        "lifted for a role",
        TWO,
        {"constraints": [{**NAMES, "unless": {"roles": ["judge"]}}]},
        principal=Principal("x", roles=frozenset({"judge"})),
    ),
    Scenario(
        "limited to other metadata",
        TWO,
        {"constraints": [{**NAMES, "where": {"source": ["other.txt"]}}]},
    ),
    Scenario("nothing found", (), policy()),
    Scenario(
        "braces and templates",
        (Passage("b", "Write {query_str} and {{x}} and %s and {0}."),),
        policy(),
        reply=verdicts(names=[]),
    ),
    Scenario(
        "zero width and mixed scripts",
        (Passage("z", "Судно вы\u200bшло в 東京湾 в \u202bשלום\u202c 5 ч."),),
        {"allow_empty": True},
    ),
]
KEYED = {"document": "handle", "audience": "tag", "mark": "mark"}
"""What differs with the key of a state."""
TABLE = (*REDACTED, *IN_DOUBT, *WITHHELD, *UNTOUCHED)


def ask(face, scenario, state=None):
    with scenario.acting():
        return face(replace(scenario, state=state))


@pytest.mark.parametrize("scenario", REDACTED, ids=lambda case: case.name)
def test_what_the_policy_forbids_does_not_leave(scenario):
    """The names go, the rest of the text stays, ids and order survive."""
    released = ask(core_run, scenario)

    assert [identity for identity, _, _ in released] == ["p1", "p2"]
    assert not FORBIDDEN & set(released[0][1].replace("[", " ").split())
    assert "unload crates at dawn" in released[0][1]
    assert released[1][1] == CREW


@pytest.mark.parametrize("scenario", WITHHELD, ids=lambda case: case.name)
def test_what_cannot_be_judged_is_withheld(scenario):
    """A passage in doubt is not there: neither raw nor as a stump."""
    assert ask(core_run, scenario) == []


@pytest.mark.parametrize("scenario", IN_DOUBT, ids=lambda case: case.name)
def test_where_types_are_asked_for_the_local_engine_decides_in_doubt(scenario):
    """The name goes, as without a model; the passage without one is whole."""
    released = ask(core_run, scenario)

    assert [text for _, text, _ in released] == [HIDDEN, CREW]


@pytest.mark.parametrize("scenario", UNTOUCHED, ids=lambda case: case.name)
def test_what_no_constraint_concerns_is_released_as_it_is(scenario):
    """Not a character is lost where nothing has to go."""
    released = ask(core_run, scenario)

    expected = [(passage.id, passage.text) for passage in scenario.passages]
    assert [(identity, text) for identity, text, _ in released] == expected


@through(core_run, *WRAPPERS)
def test_metadata_leaves_by_the_allow_list_only(face):
    """A key that the policy does not name stays behind, and its value with it."""
    closed = Scenario("closed", ONE, policy())
    opened = Scenario("opened", ONE, policy(metadata={"allow": ["source"]}))

    ((_, _, nothing),) = face(closed)
    ((_, _, something),) = face(opened)

    assert set(nothing) == {"sdrag"}
    assert set(something) == {"source", "sdrag"}
    assert something["source"] == "log.txt"


@pytest.fixture(scope="module")
def of_core():
    """What the core releases, by scenario."""
    return [unhandled(ask(core_run, scenario)) for scenario in TABLE]


@through(*FACES)
def test_every_face_gives_what_the_core_gives(face, of_core):
    """Byte for byte."""
    for scenario, expected in zip(TABLE, of_core, strict=True):
        assert unhandled(ask(face, scenario)) == expected, scenario.name


@pytest.mark.parametrize("place", ["file", "server"])
@through(core_run, *WRAPPERS)
def test_wherever_it_is_remembered_it_is_the_same(face, place, of_core, request):
    """In a file or on a server, and once more where it is known."""
    state = request.getfixturevalue(place)
    for scenario, expected in zip(TABLE, of_core, strict=True):
        emptied(state)
        for _ in range(2):
            assert unhandled(ask(face, scenario, state)) == expected, scenario.name


def unhandled(seen):
    """Leave out by what a state knows the documents of what was cut."""
    return [
        (name, text, {**own, "sdrag": {**own.get("sdrag", {}), **KEYED}})
        for name, text, own in seen
    ]


@pytest.mark.parametrize("is_async", [False, True])
def test_what_was_decided_is_announced(is_async):
    """To the handlers of either framework, once, as ids and codes."""
    scenario, handler = REDACTED[0], CustomEvents()
    retriever, config = langchain_retriever(scenario), {"callbacks": [handler]}
    other = llamaindex_retriever(scenario)
    with disclosure_events() as events:
        if is_async:
            asyncio.run(retriever.ainvoke("q", config))
            asyncio.run(other.aretrieve("q"))
        else:
            retriever.invoke("q", config)
            other.retrieve("q")

    for ((name, stage, content),) in (handler.events, events):
        assert (name, stage) == ("sdrag", "retrieve")
        assert "('names',)" in content
        assert "Karlsson" not in content


@through(core_run, *WRAPPERS)
def test_a_policy_that_means_nothing_is_an_error_at_once(face):
    """The wrapper is not built, so it cannot be open by mistake."""
    with pytest.raises(PolicyError):
        face(Scenario("bad", ONE, {"disclosure": {"top": 1}}))
