"""One index, many audiences: nothing that is remembered crosses between them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import langchain_sdrag
import llamaindex_sdrag
from sdrag.cache import MemoryCache, SqliteCache
from sdrag.disclosure.history import MemoryHistory, SqliteHistory
from sdrag.errors import UsageError
from sdrag.principals import acting_as
from sdrag.testing import canary
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
    hook = langchain_sdrag.SelectiveDisclosureCompressor(
        policy=scenario.policy,
        llm=LangChainModel(reply=scenario.reply) if scenario.reply else None,
        **shared,
    )
    found = documents(scenario)
    return of_documents(hook.compress_documents(found, scenario.query))


def by_postprocessor(scenario, **shared):
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(
        policy=scenario.policy,
        llm=LlamaIndexModel(scenario.reply) if scenario.reply else None,
        **shared,
    )
    return of_nodes(hook.postprocess_nodes(nodes(scenario), query_str=scenario.query))


RETRIEVERS = [by_langchain, by_llamaindex]
WRAPPERS = [*RETRIEVERS, by_compressor, by_postprocessor]


def _same_names(shown):
    """An id that says too much gets another alias from every wrapper."""
    return [
        (re.sub(r"^p-[0-9a-f]{16}$", "alias", name), *rest) for name, *rest in shown
    ]


@pytest.mark.parametrize("face", RETRIEVERS)
@given(st.lists(ASKED, min_size=2, max_size=6))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_cache_never_crosses_principals_or_policies(face, asked):
    """With one cache for all, everybody is shown what they are shown without one."""
    shared = MemoryCache()
    for principal, policy, passages in [*asked, *asked]:
        scenario = Scenario("asked", passages, policy)
        with acting_as(principal):
            alone, together = face(scenario), face(scenario, cache=shared)
            assert _same_names(together) == _same_names(alone)


@pytest.mark.parametrize("face", WRAPPERS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_cache_on_disk_keeps_two_roles_apart(face, order, tmp_path):
    """The same question by a physician and a visitor gives two contexts, cached."""
    scenario = Scenario("doses", PASSAGES, POLICIES[0])
    for _ in range(2):
        for principal in ALIKE[::order]:
            with acting_as(principal):
                text = str(face(scenario, cache=SqliteCache(tmp_path / "cache.db")))
            assert ("40 mg" in text) == ("physician" in principal.roles)


def looking(prompt):
    """A model that withholds every word that a passage says to look for."""
    ids = re.findall(r"^\[(\w+)\] ", prompt, re.MULTILINE)
    found = re.findall(r"look (Canary\w+)", prompt)
    listed = [{"constraint": name, "spans": found} for name in dict.fromkeys(ids)]
    return json.dumps({"verdicts": listed})


WORDS = [canary(f"word {number}") for number in range(3)]
CHUNK = Passage("p", "see " + " ".join(WORDS), document_id="d")
MONOTONE = {
    "constraints": [{"id": "words", "text": "Conceal what the witness saw"}],
    "disclosure": {"monotone": True},
}


def beside(*places):
    """The chunk beside a neighbour that has some of its words withheld."""
    neighbour = " ".join(f"look {WORDS[place]}" for place in places)
    other = Passage("q", f"q {neighbour}", document_id="d")
    return Scenario("beside", (CHUNK, other), MONOTONE, reply=looking)


def shown(face, scenario, **shared):
    (text,) = [text for name, text, _ in face(scenario, **shared) if name == "p"]
    return {word for word in WORDS if word in text}


@pytest.mark.parametrize("face", WRAPPERS)
def test_without_a_history_subtraction_works(face):
    """What one neighbour withholds the other shows: the leak that is closed below."""
    plain = replace(beside(0), policy={**MONOTONE, "disclosure": {}})
    other = replace(beside(1), policy=plain.policy)

    assert shown(face, plain) == {WORDS[1], WORDS[2]}
    assert shown(face, other) == {WORDS[0], WORDS[2]}


@pytest.mark.parametrize("face", WRAPPERS)
@given(st.lists(st.sampled_from(range(3)), min_size=2, max_size=6))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_withheld_once_is_withheld_always(face, places):
    """Whatever stands beside a chunk, nothing comes back that was withheld of it."""
    history, gone = MemoryHistory(), set()
    for place in places:
        seen = shown(face, beside(place), history=history)
        gone.add(WORDS[place])
        assert not seen & gone


def test_a_history_on_disk_joins_frameworks_and_processes(tmp_path):
    """Wrappers of one index share what was withheld, in whatever framework."""
    path = tmp_path / "history.db"

    assert WORDS[0] not in shown(by_langchain, beside(0), history=path)
    assert shown(by_llamaindex, beside(1), history=SqliteHistory(path)) == {WORDS[2]}


def test_a_copied_retriever_keeps_its_history():
    """`model_copy` starts no new history."""
    first = langchain_retriever(beside(0))
    first.invoke("?")
    host = langchain_retriever(beside(1)).base_retriever

    for deep in (False, True):
        copy = first.model_copy(update={"base_retriever": host}, deep=deep)
        assert WORDS[0] not in str(copy.invoke("?"))


@pytest.mark.parametrize("face", WRAPPERS)
def test_a_history_without_a_monotone_policy_is_refused(face):
    """Nobody believes in a promise that is not kept."""
    plain = replace(beside(0), policy={**MONOTONE, "disclosure": {}})

    with pytest.raises(UsageError):
        face(plain, history=MemoryHistory())
