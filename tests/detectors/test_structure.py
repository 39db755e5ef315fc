"""What structure tells is read: fields, headings, items, rows, wrapped lines."""

from __future__ import annotations

import pytest

import sdrag
from sdrag.text.sentences import sentences

SENTENCES = [
    ("Surname: Rose\nFirst name: May", ["Surname: Rose", "First name: May"]),
    ("MEDICATION\nShe takes 20 mg.", ["MEDICATION", "She takes 20 mg."]),
    (
        "She takes 20 mg\nand more. Then\nwe left.",
        ["She takes 20 mg\nand more.", "Then\nwe left."],
    ),
    ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
    (
        "- one that wraps\n  over here\n- two",
        ["- one that wraps\n  over here", "- two"],
    ),
    ("2024-01-01 up\n2024-01-01 down", ["2024-01-01 up", "2024-01-01 down"]),
    ("last,first,dob\nLake,Dawn,1", ["last,first,dob", "Lake,Dawn,1"]),
    (
        "Mrs May Rose\n12 Canal Street\nHull",
        ["Mrs May Rose", "12 Canal Street", "Hull"],
    ),
    ("a written\nwarning was given", ["a written\nwarning was given"]),
    ("He gave it to the tall old witness Jonathan\nMeyers then.", 1),
    ('{"a": 1,\n"b": 2}', ['{"a": 1,', '"b": 2}']),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_lines_of_a_structure_are_sentences(
    text: str, expected: list[str] | int
) -> None:
    """A field, a row, an item and a heading end with their line; prose does not."""
    cut = [span.of(text) for span in sentences(text)]

    assert (len(cut) if isinstance(expected, int) else cut) == expected


def test_a_cell_is_a_sentence_where_that_is_asked_for() -> None:
    """A cell between bars or tabs is a sentence of its own."""
    text = "| Rose | diabetes |\nLake\tasthma"

    assert [span.of(text) for span in sentences(text, cells=True)] == [
        *("Rose", "diabetes", "Lake", "asthma")
    ]


REGISTERED = [
    (
        "Remove names of witnesses",
        "Jonathan Meyers came. The Meyerses left.",
        ["Meyerses"],
    ),
    (
        "Remove names of witnesses",
        "Alan Quintrell came. The Quintrells left.",
        ["Quintrells"],
    ),
    (
        "Remove names of witnesses",
        "Alan Quintrell came. So did Qu1ntre11.",
        ["Qu1ntre11"],
    ),
    ("Remove names of witnesses", "Lucia Bird came, and birds sang.", []),
    ("Do not mention 'Bluebird'", "Two Bluebirds and Bluebird's wing.", ["Bluebird"]),
    ("Do not mention Quintrell", "So Qu1ntrell and Qu1ntre11 came.", ["1ntre"]),
    (
        "Do not mention Quintrell",
        "So QU1NTRE11 and Quintre!! came.",
        ["1NTRE", "intre"],
    ),
    ("Do not mention Quintrell", "So qu!ntre1l and Quintre|l came.", ["ntre"]),
    ("Do not mention Quintrell", "So quintets and 11 squirrels came.", []),
    ("Do not mention Ellis", "So E11is came with 11 others.", ["E11is"]),
    ("Do not mention Lillian", "So L1ll1an came, and 1i11ian.", ["L1ll1an", "1i11ian"]),
]


@pytest.mark.parametrize(("constraint", "text", "gone"), REGISTERED)
def test_a_registered_name_is_known_in_its_other_forms(
    constraint: str, text: str, gone: list[str]
) -> None:
    """Plurals and digits that look like letters hide no name that is known."""
    released = sdrag.explain(text, {"constraints": [constraint]}).released or ""

    assert not [form for form in gone if form in released]
    assert all(
        word in released for word in ("sang", "squirrels", "others") if word in text
    )
