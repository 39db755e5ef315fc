"""One index, many audiences: nothing that is remembered crosses between them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal

from ..support.faces import (
    Scenario,
    core_disclose,
    langchain_invoke,
    langchain_retriever,
    llamaindex_retrieve,
)
from ..support.properties import few
from ..support.scripted import canary

DOSES = {"id": "doses", "text": "Hide exact doses", "unless": {"roles": ["physician"]}}
DATES = {"id": "dates", "text": "Hide exact dates", "unless": {"level": [2]}}
NAMES = {"id": "names", "text": "Remove names of patients", "unless": {"ward": ["a"]}}
POLICIES = [
    {"constraints": [DOSES, DATES, NAMES]},
    {"constraints": [{**DOSES, "unless": {}}, DATES]},
    {"constraints": [DOSES], "disclosure": {"placeholder": "[gone]"}},
    {"constraints": [{**DATES, "method": "withhold"}, NAMES]},
]
PASSAGES = (
    Passage("p1", "On 3 May 2020 Anna Karlsson took 40 mg of atorvastatin."),
    Passage("p2", "Karlsson came back on 7 June 2021 and took 20 mg."),
    Passage("p3", "The harbour was quiet."),
)
PRINCIPALS = st.builds(
    Principal,
    id=st.sampled_from(["ann", "ben"]),
    tenant=st.sampled_from([None, "t"]),
    roles=st.frozensets(st.sampled_from(["physician", "visitor"]), max_size=2),
    level=st.integers(1, 2),
    attributes=st.sampled_from([{}, {"ward": "a"}, {"ward": "b"}]),
)
REQUESTS = st.builds(
    Scenario,
    name=st.just("asked"),
    principal=st.none() | PRINCIPALS,
    policy=st.sampled_from(POLICIES),
    passages=st.lists(
        st.sampled_from(PASSAGES), min_size=1, unique_by=lambda passage: passage.id
    ),
)


def ask(face, scenario, state=None):
    with scenario.acting():
        return face(replace(scenario, state=state))


def comparable(shown):
    """Leave out aliases, handles, audiences and marks: every state has its own."""
    keyed = {"document": "", "audience": "", "mark": ""}
    return [
        (
            re.sub(r"^p-[0-9a-f]{16}$", "alias", name),
            text,
            {**metadata, "sdrag": metadata.get("sdrag", {}) | keyed},
        )
        for name, text, metadata in shown
    ]


@pytest.mark.parametrize("kept", ["memory", "file"])
@given(asked=st.lists(REQUESTS, min_size=2, max_size=4))
@settings(few, suppress_health_check=list(HealthCheck))
def test_nothing_crosses_principals_or_policies(kept, asked, tmp_path_factory):
    """With one state for all, everybody is shown what they are shown without one."""
    folder = tmp_path_factory.mktemp("state")
    shared = open_state(None if kept == "memory" else folder / "state.db")
    for scenario in [*asked, *asked]:
        alone = ask(core_disclose, scenario)
        together = ask(core_disclose, scenario, shared)
        assert comparable(together) == comparable(alone)


@pytest.mark.parametrize("order", [1, -1])
def test_a_state_keeps_two_tenants_apart(order):
    """What is found in a document of one is not known in the other's of that name."""
    shared = open_state()
    policy = {"constraints": [NAMES], "access": {"required": []}}
    texts = {
        "a": "The patient Anna Karlsson rang.",
        "b": "karlsson is a kind of stove.",
    }
    for tenant in ("a", "b")[::order]:
        passage = Passage("p", texts[tenant], {"tenant": tenant})
        principal = Principal("u", tenant=tenant, roles=frozenset({"clerk"}))
        scenario = Scenario("tenants", (passage,), policy, principal=principal)
        alone = ask(core_disclose, scenario)
        together = ask(core_disclose, scenario, shared)
        assert comparable(together) == comparable(alone)


def looking(prompt):
    """A model that withholds every word that a passage says to look for."""
    ids = re.findall(r"^\[(\w+)\] ", prompt, re.MULTILINE)
    spans = re.findall(r"look (Canary\w+)", prompt)
    listed = [{"constraint": name, "spans": spans} for name in dict.fromkeys(ids)]
    return json.dumps({"verdicts": listed})


WORDS = [canary(f"word {number}") for number in range(3)]
CHUNK = Passage("p", "see " + " ".join(WORDS), document_id="d")
SEEN = {"constraints": [{"id": "words", "text": "Conceal what the witness saw"}]}


def beside(place):
    """The chunk beside a neighbour that has one of its words withheld."""
    other = Passage("q", f"q look {WORDS[place]}", document_id="d")
    return Scenario("beside", (CHUNK, other), SEEN, reply=looking)


def shown(face, scenario, state):
    (text,) = [text for name, text, _ in ask(face, scenario, state) if name == "p"]
    return {word for word in WORDS if word in text}


@given(st.lists(st.sampled_from(range(3)), min_size=2, max_size=5))
@few
def test_withheld_once_is_withheld_always(places):
    """Whatever stands beside a chunk, nothing comes back that was withheld of it."""
    state, gone = open_state(), set()
    for place in places:
        seen = shown(core_disclose, beside(place), state)
        gone.add(WORDS[place])
        assert not seen & gone


def test_a_file_joins_frameworks_and_processes(tmp_path):
    """Wrappers of one index share what was found, in whatever framework."""
    path = tmp_path / "state.db"

    assert WORDS[0] not in shown(langchain_invoke, beside(0), path)
    assert shown(llamaindex_retrieve, beside(1), open_state(path)) == {WORDS[2]}


def test_a_copied_retriever_keeps_its_state():
    """`model_copy` starts no new one."""
    first = langchain_retriever(beside(0))
    first.invoke("?")
    host = langchain_retriever(beside(1)).base_retriever

    for deep in (False, True):
        copy = first.model_copy(update={"base_retriever": host}, deep=deep)
        assert WORDS[0] not in str(copy.invoke("?"))


def test_no_text_lies_in_the_files(tmp_path):
    """Neither what was withheld, nor what was shown, nor a constraint's words."""
    ask(core_disclose, beside(0), tmp_path / "state.db")

    for file in tmp_path.iterdir():
        data = file.read_bytes().lower()
        for word in (*WORDS, "conceal", "witness"):
            assert word.lower().encode() not in data
        assert not file.stat().st_mode & 0o077
