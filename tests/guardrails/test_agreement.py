"""A claim is supported only where all that makes it true stands in its evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.guardrails.agreement import Agreement, Evidence, agreement
from sdrag.guardrails.agreement.quantities import quantities
from sdrag.guardrails.agreement.tokens import read_tokens
from sdrag.guardrails.support import support
from sdrag.policy import CitationsSection, GroundingSection
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

from .answers import guarded

TURNED = [
    ("The dose is 20 mg.", "The dose is 200 mg.", "The dose is 20 mg."),
    ("The lease began on 3 May 2024.", "The lease began in 2027.", "It began in 2024."),
    (
        "The council approved the plans.",
        "The council rejected the plans.",
        "The plans were approved by the council.",
    ),
    ("Take two tablets.", "Take eight tablets.", "2 tablets are to be taken."),
    (
        "Alice Grant signed the lease.",
        "Robert Hale signed the lease.",
        "The lease was signed by Alice Grant.",
    ),
    ("The parcel weighs 5 kg.", "The parcel weighs 5 g.", "Its weight is 5 kilograms."),
    ("Dogs are allowed.", "Dogs are not allowed.", "Dogs are allowed."),
    ("Some rooms are heated.", "All rooms are heated.", "Some rooms are heated."),
    ("Prices rose in March.", "Prices fell in March.", "In March prices increased."),
    (
        "The train runs from Arden to Brook.",
        "The train runs from Brook to Arden.",
        "From Arden the train runs to Brook.",
    ),
    (
        "The gates close before the concert.",
        "The gates close after the concert.",
        "Before the concert the gates close.",
    ),
    (
        "The seller paid the buyer.",
        "The seller was paid by the buyer.",
        "The buyer was paid by the seller.",
    ),
    (
        "At least 30 people attend.",
        "At most 30 people attend.",
        "No fewer than 30 people attend.",
    ),
    (
        "The mast is 9 metres high and the hull is 30 metres long.",
        "The hull is 9 metres long.",
        "The hull has a length of 30 metres.",
    ),
    ("He has two sons and one daughter.", "He has two daughters.", "He has two sons."),
    (
        "The drug is more effective than the oil.",
        "The oil is more effective than the drug.",
        "The oil is less effective than the drug.",
    ),
    (
        "Visitors older than 65 pay less.",
        "Visitors younger than 65 pay less.",
        "Visitors over 65 pay less.",
    ),
]


def compared(claim, source):
    texts = [span.of(source) for span in sentences(source)]
    return agreement(claim, tuple(range(len(texts))), Evidence(texts))


@pytest.mark.parametrize(("source", "false", "true"), TURNED)
def test_what_was_turned_around_disagrees(source, false, true):
    """A number, date, unit, name, denial, quantifier, direction or role is another."""
    assert compared(false, source) != Agreement(0)
    assert compared(true, source) == Agreement(0)


@pytest.mark.parametrize(("source", "false", "true"), TURNED)
def test_an_answer_that_was_turned_around_is_not_checked(ask, source, false, true):
    """`grounding: {}` is enough, however similar the words are."""
    passages = [Passage("source", source)]

    held = [guarded(ask, text, {"grounding": {}}, passages) for text in (false, source)]

    assert [one.status for one in held] == ["annotated", "checked"]
    assert held[0].text.endswith("[unsupported]")


def test_a_claim_that_disagrees_scores_below_a_half():
    """Whatever the similarity; what lacks a figure is below what is denied."""
    evidence = ["The dose for adults is 20 mg a day."]

    missing = support("The dose for adults is 200 mg a day.", evidence).score
    denied = support("The dose for adults is not 20 mg a day.", evidence).score

    assert missing < denied < 0.5 < support(evidence[0], evidence).score


def test_a_citation_of_what_says_something_else_is_inaccurate(ask):
    """Accuracy is judged by the same rules."""
    passages = [Passage("fees", "The fee is 20 pounds for a boat.")]
    policy = {"citations": {"require": ["accuracy"]}}

    wrong = guarded(ask, "The fee is 200 pounds for a boat [1].", policy, passages)
    right = guarded(ask, "The fee is 20 pounds for a boat [1].", policy, passages)

    assert [fault.fault for fault in wrong.faults] == ["accuracy"]
    assert right.faults == ()
    assert CitationsSection().threshold == GroundingSection().threshold


def test_a_figure_is_looked_for_next_to_the_sentence():
    """A date line belongs to what follows it."""
    source = ["3 May 2024", "The council met.", "The council approved the plans."]

    found = agreement("The council approved the plans in 2024.", (2,), Evidence(source))

    assert found == Agreement(0)


@pytest.mark.parametrize(
    ("written", "kind", "value", "unit"),
    [
        ("2.4 million euros", "number", 2_400_000.0, "euro"),
        ("\u20ac75", "number", 75.0, "euro"),
        ("twenty-one days", "number", 21.0, "day"),
        ("4,500 square metres", "number", 4500.0, "square metre"),
        ("180 \u00b0C", "number", 180.0, "celsius"),
        ("3 May", "day", (5, 3), ""),
        ("May 3rd", "day", (5, 3), ""),
        ("18:05", "time", "18:05", ""),
        ("Tuesday", "weekday", "tue", ""),
        ("1911", "year", 1911.0, ""),
        ("the 4th", "ordinal", 4.0, ""),
    ],
)
def test_a_quantity_is_read_in_its_notations(written, kind, value, unit):
    """With its unit, from words and numerals."""
    (found,) = quantities(read_tokens([f"It was {written}."]))

    assert (found.kind, found.value) == (kind, value)
    assert found.unit.replace("er", "re") == unit.replace("er", "re")


WORDS = st.sampled_from(
    [
        "the",
        "Alice",
        "Grant",
        "20",
        "mg",
        "not",
        "all",
        "fell",
        "rose",
        "from",
        "to",
        "before",
        "May",
        "2024",
        "and",
        ",",
        "gate",
        "open",
        "by",
        "was",
        "than",
        "more",
        "no",
        "half",
    ]
)


@given(st.lists(WORDS, max_size=14), st.lists(WORDS, max_size=14))
def test_any_text_is_compared(claim, source):
    """No order of words breaks a rule, and none raises a claim's support."""
    found = compared(" ".join(claim), " ".join(source))

    assert found.missing >= 0


def test_nothing_of_a_text_is_shown():
    """What holds a text has no content in its repr."""
    evidence = Evidence(["Alice Grant took 20 mg."])
    tokens = evidence.sentence(0)

    assert "Grant" not in f"{evidence!r}{tokens[0]!r}{quantities(tokens)!r}"
