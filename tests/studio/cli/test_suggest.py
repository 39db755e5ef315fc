"""`sdrag suggest`: a policy for documents that `check` passes, or what to change."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import sdrag
from sdrag.effects.prompts import Prompt
from sdrag.framework import Model
from sdrag.policy import Policy
from sdrag.studio.cli.app import app
from sdrag.studio.evaluation.examples import run_examples

LETTER = """\
Patient: Mrs Helen Marsh, born on 12 March 1961, badge number 55310.
Mrs Marsh was admitted to Ward 7 with pneumonia. She has eczema.
Her daughter Claire can be reached on 07700 900456 or at c.marsh@example.org.
"""
STAFF = """\
Tom Hale earns \u00a341,500 and got a final written warning. He was suspended in June.
Peter Quill was dismissed for theft. Mr Hale rang on 3 July 2023.
"""
NOTE = "Mrs Helen Marsh, born on 12 March 1961, has eczema. She got \u00a3900 in June."
VALUES = (
    "Helen Marsh Claire Tom Hale Peter Quill 1961 55310 900456 41,500 eczema c.marsh"
)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "letter.txt").write_text(LETTER, encoding="utf-8")
    (tmp_path / "staff.txt").write_text(STAFF, encoding="utf-8")
    return tmp_path


@pytest.fixture
def note(tmp_path) -> Path:
    (tmp_path / "note.txt").write_text(NOTE, encoding="utf-8")
    return tmp_path


def suggested(folder: Path, *arguments: str) -> str:
    ran = CliRunner().invoke(app, ["suggest", str(folder), *arguments])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def sentences(policy: str) -> list[str]:
    return [entry["text"] for entry in yaml.safe_load(policy)["constraints"]]


def test_what_is_found_becomes_a_policy_that_check_passes(folder, tmp_path):
    """With masked examples, none of the documents' values, and its own examples."""
    policy = suggested(folder)
    path = tmp_path / "policy.yaml"
    path.write_text(policy, encoding="utf-8")

    checked = CliRunner().invoke(app, ["check", str(path), "--json"])

    assert checked.exit_code == 0, checked.output
    assert json.loads(checked.stdout)["examples"]["passed"] == len(sentences(policy))
    assert {"Hide people's names", "Hide sums of money"} <= set(sentences(policy))
    assert "Hide dates" not in sentences(policy)
    assert re.search(r'# - "Hide dates"  # \d found, such as 99 Xxxxx 9999', policy)
    assert not [value for value in VALUES.split() if value in policy]


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        ("nobody may know who the patients are", {"Hide people's names"}),
        (
            "keep quiet what people earn, and dates",
            {"Hide dates", "Hide sums of money"},
        ),
    ],
)
def test_a_goal_chooses_among_what_is_found(note, goal, wanted):
    """The rest stands below as comments."""
    policy = suggested(note, "--goal", goal)

    assert wanted <= set(sentences(policy))
    assert "Hide illnesses" not in sentences(policy)
    assert '# - "Hide illnesses"' in policy


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("names and dates of birth", ""),
        ("Discretion", "Not understood of the goal: “Discretion”."),
        ("names,\nthe zorblax\nprocess", "of the goal: “the zorblax process”."),
        ("what we pay suppliers", "Words of the goal that choose nothing: “suppliers”"),
    ],
)
def test_words_of_a_goal_that_are_not_understood_are_named(note, goal, said):
    """In comments of one line each, so that what is printed is a policy."""
    policy = suggested(note, "--goal", goal)

    comments = [line for line in policy.splitlines() if "of the goal" in line]
    assert all(line.startswith("#") for line in comments)
    assert said in "".join(comments) if said else not comments
    assert yaml.safe_load(policy)["metadata"]


def test_a_model_is_told_the_goal_and_kinds_alone(folder, monkeypatch):
    """What it proposes is parsed; what is not understood is left out."""
    prompts: list[str] = []

    def model(prompt: Prompt) -> str:
        prompts.append("".join(message.content.text for message in prompt.messages))
        return "1. Hide the names of patients\n2. Verberge alles\n3. Hide phone numbers"

    monkeypatch.setattr(
        "sdrag.studio.cli.suggest.llm_of", lambda *_, **__: Model(model)
    )
    letter = folder / "letter.txt"
    policy = suggested(letter, "--goal", "protect patients", "--llm", "langchain:a:b")

    assert sentences(policy)[:2] == ["Hide the names of patients", "Hide phone numbers"]
    (prompt,) = prompts
    assert "protect patients" in prompt
    assert not [value for value in VALUES.split() if value in prompt]


POLICY = """\
constraints:
  - Remove names of people and places  # all
  - Hide telephone numbers
"""


def test_words_that_must_stay_or_go_change_the_policy(folder, tmp_path):
    """What is printed makes it so; what no keep opens is said to be so."""
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    stay = [
        each
        for w in ("Ward 7", "07700 900456", "eczema")
        for each in ("--must-stay", w)
    ]
    go = [each for w in ("Marsh", "pneumonia") for each in ("--must-go", w)]

    changed = suggested(folder / "letter.txt", "--policy", str(path), *stay, *go)

    notes = changed.splitlines()[:5]
    assert ["undone" in note for note in notes] == [False, True, False, False, False]
    assert "  - text: Remove names of people and places  # all" in changed
    released = sdrag.explain(LETTER, Policy.parse(changed)).released
    assert "Ward 7 with [withheld]. She has eczema." in released
    assert run_examples(Policy.parse(changed)).passed == 2
