"""Editing by sentence: the text stays as its author laid it out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sdrag
from sdrag.errors import MissingExtraError
from sdrag.policy import Policy
from sdrag.studio.authoring.edits import let_stay, make_go
from sdrag.studio.authoring.policy_text import add, disable, enable, read_policy
from sdrag.studio.cli.app import app as command
from sdrag.studio.evaluation.examples import run_examples
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


def sentences(text: str) -> list[str]:
    return [rule.text for rule in Policy.parse(text).rules]


NAMES, DATES, DOSES = sentences(POLICY)


async def test_a_sentence_has_a_sensitivity_of_its_own(ask, drop):
    """Set, changed and taken away in its place; what that hides is said at once."""
    for number in range(3):
        policy, said = POLICY, []
        for weight in ("high", "low", None):
            body = {"change": "weigh", "constraint": number, "weight": weight}
            edited = await ask("edit", policy=policy, **body)
            policy = edited["policy"]
            said.append(Policy.parse(policy).rules[number].sensitivity)
            assert edited["note"].startswith("In the documents 0 words more")

        assert said == ["high", "low", None]
        assert sentences(policy) == [NAMES, DATES, DOSES]
        assert "# Only of people." in policy

    doubts = "constraints:\n  - text: Why he left\n    sensitivity: low\n"
    body = {"change": "weigh", "constraint": 0, "weight": "high"}
    await drop("a.txt", b"He went to sea. The mill had closed, and nobody hired.")
    raised = await ask("edit", policy=doubts, **body)

    assert " 0 words more" not in raised["note"]
    assert raised["note"].endswith(" 0 fewer.")


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
    ("- text: Hide dates\n  keep: noon\n", "- noon\n    - 14 May"),
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
    assert ("14 May",) in [keep.words for keep in rule.keep]
    assert let_stay(changed, ["14 May"], [document]) == (changed, ["stays already"])


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


BARE = "- Hide dates\n"
FULL = "# a\nconstraints:\n  - Hide dates  # b\n  # c\n\n  - Hide ages\n\n# d\n"
LISTED = "constraints: [\n  Hide dates,  # b\n  {text: Hide ages}]  # c\n"
ANCHORS = """\
constraints:
  - text: Hide ages
    unless: &c {roles: [clerk]}
    keep: &k [noon]
  - text: &d Hide dates
    unless: *c
    keep: *k  # e
  - *d
