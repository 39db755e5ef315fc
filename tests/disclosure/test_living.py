"""Policies change while the index stands."""

from __future__ import annotations

import pytest

from sdrag.disclosure import bind, forget_document
from sdrag.effects.steps import Complete, run
from sdrag.framework import Model
from sdrag.pipeline import Engine, Request, disclose
from sdrag.pipeline import bind as ingest
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.vocabulary import Constraint, Passage

from ..support.scripted import Scripted, extract

OLD = Constraint("names", "Remove names of witnesses")
NEW = Constraint("phones", "Suppress private telephone numbers")
TEXTS = ("Call 555-0142 now.", "Jonathan Meyers saw it.", "The van was white.")
PASSAGES = tuple(
    Passage(f"p{n}", text, score=1.0 - n / 10) for n, text in enumerate(TEXTS)
)
LIMITS = {"bind_top_n": 2, "similarity_floor": 1.0}
SECTION = DisclosureSection(**LIMITS)


@pytest.fixture(params=["memory", "file"])
def state(request, tmp_path):
    state = open_state(None if request.param == "memory" else tmp_path / "state.db")
    run(bind(PASSAGES, [OLD], state, SECTION), Scripted())
    return state


def policy(*rules):
    entries = [{"id": rule.id, "text": rule.text} for rule in rules]
    return {"constraints": entries, "disclosure": LIMITS}


def engine(state, *rules, **options):
    return Engine(policy(*rules), state=state, **options)


def shown(built, passages=PASSAGES, runner=None):
    steps = disclose(passages, Request("?"), built)
    return [one.text for one in run(steps, runner or Scripted()).passages]


def test_a_constraint_holds_from_the_next_question_on(state):
    """And no longer than it stands in the policy."""
    before, after = engine(state, OLD), engine(state, OLD, NEW)
    far = Passage("p7", "Or ring 555-0177.")
    assert "555-0142" in shown(before)[0]

    assert not any("555" in text for text in shown(after, (*PASSAGES, far)))
    assert "555-0142" in shown(before)[0]
    assert "Meyers" not in str(shown(before))


def test_a_reworded_constraint_is_enforced_as_it_reads_today(state):
    """What was located for the old words says nothing of the new ones."""
    assert "555-0142" in shown(engine(state, OLD))[0]

    reworded = Constraint("names", "Suppress private telephone numbers")

    assert "555-0142" not in shown(engine(state, reworded))[0]


def test_a_forgotten_document_leaves_nothing(state):
    """Neither what was found in it, nor its forms, nor its bindings."""
    first = Passage("a", "The witness Jonathan Meyers came.", document_id="d")
    second = Passage("b", "Then meyers left.", document_id="d")
    built = engine(state, OLD)
    run(ingest([first, second], built), Scripted())
    (document,) = {built.disclosure.document_of(one) for one in (first, second)}
    assert state.findings.registers([document])[document]

    run(forget_document([first, second], built.disclosure), Scripted())

    assert not state.findings.registers([document])[document]
    assert state.bindings.read([first], [OLD]) == [None]


def test_a_model_that_comes_later_is_asked(state):
    """What the local engine found alone does not pass for a model's answer."""
    shown(engine(state, OLD))
    runner = Scripted(complete=extract)

    texts = shown(engine(state, OLD, llm=Model(str)), runner=runner)

    assert any(isinstance(effect, Complete) for effect in runner.effects)
    assert "Meyers" not in str(texts)


def test_another_model_is_asked_for_itself(state):
    """Findings are kept by the model's name; what both found is united."""

    def finding(prompt):
        return extract(prompt, "white")

    one = engine(state, OLD, llm=Model(str, "one"))
    other = engine(state, OLD, llm=Model(str, "other"))
    assert "white" not in str(shown(one, runner=Scripted(complete=finding)))

    runner = Scripted(complete=extract)
    texts = shown(other, runner=runner)

    assert any(isinstance(effect, Complete) for effect in runner.effects)
    assert "white" not in str(texts)
