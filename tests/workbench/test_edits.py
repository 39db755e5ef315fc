"""Editing by sentence: the text stays as its author laid it out."""

from __future__ import annotations

import pytest

import sdrag
from sdrag.evaluation.examples import run_examples
from sdrag.explanation.edits import let_stay
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

POLICY = """\
# Who may be named.
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
  # Only of people.
  - Hide dates of birth
  - text: Hide doses
    keep: [Ward 7]

disclosure:
  sensitivity: high
"""
TEXT = "The witness Jonathan Meyers saw the Bluebird. Then Petra Olsen left Ward 7."


def sentences(text: str) -> list[str]:
    return [rule.text for rule in Policy.parse(text).rules]


NAMES, DATES, DOSES = sentences(POLICY)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"change": "add", "sentence": "Hide ages"},
            [NAMES, DATES, DOSES, "Hide ages"],
        ),
        ({"change": "move", "constraint": 0, "step": 1}, [DATES, NAMES, DOSES]),
        ({"change": "move", "constraint": 2, "step": -1}, [NAMES, DOSES, DATES]),
        ({"change": "disable", "constraint": 1}, [NAMES, DOSES]),
        ({"change": "disable", "constraint": 2}, [NAMES, DATES]),
    ],
)
async def test_an_edit_changes_its_sentences_and_nothing_else(ask, change, expected):
    """Comments stay, and so do the other keys."""
    edited = (await ask("edit", policy=POLICY, **change))["policy"]

    assert sentences(edited) == expected
    assert Policy.parse(edited).disclosure.sensitivity == "high"
    for comment in ("# Who may be named.", "# Only of people."):
        assert comment in edited
    assert "unless: {roles: [clerk]}" in edited


async def test_what_is_switched_off_is_listed_and_switched_on_again(ask):
    """Each with all of its lines, and the text is as it was."""
    edited = POLICY
    for number in (1, 1, 0):
        body = {"policy": edited, "change": "disable", "constraint": number}
        edited = (await ask("edit", **body))["policy"]
    assert sentences(edited) == []
    while listed := (await ask("policy", policy=edited))["disabled"]:
        assert listed[0]["text"] in {NAMES, DATES, DOSES}
        body = {"policy": edited, "change": "enable", "constraint": listed[0]["line"]}
        edited = (await ask("edit", **body))["policy"]

    assert edited == POLICY


LAYOUTS = [
    ("constraints:\n  - Hide dates  # all\n", "- text: Hide dates  # all\n    keep: ["),
    ("- Hide all\n  dates\n", "- text: Hide all\n    dates\n  keep: ["),
    ("constraints: [Hide dates]\n", "constraints:\n  - text: Hide dates\n    keep: ["),
    ("- {text: Hide dates}\n", "- {text: Hide dates, keep: ["),
    ("- text: Hide dates\n  # why\n  keep: [noon] # it\n", '[noon, "14 May"] # it'),
    ("- text: Hide dates\n  keep: noon\n", 'keep: [noon, "14 May"]'),
    ("- text: Hide dates\n  keep:\n  - noon\n  # b\n", '  - noon\n  - "14 May"\n  # b'),
]


@pytest.mark.parametrize(("policy", "expected"), LAYOUTS)
def test_a_key_is_put_where_it_belongs(policy, expected):
    """However its author laid a constraint out; comments stay."""
    document = Passage("a", "It was on 14 May.")

    changed, (note,) = let_stay(policy, ["14 May"], [document])

    assert expected in changed
    assert "`keep` under" in note
    (rule,) = Policy.parse(changed).rules
    assert "14 May" in [keep.words for keep in rule.keep]
    assert let_stay(changed, ["14 May"], [document]) == (changed, ["stays already"])


@pytest.mark.parametrize("policy", [POLICY, "constraints: []\n", "disclosure: {}\n"])
@pytest.mark.parametrize(
    "words", ["Jonathan Meyers", "Meyers saw the", "the Bluebird", 'A "b": c']
)
async def test_what_must_go_goes_with_an_example(ask, drop, policy, words):
    """Under the sentence that hides it, or under one that is added for it."""
    text = f"{TEXT} It says {words}."
    (document,) = (await drop("a.txt", text.encode())).json()["documents"]
    body = {"policy": policy, "document": document["number"], "words": words}

    edited = (await ask("edit", change="go", **body))["policy"]

    again = await ask("edit", change="go", **{**body, "policy": edited})
    checked = run_examples(Policy.parse(edited))
    assert (checked.passed, checked.failed) == (1, 0)
    assert again["policy"] == edited
    added = len(sentences(edited)) - len(sentences(policy))
    assert added == (policy != POLICY or words != "Jonathan Meyers")


async def test_names_that_stay_are_read_together(ask, drop):
    """What is hidden as a part of another name stays when that one stays too."""
    text = "She came to Nightingale Ward. Then she was moved to Ward 7."
    document = Passage("a", text)
    policy = "- Remove names of people\n"

    alone, notes = let_stay(policy, ["Ward 7"], [document])
    both, _ = let_stay(policy, ["Ward 7", "Nightingale Ward"], [document])

    assert notes
    assert sdrag.explain(text, Policy.parse(both)).released == text
    assert alone != both


@pytest.mark.parametrize(
    ("policy", "body"),
    [
        ("constraints: 5\n", {"sentence": "Hide ages"}),
        (POLICY, {"sentence": " "}),
        (POLICY, {"change": "move", "constraint": 2, "step": 1}),
        (POLICY, {"change": "disable", "constraint": 9}),
        (POLICY, {"change": "enable", "constraint": 3}),
        (POLICY, {"change": "stay", "words": "..."}),
        (POLICY, {"change": "go", "words": "Ann", "document": 99}),
    ],
)
async def test_what_cannot_be_edited_is_refused(client, policy, body):
    answer = await client.post("/api/edit", json={"policy": policy, **body})

    assert answer.status_code in {404, 422}
    assert "policy" not in answer.json()


async def test_two_policies_and_a_table_and_a_report(ask, drop):
    """What changes, a table in its cells, and the page that `sdrag preview` writes."""
    data = b"Name,Note\nJonathan Meyers,came\nAnn Lee,left\n"
    (document,) = (await drop("t.csv", data)).json()["documents"]
    body = {"policy": "- Remove names of people\n", "document": document["number"]}

    (chunk,) = (await ask("explain", **body))["chunks"]
    changed = await ask("explain", other="- Hide doses\n", **body)
    report = (await ask("report", **body))["html"]

    assert chunk["columns"] == ["Name", "Note"]
    cells = [
        "".join(piece["text"] for piece in c) for row in chunk["rows"] for c in row
    ]
    assert cells == ["Jonathan Meyers", "came", "Ann Lee", "left"]
    assert changed["words"] == [4, 0, 0]
    assert "<h3>t.csv</h3>" in report
