"""Editing by sentence: the text stays as its author laid it out."""

from __future__ import annotations

import pytest

from sdrag.policy import Policy

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
    for number in (1, 1):
        body = {"policy": edited, "change": "disable", "constraint": number}
        edited = (await ask("edit", **body))["policy"]
    assert sentences(edited) == [NAMES]
    while listed := (await ask("policy", policy=edited))["disabled"]:
        assert listed[0]["text"] in {NAMES, DATES, DOSES}
        body = {"policy": edited, "change": "enable", "constraint": listed[0]["line"]}
        edited = (await ask("edit", **body))["policy"]

    assert edited == POLICY


async def test_must_stay_writes_the_keep(ask):
    """Under its constraint, once, beside those that are there."""
    edited = POLICY
    for number, words in ((0, "Meyers"), (0, "Meyers"), (2, "St Anne's"), (1, "1981")):
        body = {"change": "stay", "constraint": number, "words": words}
        edited = (await ask("edit", policy=edited, **body))["policy"]

    keeps = [[keep.words for keep in rule.keep] for rule in Policy.parse(edited).rules]
    assert keeps == [["Meyers"], ["1981"], ["Ward 7", "St Anne's"]]


@pytest.mark.parametrize(
    ("words", "added", "note"),
    [
        ("Jonathan Meyers", [], "holds already"),
        ("Petra Olsen", [], "holds already"),
        ("the Bluebird", [], "does not hold yet"),
    ],
)
async def test_must_go_writes_an_example(ask, drop, words, added, note):
    """With the sentence that the words are in; and says whether it holds."""
    (document,) = (await drop("a.txt", TEXT.encode())).json()["documents"]
    policy = "constraints:\n- Remove names of people\n"

    body = {"policy": policy, "document": document["number"], "words": words}
    found = await ask("go", constraint=0, **body)

    (entry, *more) = Policy.parse(found["policy"]).constraints
    assert entry.examples[0].hides == (words,)
    assert words in entry.examples[0].text
    assert [rule.text for rule in more] == added
    assert note in found["note"]


async def test_a_name_that_no_sentence_hides_is_named(ask, drop):
    (document,) = (await drop("a.txt", TEXT.encode())).json()["documents"]
    body = {"policy": "constraints:\n- Hide doses\n", "document": document["number"]}

    found = await ask("go", constraint=0, words="Petra Olsen", **body)

    assert sentences(found["policy"]) == ["Hide doses", "Remove Petra Olsen"]


@pytest.mark.parametrize(
    ("policy", "body"),
    [
        ("constraints: [Hide doses]\n", {"sentence": "Hide ages"}),
        ("constraints: 5\n", {"sentence": "Hide ages"}),
        (POLICY, {"sentence": " "}),
        (POLICY, {"change": "move", "constraint": 2, "step": 1}),
        (POLICY, {"change": "disable", "constraint": 9}),
        (POLICY, {"change": "enable", "constraint": 3}),
        ("constraints:\n- Hide doses\n", {"change": "disable", "constraint": 0}),
        (POLICY, {"change": "stay", "constraint": 0, "words": "..."}),
    ],
)
async def test_what_cannot_be_edited_is_refused(client, policy, body):
    answer = await client.post("/api/edit", json={"policy": policy, **body})

    assert answer.status_code == 422
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
