"""A constraint that is a name: it goes wherever it stands, and nothing else does."""

from __future__ import annotations

import pytest

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.steps import Reply, run
from sdrag.vocabulary import Constraint, Passage

from ...support.scripted import Scripted, toy_vectors
from ...support.tables import each_row

TEXT = (
    "Jonathan Meyers works for ACME Corp in Oslo. Meyers is ill. ACME sells rope."
    " The harbour was quiet."
)


def _left(text: str, constraint: str) -> str:
    """Return what of a text no finding covers."""
    steps = LocalLocator(sensitivity="high").locate(
        [Passage("a", text)], [Constraint("c", constraint)]
    )
    (outcome,) = run(steps, Scripted(embed=toy_vectors))
    assert isinstance(outcome, Reply)
    for finding in sorted(outcome.value, key=lambda f: f.span, reverse=True):
        span = finding.span
        text = text[: span.start] + "_" * len(span) + text[span.end :]
    return text


@each_row(
    "constraint, gone, kept",
    [
        ("Remove Jonathan Meyers", ["Jonathan", "Meyers"], ["ACME", "ill", "Oslo"]),
        ("Do not mention ACME Corp", ["ACME"], ["Meyers", "rope", "Oslo"]),
        ("Any reference to Meyers or ACME", ["Meyers", "ACME"], ["ill", "rope"]),
        ("Hide 'Jonathan Meyers' and Oslo.", ["Meyers", "Oslo"], ["ACME", "ill"]),
        ("Leave out Meyers", ["Meyers"], ["ACME", "Oslo"]),
        ("Meyers must stay out of it", ["Meyers"], ["ACME"]),
    ],
)
def test_a_name_goes_wherever_it_stands(constraint, gone, kept) -> None:
    """In full, as a surname, as an acronym; what is said beside it stays."""
    left = _left(TEXT, constraint)

    assert not [word for word in gone if word in left]
    assert [word for word in kept if word in left] == kept


def test_everything_about_somebody_goes_with_the_sentence() -> None:
    """What a sentence says in which the name stands is about whom it names."""
    left = _left(TEXT, "Redact everything about Jonathan Meyers")

    assert "ill" not in left.replace("_", " ").split()
    assert "Oslo" not in left
    assert "sells rope." in left


def test_a_name_among_other_words_is_no_secret() -> None:
    """The constraint is about how the safe was opened, and only says whose it was."""
    text = "The Whitfield safe stood open. He opened the safe with a stethoscope."

    left = _left(text, "Keep back how the Whitfield safe was opened")

    assert "Whitfield" in left
    assert "stethoscope" not in left


@pytest.mark.parametrize(
    "constraint", ["Hide How The Safe Was Opened", "KEEP BACK HOW THE SAFE WAS OPENED"]
)
def test_capitals_do_not_make_a_name(constraint) -> None:
    """A constraint written as a title is understood as it is without capitals."""
    assert "stethoscope" not in _left(
        "He opened the safe with a stethoscope.", constraint
    )


@each_row(
    "constraint, name",
    [
        ("Remove Jonathan Meyers", True),
        ("Do not mention ACME Corp", True),
        ("Redact Whistleblowers", False),
        ("Hide Paramedics' Mistakes", False),
        ("Entferne Namen von Zeugen", False),
        ("Jonathan Meyers", False),
        ("remove jonathan meyers", False),
        ("Everything about Meyers is secret", False),
    ],
)
def test_only_what_is_surely_a_name_is_not_understood_besides(constraint, name) -> None:
    """Words of another language have no place in a dictionary either."""
    assert parse(Constraint("c", constraint)).surely_names is name


def test_part_of_a_word_is_no_name() -> None:
    """Who is called Ann does not stand in an annual report."""
    assert _left("The annual report is here.", "Remove Ann") == (
        "The annual report is here."
    )
