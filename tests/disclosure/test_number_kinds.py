"""Kinds of numbers are told apart by their labels and forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag import explain
from sdrag.detectors.local.number_kinds import number_kinds
from sdrag.disclosure.constraint_parser import parse
from sdrag.vocabulary import Constraint

from ..support.properties import few
from ..support.tables import each_row, read_table

TABLES = read_table(__file__, "number_kinds.toml")


@each_row("constraint, text, goes, stays", [row for t in TABLES.values() for row in t])
def test_what_is_of_a_kind_goes_and_nothing_else(constraint, text, goes, stays) -> None:
    """Each text loses what is of the kind that its constraint asks for."""
    released = explain(text, {"constraints": [constraint]}).released or ""

    assert [part for part in goes.split("|") if part and part in released] == []
    assert [part for part in stays.split("|") if part not in released] == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Hide passport, ticket and claim numbers", "claim passport ticket"),
        ("Remove the numbers of invoices", "invoice"),
        ("Names and licence plates", "plate"),
        ("Hide hull and passport numbers", ""),
        ("Hide personal data and passport numbers", ""),
        ("Hide account numbers and salaries", "account"),
    ],
)
def test_a_list_of_nouns_names_kinds_unless_one_is_unknown(text, kinds) -> None:
    """One noun that no row has leaves every number of the list to be any code."""
    assert parse(Constraint("-", text)).kinds == {*kinds.split()}


@each_row("kind", [kind for kind in number_kinds().values() if kind.asked])
def test_each_kind_is_named_by_what_it_is_called_and_hides_its_example(kind) -> None:
    """What `sdrag check` says of a sentence is what the sentence does."""
    rule = f"Hide {kind.called}"
    text = f"We noted {kind.called}: {kind.example}."

    assert parse(Constraint("-", rule)).kinds == {kind.name}
    assert kind.example not in (explain(text, {"constraints": [rule]}).released or "")


HIDDEN = [row for row in TABLES["unlabelled"] if row[2]]


@few
@given(st.sampled_from(HIDDEN), st.sampled_from(TABLES["labelled"]), st.booleans())
def test_what_stands_on_another_line_frees_no_number(row, other, first) -> None:
    """A label rules a kind out for the number beside it, and for no other."""
    constraint, text, goes, _ = row
    lines = (other[1], text) if first else (text, other[1])

    released = explain("\n".join(lines), {"constraints": [constraint]}).released or ""

    parts = [part for part in goes.split("|") if part not in other[1]]
    assert [part for part in parts if part in released] == []


LABELS = sorted({label for kind in number_kinds().values() for label in kind.labels})


@given(st.sampled_from(LABELS), st.integers(0, 10**10 - 1))
def test_no_label_frees_a_number_with_the_check_digits_of_an_account(label, number):
    """An IBAN goes under bank accounts whatever is in front of it."""
    body = f"BUKB2020{number:010}"[:18]
    turned = "".join(str(int(character, 36)) for character in f"{body}GB00")
    iban = f"GB{98 - int(turned) % 97:02}{body}"
    text = f"{' '.join(label)} {iban}"

    released = explain(text, {"constraints": ["Hide bank account numbers"]}).released

    assert iban not in (released or "")