"""
JSON = '{\n "constraints": ["Hide dates"],\n "tracing": {"inner": "hidden"}\n}\n'
BLOCK = "# a\nconstraints:\n  - |\n    Hide dates\n\n    # of all\n  # b\n"
# What must happen, in capitals where it is undone; policy, words, a text with them.
CHANGES = [
    ("go", POLICY, "Jonathan Meyers", "The witness Jonathan Meyers saw it."),
    (
        "go",
        "disclosure: {}\n",
        "Meyers saw the",
        "The witness Jonathan Meyers saw the van.",
    ),
    ("go", BARE, "short: guilty", "The verdict, in short: guilty, stood."),
    ("go", FULL, "bin #4", "It stands in bin #4 there."),
    ("go", BARE, 'the "grey" box', 'It was in the "grey" box then.'),
    ("go", LISTED, "O'Dowd's yard", "They met at O'Dowd's yard at noon."),
    ("go", BARE, "[draft] {plan}", "The [draft] {plan} came."),
    ("go", JSON, 'a 5" pipe', 'It is a 5" pipe there.'),
    ("go", ANCHORS, "%5 & *x, or y", "It is %5 & *x, or y today."),
    ("go", BARE, "grey\n\tvan", "They saw the grey\n\tvan there."),
    ("go", "", "Bluebird", "The Bluebird left."),
    ("go", "# to do\n", "Bluebird", "The Bluebird left."),
    ("go", "\ufeff" + LISTED, "Gr\u00f6\u00dfe M", "Die Gr\u00f6\u00dfe M kam."),
    ("go", "---\n" + BARE + "...\n", "C:\\tmp\\x", "It lies in C:\\tmp\\x there."),
    ("go", BLOCK, "no", "He said no, and left."),
    ("go", "{constraints: [Hide ages]}\n", "luebir", "The Bluebird left."),
    ("go", FULL.replace("\n", "\r\n"), "it, " * 25 + "x", f"So {'it, ' * 25}x went."),
    ("stay", BARE, "14 May", "It was on 14 May."),
    ("stay", FULL.replace("\n", "\r\n"), "14 May", "It was on 14 May."),
    ("stay", "\ufeff" + LISTED, "14 May", "It was on 14 May."),
    ("stay", "constraints: [text: Hide dates]\n", "14 May", "It was on 14 May."),
    ("STAY", ANCHORS, "14 May", "It was on 14 May."),
    ("stay", JSON, "14 May", "It was on 14 May."),
    ("stay", BLOCK, "14 May", "It was on 14 May."),
    ("stay", "- Remove names\n", "Mr Hale", "Mr Hale left.\nHale wrote."),
    ("GO", BARE, "Mill and Bed, or \"x\" 'y'", "It is Mill and Bed, or \"x\" 'y'."),
    ("STAY", "- Hide telephone numbers\n", "020 7946 0018", "Ring 020 7946 0018 now."),
    ("STAY", '- Hide "Bluebird"\n', "Bluebird", "The Bluebird left."),
    ("STAY", "- &a {text: Hide dates}\n- <<: *a\n", "2 May", "It was on 2 May."),
]


def comments_in(text):
    return {line.partition("# ")[2].strip() for line in text.splitlines()}


async def test_each_edit_does_what_was_asked_or_is_undone(ask, drop, tmp_path: Path):
    """By function, command or page alike; comments, anchors and line ends stay."""
    for number, (change, policy, words, text) in enumerate(CHANGES):
        case, kind, undone = (policy, words), change.lower(), change.isupper()
        function = let_stay if kind == "stay" else make_go
        (document,) = (await drop("a.txt", text.encode())).json()["documents"]
        files = tmp_path / "a.txt", tmp_path / "policy.yaml"
        for path, content in zip(files, (text, policy), strict=True):
            path.write_bytes(content.encode())

        changed, (note,) = function(policy, [words], [Passage("a", text)])
        if number % 2:
            body = {"policy": policy, "document": document["number"], "words": words}
            page = await ask("edit", change=kind, **body)
            assert page["policy"] == changed, case
            assert note in page["note"]
        else:
            options = [f"--must-{kind}", words, "--policy", str(files[1]), "--write"]
            ran = CliRunner().invoke(command, ["suggest", str(files[0]), *options])
            assert ran.exit_code == 0, (case, ran.output)
            assert files[1].read_bytes().decode() == changed, case

        assert ("undone" in note) == undone, case
        assert (changed == policy) == undone, case
        assert changed.startswith("\ufeff") == policy.startswith("\ufeff"), case
        assert changed.count("\r\n") in {0, changed.count("\n")}, case
        assert comments_in(policy) <= comments_in(changed), case
        assert all(f"&{a} " in changed for a in "cd" if policy == ANCHORS), case
        if not undone:
            after = read_policy(changed)
            released = sdrag.explain(text, after).released or ""
            assert (" ".join(words.split()) in released) == (kind == "stay"), case
            assert not run_examples(after).failed, case
            again, _ = function(changed, [words], [Passage("a", text)])
            assert again == changed, case
            assert (kind == "stay") != any(rule.examples for rule in after.constraints)


SENTENCES = [
    *("Hide dates: a: b", "#4 must go", "[names] go", "{dates}: none", "- Hide x"),
    *("Hide names, [dates", "* of names", "&names go", "% of pay", "@home", "`codes`"),
    *("'Hide' names", "!names", "| names", "> names", "? names", "no", "~", "1:30"),
    *(
        "0x1F",
        "2024-01-01",
        "Hide dates:",
        "Hide 'x' \"y\"",
        "a\\b",
        "---",
        "Gr\u00f6\u00dfe",
    ),
]


def test_each_sentence_is_added_as_it_is_and_switched_off_and_on():
    """Whatever YAML takes its characters for, in whatever layout."""
    for policy in (BARE, FULL, LISTED, JSON, BLOCK, ANCHORS, "\ufeff- a\r\n- b\r\n"):
        for sentence in SENTENCES:
            before = sentences(policy)
            added = add(policy, sentence)
            assert sentences(added) == [*before, sentence]
            if policy != JSON:
                off = disable(added, len(before))
                line = off.split("\n").index(
                    next(x for x in off.split("\n") if "#~" in x)
                )
                assert sentences(off) == before
                assert enable(off, line + 1) == added


def test_a_missing_extra_is_named(monkeypatch):
    """What edits a policy comes with the command."""
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)

    with pytest.raises(MissingExtraError, match=r"sdrag\[cli\]"):
        add(LISTED, "Hide ages")


def test_a_stopped_write_leaves_the_policy(tmp_path, monkeypatch):
    """It is replaced as a whole, with the rights that it had."""
    path, document = tmp_path / "policy.yaml", tmp_path / "a.txt"
    path.write_text(BARE)
    path.chmod(0o640)
    document.write_text("The Bluebird left.")
    arguments = ["suggest", str(document), "--policy", str(path), "--write"]

    def stop(self: Path, target: Path) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stop)
        stopped = CliRunner().invoke(command, [*arguments, "--must-go", "Bluebird"])
    left = path.read_text()
    ran = CliRunner().invoke(command, [*arguments, "--must-go", "Bluebird"])

    assert (stopped.exit_code != 0, ran.exit_code, left) == (True, 0, BARE)
    assert "Bluebird" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
