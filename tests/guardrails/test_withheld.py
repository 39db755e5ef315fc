"""What redaction withheld is found when it reappears, and kept nowhere."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sdrag.guardrails.answer import Draft, guard
from sdrag.guardrails.withheld import WithheldForms
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from .answers import ENTAILED, FERRY, HARBOUR, NOW

NAMES = st.lists(
    st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1, max_size=5
)


def gone(answer, *forms, passage=HARBOUR):
    """Return what an answer holds of forms that were cut out of a passage."""
    store = WithheldForms()
    store.remember(passage, forms)
    return [span.of(answer) for span in store.find([passage], answer)]


def test_what_was_withheld_is_cut_when_it_reappears(ask):
    """The answer is checked once more, for what its own passages lost and no others."""
    store = WithheldForms()
    store.remember(HARBOUR, ["Captain Elspeth Moor", "x"])
    answer = "It was captain elspeth MOOR who built it."

    def done(*passages):
        steps = guard(
            Draft("q", answer, passages), Policy.read({}), now=NOW, withheld=store
        )
        return ask(steps)

    assert done(HARBOUR).text == "It was [REDACTED] who built it."
    assert done(HARBOUR).status == "annotated"
    assert done(FERRY).text == answer
    assert done(replace(HARBOUR, id="elsewhere")).text == answer
    assert done(replace(HARBOUR, text="Another release.")).text == answer


@pytest.mark.parametrize(
    "answer",
    [
        "Elspeth Moor's",
        "ELSPETH-MOOR",
        "ElspethMoor",
        "Elspeth\u200b  Moor",
        "Ｅlspeth Moor",
    ],
)
def test_a_form_is_found_however_it_is_written(answer):
    """Case, hyphens, possessives, invisible and full-width letters change nothing."""
    assert gone(f"So says {answer} here.", "Elspeth Moor")


@pytest.mark.parametrize(
    ("answer", "form"),
    [("Elspeth Moorland", "Elspeth Moor"), ("Moor", "Elspeth Moor"), ("It is x.", "x")],
)
def test_other_words_are_left_alone(answer, form):
    """A longer word, a part of the form and a form too short are no finding."""
    assert not gone(answer, form)


@given(st.text(max_size=60), st.text(max_size=60), NAMES)
def test_a_form_between_spaces_is_always_found(before, after, words):
    """Whatever stands around it, a form with enough letters is found."""
    assume(len("".join(words)) >= 3)

    assert gone(f"{before} {' '.join(words)} {after}", "-".join(words))


def test_a_form_of_a_script_without_spaces_is_found():
    """Two characters are a name there."""
    assert gone("昨日は東京湾で", "東京湾") == ["東京湾"]


def test_withheld_forms_are_kept_nowhere():
    """Neither forms nor texts, nor anything they could be guessed from, are stored."""
    store, other = WithheldForms(), WithheldForms()
    for one in (store, other):
        one.remember(HARBOUR, ["Elspeth Moor"])

    assert not {"Elspeth", "Lorne", "harbour"} & set(
        re.findall(r"\w+", str(vars(store)))
    )
    assert set(store._held) != set(other._held)
    (held,), (others,) = store._held.values(), other._held.values()
    assert held.digests != others.digests


def test_the_store_is_bounded_and_forgets():
    """What was used longest ago goes first, and everything goes with time."""
    now = [0.0]
    store = WithheldForms(seconds=10, capacity=2, clock=lambda: now[0])
    first, second, third = (Passage(name, "text") for name in "abc")
    store.remember(first, ["Elspeth Moor"])
    store.remember(second, ["Elspeth Moor"])
    assert store.recall(first)
    store.remember(third, ["Elspeth Moor"])

    assert not store.recall(second)
    now[0] = 9.0
    assert store.recall(first)
    now[0] = 11.0
    assert len(store.find([first], "Elspeth Moor")) == 1
    assert store.find([third], "Elspeth Moor") == ()
    now[0] = 20.0
    assert not store.recall(first)
    assert len(store) == 0


def test_what_is_no_longer_known_leaves_the_answer_unchecked(ask):
    """A passage that says something was cut, of which nothing is known, is doubt."""
    cut = replace(HARBOUR, metadata={"sdrag": {"constraints": ["names"], "spans": 1}})
    steps = guard(
        Draft("q", ENTAILED, (cut,)),
        Policy.read({}),
        now=NOW,
        withheld=WithheldForms(),
    )

    held = ask(steps)

    assert held.status == "annotated"
    assert [one.reason for one in held.decisions] == ["unchecked"]
