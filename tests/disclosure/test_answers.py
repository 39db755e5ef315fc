"""What a reply to a confirmation frees, and what frees nothing."""

from __future__ import annotations

from itertools import product

import pytest

from sdrag.disclosure.model.replies import read_answers

from ..support.tables import each_row

ASKED = {"q1": ("names", "dates"), "q2": ("names",), "q3": ("lists",)}
RIGHT = (
    '{"answers": [{"question": "q1", "no": ["names"]}, {"question": "q2", "no": []}]}'
)


@each_row(
    "reply, freed",
    [
        (RIGHT, {"q1": {"names"}, "q2": set()}),
        (
            f"Here it is:\n```json\n{RIGHT}\n```\nThat is all.",
            {"q1": {"names"}, "q2": set()},
        ),
        ('[{"question": "Q1", "no": "dates"}]', {"q1": {"dates"}}),
        ('{"question": "[q1]", "no": ["[Names]"]}', {"q1": {"names"}}),
        ('{"answers": [{"question": 2, "no": ["names"]}]}', {}),
        ('{"answers": {"q1": ["names"]}}', {"q1": {"names"}}),
        ('{"answers": [{"question": "q2", "no": ["dates"]}]}', {}),
        ('{"answers": [{"question": "q9", "no": ["names"]}]}', {}),
        (RIGHT[:-2] + ', {"question": "q9", "no": []}]}', {}),
        (RIGHT[:-2] + ', {"question": "q3", "no": ["names"]}]}', {}),
        (RIGHT[:-2] + ', {"question": "q3", "no": "names"}]}', {}),
        (RIGHT + '{"question": "q2", "no": ["a"]}', {}),
        ('{"answers": [{"question": "q1", "no": true}]}', {}),
        ('{"answers": [{"question": "q1", "no": [["names"]]}]}', {}),
        ('{"answers": [{"question": "q1"}]}', {}),
        ('{"answers": [{"question": "q1", "no": "all"}]}', {}),
        ('{"answers": [{"question": "q1", "no": ["all"]}]}', {}),
        ('{"answers": [{"question": "q1", "no": ["nam', {}),
        (RIGHT.replace('"', "'"), {"q1": {"names"}, "q2": set()}),
        (RIGHT.replace("]}", "],}"), {"q1": {"names"}, "q2": set()}),
        (RIGHT.replace('"]', '",]'), {"q1": {"names"}, "q2": set()}),
        ('{"answers": [{"question": "q1", "no": [not "names"]}]}', {}),
        ('{"answers": [{"question": "q1", "no": ["names" if dates stay]}]}', {}),
        ('{"answers": [{"question": "q1", "no": [] or ["names"]}]}', {}),
        ('{"answers": [{"question": "q1", "no": [], "no": ["names"]}]}', {}),
        ("""{'note': '{"question": "q2", "no": ["names"]}'}""", {}),
        ("""{'note': '{"question": "q2", "no": ["names"]}""", {}),
        (RIGHT[:-12], {}),
        ("{'answers': [{'question': 'q1', 'no': ['names', 'da", {}),
        ("", {}),
        ("no", {}),
        ("Sorry, I cannot help with that.", {}),
        (" " * 300_000 + RIGHT, {}),
    ],
)
def test_only_an_explicit_no_to_what_was_asked_counts(reply, freed):
    assert read_answers(reply, ASKED) == freed


def test_of_several_answers_only_what_all_free_is_freed():
    """A draft before the answer can only take back."""
    draft = '{"answers": [{"question": "q1", "no": ["names", "dates"]}]}'

    assert read_answers(draft + RIGHT, ASKED)["q1"] == {"names"}
    assert read_answers('{"question": "q1", "no": 1}' + draft, ASKED) == {}


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reply", [RIGHT, RIGHT.replace('"', "'")])
def test_no_slip_and_no_cut_frees_more(reply, step):
    """Cut anywhere, or with any character left out or mistyped."""
    slips = product(range(len(reply)), ["", *" {}[]:,'\"#/"])
    cuts = [reply[:place] for place in range(len(reply))]
    broken = [f"{reply[:at]}{slip}{reply[at + 1 :]}" for at, slip in slips]
    for said in (*cuts, *broken[::step]):
        for name, freed in read_answers(said, ASKED).items():
            assert freed <= ({"names"} if name == "q1" else set())


def test_names_that_differ_by_case_alone_are_not_guessed():
    asked = {"q1": ("Names", "names", "dates")}

    assert read_answers('{"question": "q1", "no": ["names"]}', asked) == {
        "q1": {"names"}
    }
    assert read_answers('{"question": "q1", "no": ["names", "NAMES"]}', asked) == {}
