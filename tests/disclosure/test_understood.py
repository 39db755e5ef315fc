"""A constraint is never accepted and then not enforced."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest

from sdrag.disclosure import enforceable
from sdrag.disclosure.enforceable import check_understood, not_understood
from sdrag.errors import ConstraintNotUnderstoodError, PolicyError
from sdrag.policy import Policy

from ..support.scripted import canary

SECRET = canary("constraint")
ENTRIES = [
    {"id": "names", "text": "Remove the names of witnesses"},
    {"id": "first", "text": f"Remove les noms et prénoms des {SECRET}"},
    {"id": "second", "text": "Only the verdict may be disclosed"},
]
WITHHOLDING = {"constraints": ENTRIES, "when_not_understood": "withhold"}


def test_it_is_refused_by_id_and_reason() -> None:
    """And told what to do, in no word of its text."""
    with pytest.raises(ConstraintNotUnderstoodError) as raised:
        check_understood(Policy.read({"constraints": ENTRIES}), has_model=False)

    error = raised.value
    assert isinstance(error, PolicyError)
    assert error.reasons == not_understood(Policy.read(WITHHOLDING))
    assert error.reasons.keys() == {"first", "second"}
    for part in ("first", "second", error.reasons["first"], "llm="):
        assert part in str(error)
    assert "when_not_understood: withhold" in error.hint
    assert SECRET not in f"{error} {error!r} {error.reasons}"


def test_it_is_accepted_where_it_will_be_enforced() -> None:
    """By a model, or by withholding what it holds for."""
    for policy, has_model in (
        ({"constraints": ENTRIES}, True),
        (WITHHOLDING, False),
        ({"constraints": ENTRIES[:1]}, False),
        ({}, False),
    ):
        check_understood(Policy.read(policy), has_model=has_model)


VAGUE = Path(__file__).with_name("vague.txt").read_text("utf-8").splitlines()
FEW = 5
"""The head is trained and errs: so many of the sentences may pass."""
CONCRETE = (
    "How the bridge collapsed",
    "Hide the van",
    "Hide trade marks",
    "Keep Professor X out of everything we publish",
    "Conceal the purpose of the voyage",
    "Critical financial information about boats",
    "Nobody may be able to tell who a client is",
    "Nothing may be disclosed",
    "Remove names of people in letters to suppliers",
)


def test_what_tells_of_nothing_is_refused_with_sentences_that_are_accepted() -> None:
    """No order, place or capital makes a vague subject particular."""
    reasons = not_understood(Policy.read({"constraints": VAGUE}))
    assert len(VAGUE) - len(reasons) <= FEW
    offered = {s for reason in reasons.values() for s in re.findall("“(.+?)”", reason)}
    assert len(offered) > 1
    assert not not_understood(Policy.read({"constraints": sorted(offered)}))


def test_what_is_concrete_is_accepted_whatever_no_table_knows() -> None:
    """Nouns, clauses, people, and a vague word of something."""
    assert not not_understood(Policy.read({"constraints": list(CONCRETE)}))


def test_an_example_that_is_opened_makes_a_vague_sentence_particular() -> None:
    """One that is not opened does not, and the reason says so."""
    vague = {"id": "c1", "text": "Hide our important plans"}
    for text, word, is_accepted in (
        ("We intend to buy the mill in May.", "buy the mill", True),
        ("The quay was empty.", "empty", False),
    ):
        entry = {**vague, "examples": [{"text": text, "hides": [word]}]}
        reasons = not_understood(Policy.read({"constraints": [entry]}))
        assert is_accepted is not bool(reasons)
        assert is_accepted or "none of its examples" in reasons["c1"]


REFUSED = Path(__file__).with_name("refused.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("has_networks", [True, False])
def test_whatever_is_refused_comes_with_sentences_that_are_accepted(
    has_networks, monkeypatch
) -> None:
    """In other languages, of one word, misspelt, vague: always three."""
    if not has_networks:
        monkeypatch.setattr(enforceable, "installed", lambda: False)
    reasons = not_understood(Policy.read({"constraints": REFUSED}))
    offered = [re.findall("“(.+?)”", reason) for reason in reasons.values()]

    assert not has_networks or len(reasons) == len(REFUSED) > 60
    assert {len(each) for each in offered} == {3}
    assert not not_understood(Policy.read({"constraints": sorted({*chain(*offered)})}))
    # The bank itself too: which of it is near depends on the sentence.
    bank = enforceable.read_offers() if has_networks else ()
    assert not not_understood(Policy.read({"constraints": list(bank)}))
