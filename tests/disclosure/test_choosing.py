"""Which constraints hold for passages is worked out once, while the sidecar stands."""

from __future__ import annotations

import json

import pytest

from sdrag.disclosure.bindings import MemoryBindings, SqliteBindings
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.steps import run
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage, Principal

POLICY = {
    "constraints": [
        {"id": "names", "text": "Remove the names of witnesses"},
        {"id": "dates", "text": "Hide exact dates", "unless": {"roles": ["judge"]}},
    ]
}
PASSAGES = (Passage("p", "The witness Anna Karlsson came on 3 May 2020."),)


def nothing_found(prompt):
    """A model that finds nothing; bindings decide what it is asked about."""
    empty = [{"constraint": name, "spans": []} for name in ("names", "dates")]
    return json.dumps({"verdicts": empty})


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    if request.param == "memory":
        return MemoryBindings()
    return SqliteBindings(tmp_path / "bindings.sqlite")


def read_counter(store, monkeypatch):
    reads = []
    original = type(store).read

    def read(self, *args):
        reads.append(1)
        return original(self, *args)

    monkeypatch.setattr(type(store), "read", read)
    return reads


def test_a_warm_request_does_not_ask_the_sidecar(store, monkeypatch):
    engine = Engine.build(POLICY, bindings=store, has_model=True)
    world = Scripted(complete=nothing_found)
    run(bind(PASSAGES, engine), world)
    first = run(disclose(PASSAGES, Request("q"), engine), world)
    reads = read_counter(store, monkeypatch)

    again = run(disclose(PASSAGES, Request("another"), engine), world)

    assert reads == []
    assert [p.text for p in again.passages] == [p.text for p in first.passages]


def test_every_write_asks_it_again(store, monkeypatch):
    engine = Engine.build(POLICY, bindings=store, has_model=True)
    world = Scripted(complete=nothing_found)
    run(bind(PASSAGES, engine), world)
    run(disclose(PASSAGES, Request("q"), engine), world)
    before = store.stamp()

    run(bind((Passage("other", "Something else."),), engine), world)
    reads = read_counter(store, monkeypatch)
    run(disclose(PASSAGES, Request("q"), engine), world)

    assert store.stamp() != before
    assert reads == [1]


def test_what_was_chosen_for_one_principal_is_not_for_another(store):
    engine = Engine.build(POLICY, bindings=store)
    world = Scripted()
    judge = Principal("j", roles=frozenset({"judge"}))

    open_, closed = (
        run(disclose(PASSAGES, Request("q", who), engine), world).passages[0].text
        for who in (judge, None)
    )

    assert "3 May 2020" in open_
    assert "3 May 2020" not in closed


def test_two_sidecars_never_share_a_stamp(tmp_path):
    first, second = (SqliteBindings(tmp_path / name) for name in ("a", "b"))

    assert first.stamp() != second.stamp()
    assert first.stamp() == SqliteBindings(tmp_path / "a").stamp()
