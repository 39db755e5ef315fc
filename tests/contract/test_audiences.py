"""One index, many audiences: nothing that is remembered crosses between them."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import langchain_sdrag
import llamaindex_sdrag
from sdrag.principals import acting_as
from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal

from ..support.doubles import LangChainModel, LlamaIndexModel
from ..support.faces import (
    Scenario,
    documents,
    langchain_retriever,
    llamaindex_retriever,
    nodes,
    of_documents,
    of_nodes,
)
from ..support.scripted import canary
from ..support.wrappers import build

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
ASKED = st.tuples(
    st.none() | PRINCIPALS,
    st.sampled_from(POLICIES),
    st.lists(st.sampled_from(PASSAGES), min_size=1, unique_by=lambda p: p.id),
)
ALIKE = [
    Principal("ann", roles=frozenset({"physician"})),
    Principal("ann", roles=frozenset({"visitor"})),
]


def by_langchain(scenario, **shared):
    wrapped = langchain_retriever(scenario, **shared)
    return of_documents(wrapped.invoke(scenario.query))


def by_llamaindex(scenario, **shared):
    wrapped = llamaindex_retriever(scenario, **shared)
    return of_nodes(wrapped.retrieve(scenario.query))


def by_compressor(scenario, **shared):
    hook = build(
        langchain_sdrag.SelectiveDisclosureCompressor,
        policy=scenario.policy,
        llm=LangChainModel(reply=scenario.reply) if scenario.reply else None,
        **shared,
    )
    found = documents(scenario)
    return of_documents(hook.compress_documents(found, scenario.query))


def by_postprocessor(scenario, **shared):
    hook = build(
        llamaindex_sdrag.SelectiveDisclosurePostprocessor,
        policy=scenario.policy,
        llm=LlamaIndexModel(scenario.reply) if scenario.reply else None,
        **shared,
    )
    return of_nodes(hook.postprocess_nodes(nodes(scenario), query_str=scenario.query))


RETRIEVERS = [by_langchain, by_llamaindex]
WRAPPERS = [*RETRIEVERS, by_compressor, by_postprocessor]


OF_STATES = {"document": "", "audience": "", "mark": ""}


def _comparable(shown):
    """Leave out aliases, handles, audiences and marks: every state has its own."""
    return [
        (
            re.sub(r"^p-[0-9a-f]{16}$", "alias", name),
            text,
            {**metadata, "sdrag": metadata.get("sdrag", {}) | OF_STATES},
        )
        for name, text, metadata in shown
    ]


@pytest.mark.parametrize("face", RETRIEVERS)
@pytest.mark.parametrize("kept", ["memory", "file"])
@given(asked=st.lists(ASKED, min_size=2, max_size=4))
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_crosses_principals_or_policies(face, kept, asked, tmp_path_factory):
    """With one state for all, everybody is shown what they are shown without one."""
    folder = tmp_path_factory.mktemp("state")
    shared = open_state() if kept == "memory" else folder / "state.db"
    for principal, policy, passages in [*asked, *asked]:
        scenario = Scenario("asked", passages, policy)
        with acting_as(principal):
            alone, together = face(scenario), face(scenario, state=shared)
            assert _comparable(together) == _comparable(alone)


@pytest.mark.parametrize("face", WRAPPERS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_state_keeps_two_roles_apart(face, order, tmp_path):
    """The same question by a physician and a visitor gives two contexts."""
    scenario = Scenario("doses", PASSAGES, POLICIES[0])
    for _ in range(2):
        for principal in ALIKE[::order]:
            with acting_as(principal):
                text = str(face(scenario, state=tmp_path / "state.db"))
            assert ("40 mg" in text) == ("physician" in principal.roles)


@pytest.mark.parametrize("face", WRAPPERS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_state_keeps_two_placeholders_apart(face, order):
    """Each policy's own stands where something was cut."""
    shared = open_state()
    for _ in range(2):
        for mark in ("[gone]", "***")[::order]:
            policy = {"constraints": [DOSES], "disclosure": {"placeholder": mark}}
            text = str(face(Scenario("marks", PASSAGES, policy), state=shared))
            assert mark in text
            assert "40 mg" not in text


