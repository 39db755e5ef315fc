"""Policies change while the index stands, and one index serves many audiences."""

import json
import re

import pytest

from sdrag.disclosure import (
    SqliteBindings,
    bind,
    bind_constraint,
    forget_constraint,
)
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import DisclosureSection
from sdrag.steps import Embed, Search, run
from sdrag.testing import Scripted
from sdrag.vocabulary import Constraint, Passage, Principal

OLD = Constraint("names", "Remove names of witnesses")
NEW = Constraint("phones", "Suppress private telephone numbers")
TEXTS = ("Call 555-0142 now.", "Jonathan Meyers saw it.", "The van was white.")
PASSAGES = tuple(
    Passage(f"p{n}", text, score=1.0 - n / 10) for n, text in enumerate(TEXTS)
)
SECTION = DisclosureSection(bind_top_n=2, similarity_floor=1.0)


@pytest.fixture
def store(tmp_path):
    store = SqliteBindings(tmp_path / "bindings.db")
    run(bind(PASSAGES, [OLD], store, SECTION), Scripted())
    return store


def added(store, constraint=NEW, found=PASSAGES[:1]):
    performer = Scripted(search=lambda _: found)
    run(bind_constraint(constraint, store, SECTION), performer)
    return performer.effects


def test_adding_takes_one_query(store):
    """A new constraint is bound by one vector query; nothing is embedded again."""
    effects = added(store)

    assert len([e for e in effects if isinstance(e, Search)]) == 1
    assert not any(isinstance(e, Embed) for e in effects)


def test_added_constraint_is_bound_to_what_was_near(store):
    """It is bound to its nearest chunks, and the others count as compared."""
    assert store.read(PASSAGES, [NEW]) == [None, None, None]

    added(store)

    assert [set(s) for s in store.read(PASSAGES, [NEW])] == [{"phones"}, set(), set()]


def test_edited_chunk_is_in_doubt(store):
    """A chunk that reads differently today is not served with a stale binding."""
    edited = Passage("p0", "Call 555-0199 now.", score=1.0)

    added(store, found=(edited,))

    assert store.read([edited], [NEW]) == [None]
    assert store.read(PASSAGES[:1], [NEW]) == [{}]


def test_reworded_constraint_is_a_new_one(store):
    """Bindings of the old words do not serve the new ones."""
    reworded = Constraint("names", "Remove the names of all bystanders")

    assert store.read(PASSAGES, [reworded]) == [None, None, None]


def test_removed_constraint_comes_back_unbound(store):
    """What was removed and returns counts as never bound, also beside new chunks."""
    added(store)
    run(forget_constraint(NEW, store), Scripted())
    late = Passage("p9", "Ring 555-0177.")
    run(bind([late], [OLD, NEW], store, SECTION), Scripted())

    known = store.read([*PASSAGES, late], [NEW])

    assert known[:3] == [None, None, None]
    assert known[3] is not None


def test_chunks_bound_later_do_not_inherit_a_comparison(store):
    """A chunk bound without the new constraint is in doubt about it."""
    added(store)
    late = Passage("p9", "Ring 555-0177.")
    run(bind([late], [OLD], store, SECTION), Scripted())

    assert store.read([late], [NEW]) == [None]


def test_ten_thousand_chunks_take_one_query(tmp_path):
    """Adding a constraint to 10,000 chunks takes one query and embeds nothing."""
    store = SqliteBindings(tmp_path / "large.db")
    chunks = [Passage(f"c{n}", f"Chunk number {n}.") for n in range(10_000)]
    store.write(chunks, [OLD], [], top_n=50, floor=1.0)

    effects = added(store, found=tuple(chunks[:50]))

    assert [type(e).__name__ for e in effects] == ["Search", "Compute"]
    assert sum(bool(s) for s in store.read(chunks, [NEW])) == 50


def test_one_index_serves_two_audiences():
    """The same question gives a physician and a visitor two contexts, cached apart."""
    rule = {
        "id": "doses",
        "text": "Hide exact doses of medicine",
        "unless": {"roles": ["physician"]},
    }
    engine = Engine.build({"constraints": [rule]})
    passage = Passage("p", "She takes 40 mg of atorvastatin at night.")
    physician = Principal("ann", roles=frozenset({"physician"}))
    visitor = Principal("bob", roles=frozenset({"visitor"}))

    def seen(principal):
        request = Request("What does she take?", principal)
        (one,) = run(disclose([passage], request, engine), Scripted()).passages
        return one.text

    for _ in range(2):
        assert "40 mg" in seen(physician)
        assert "40 mg" not in seen(visitor)


def test_second_identical_question_makes_no_model_call():
    """What was released is remembered; a second identical question asks no model."""
    rule = {"id": "names", "text": "Remove names of witnesses"}
    engine = Engine.build({"constraints": [rule]}, has_model=True)

    def complete(prompt):
        ids = re.findall(r"^\[(\w+)\] ", prompt.messages[-1].content.text, re.MULTILINE)
        return json.dumps({"verdicts": [{"constraint": i, "spans": []} for i in ids]})

    first, second = Scripted(complete=complete), Scripted(complete=complete)
    one = run(disclose(PASSAGES, Request("Who?"), engine), first)
    two = run(disclose(PASSAGES, Request("Who?"), engine), second)

    assert [p.text for p in one.passages] == [p.text for p in two.passages]
    assert any(type(e).__name__ == "Complete" for e in first.effects)
    assert not any(type(e).__name__ == "Complete" for e in second.effects)
