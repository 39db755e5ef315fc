"""A claim is supported only where all that makes it true stands in its evidence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sdrag.guardrails.grounding.support import Agreement, compare, support
from sdrag.guardrails.statements.words import read_sentences, read_tokens
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
        "Visitors older than 65 pay less.",
        "Visitors younger than 65 pay less.",
        "Visitors over 65 pay less.",
    ),
]


def compared(claim, source):
    evidence = read_sentences(span.of(source) for span in sentences(source))
    return compare(read_tokens([claim]), range(len(evidence)), evidence)


def test_an_answer_that_was_turned_around_is_not_checked(ask):
    """A number, date, unit, name, denial or quantifier is another."""
    for source, false, true in TURNED:
        passages = [Passage("source", source)]
        for text, status in ((false, "annotated"), (source, "checked")):
            held = guarded(ask, text, {"grounding": {}}, passages)
            assert held.status == status, text
        assert compared(true, source) == Agreement(0), true


def test_a_claim_that_disagrees_scores_below_a_half():
    """Whatever the similarity; what lacks a figure is below what is denied."""
    evidence = ["The dose for adults is 20 mg a day."]

    missing = support("The dose for adults is 200 mg a day.", evidence).score
    denied = support("The dose for adults is not 20 mg a day.", evidence).score

    assert missing < denied < 0.5 < support(evidence[0], evidence).score


def test_a_figure_is_looked_for_next_to_the_sentence():
    """A date line belongs to what follows it."""
    source = ["3 May 2024", "The council met.", "The council approved the plans."]

    claim = read_tokens(["The council approved the plans in 2024."])

    assert compare(claim, (2,), read_sentences(source)) == Agreement(0)


WORDS = """
    the Alice Grant 20 mg not all fell rose from to before May 2024 and , gate open by
    was than more no half
""".split()  # noqa: SIM905 -- a list of words is read as one
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=14)


@given(SENTENCES, SENTENCES)
def test_any_text_is_compared(claim, source):
    """No order of words breaks a rule, and none raises a claim's support."""
    found = compared(" ".join(claim), " ".join(source))

    assert found.missing >= 0