@pytest.mark.parametrize("face", WRAPPERS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_state_keeps_two_tenants_apart(face, order):
    """What is found in a document of one is not known in the other's of that name."""
    shared = open_state()
    policy = {"constraints": [NAMES], "access": {"required": []}}
    told = {
        "a": Passage("p", "The patient Anna Karlsson rang.", {"tenant": "a"}),
        "b": Passage("p", "karlsson is a kind of stove.", {"tenant": "b"}),
    }
    for tenant in ("a", "b")[::order]:
        alike = Principal("u", tenant=tenant, roles=frozenset({"clerk"}))
        scenario = Scenario("tenants", (told[tenant],), policy)
        with acting_as(alike):
            alone, together = face(scenario), face(scenario, state=shared)
        assert _comparable(together) == _comparable(alone)


def looking(prompt):
    """A model that withholds every word that a passage says to look for."""
    ids = re.findall(r"^\[(\w+)\] ", prompt, re.MULTILINE)
    found = re.findall(r"look (Canary\w+)", prompt)
    listed = [{"constraint": name, "spans": found} for name in dict.fromkeys(ids)]
    return json.dumps({"verdicts": listed})


WORDS = [canary(f"word {number}") for number in range(3)]
CHUNK = Passage("p", "see " + " ".join(WORDS), document_id="d")
SEEN = {"constraints": [{"id": "words", "text": "Conceal what the witness saw"}]}


def beside(*places):
    """The chunk beside a neighbour that has some of its words withheld."""
    neighbour = " ".join(f"look {WORDS[place]}" for place in places)
    other = Passage("q", f"q {neighbour}", document_id="d")
    return Scenario("beside", (CHUNK, other), SEEN, reply=looking)


def shown(face, scenario, **shared):
    (text,) = [text for name, text, _ in face(scenario, **shared) if name == "p"]
    return {word for word in WORDS if word in text}


@pytest.mark.parametrize("face", WRAPPERS)
@given(st.lists(st.sampled_from(range(3)), min_size=2, max_size=5))
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_withheld_once_is_withheld_always(face, places):
    """Whatever stands beside a chunk, nothing comes back that was withheld of it."""
    state, gone = open_state(), set()
    for place in places:
        seen = shown(face, beside(place), state=state)
        gone.add(WORDS[place])
        assert not seen & gone


def test_a_file_joins_frameworks_and_processes(tmp_path):
    """Wrappers of one index share what was found, in whatever framework."""
    path = tmp_path / "state.db"

    assert WORDS[0] not in shown(by_langchain, beside(0), state=path)
    assert shown(by_llamaindex, beside(1), state=open_state(path)) == {WORDS[2]}


def test_a_copied_retriever_keeps_its_state():
    """`model_copy` starts no new one."""
    first = langchain_retriever(beside(0))
    first.invoke("?")
    host = langchain_retriever(beside(1)).base_retriever

    for deep in (False, True):
        copy = first.model_copy(update={"base_retriever": host}, deep=deep)
        assert WORDS[0] not in str(copy.invoke("?"))


@pytest.mark.parametrize("face", WRAPPERS)
def test_threads_share_a_state(face, tmp_path):
    """However many ask at once, each is shown what is theirs."""
    scenario = Scenario("doses", PASSAGES, POLICIES[0])

    def ask(number):
        principal = ALIKE[number % 2]
        with acting_as(principal):
            text = str(face(scenario, state=tmp_path / "state.db"))
        return ("40 mg" in text) == ("physician" in principal.roles)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(12)))


@pytest.mark.parametrize("face", WRAPPERS)
def test_no_text_lies_in_the_files(face, tmp_path):
    """Neither what was withheld, nor what was shown, nor a constraint's words."""
    face(beside(0), state=tmp_path / "state.db")

    for file in tmp_path.iterdir():
        data = file.read_bytes().lower()
        for said in (*WORDS, "conceal", "witness"):
            assert said.lower().encode() not in data
        assert not file.stat().st_mode & 0o077


@pytest.mark.parametrize("face", WRAPPERS)
def test_a_second_question_asks_no_model(face):
    """What was located once is looked up, whoever asks next."""
    asked = []

    def counting(prompt):
        asked.append(prompt)
        return looking(prompt)

    state = open_state()
    scenario = Scenario("beside", beside(0).passages, SEEN, reply=counting)
    first = face(scenario, state=state)
    before = len(asked)

    assert face(scenario, state=state) == first
    assert before
    assert len(asked) == before
