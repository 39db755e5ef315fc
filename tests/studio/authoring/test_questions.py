"""The sentences that teach most are asked about, and answers become examples."""

from __future__ import annotations

import yaml
from typer.testing import CliRunner

from sdrag.policy import Policy
from sdrag.studio.authoring.edits import make_go
from sdrag.studio.authoring.questions import find_questions
from sdrag.studio.cli import suggest
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Passage

BOATS = {
    "id": "boats",
    "text": "Hide what is wrong with our boats",
    "examples": [
        {"text": "The hull of the Petrel leaks at the keel.", "hides": "leaks"},
        {"text": "The mast of the Gannet has a crack.", "hides": "has a crack"},
    ],
}
LETTER = (
    "The gearbox of the Skua whines. Mr Berg ordered paint for the Tern in May."
    " Some planks of the Petrel are soft. Some planks of the Tern are soft."
    " The hull of the Petrel leaks at the keel. Call 07705550143 at noon today."
)


def test_what_is_least_certain_is_asked_once() -> None:
    """Nothing that an example has, and nothing twice in almost the same words."""
    policy = Policy.read([{"text": "Hide dates"}, BOATS])
    questions = find_questions(policy, [Passage("p", LETTER)])
    texts = [question.text for question in questions]

    assert texts
    assert {question.number for question in questions} == {1}
    assert BOATS["examples"][0]["text"] not in texts
    assert sum("planks" in text for text in texts) == 1
    assert not find_questions(Policy.read(["Hide dates"]), [Passage("p", LETTER)])
    for question in questions:
        for goes in (True, False):
            entry = {**BOATS, "examples": [question.answer(goes=goes)]}
            assert Policy.read([entry])


def test_answers_become_examples(tmp_path, monkeypatch) -> None:
    """Yes hides, no keeps, what is skipped changes nothing, and quit ends it."""
    policy, letter = tmp_path / "policy.yaml", tmp_path / "letter.txt"
    policy.write_text(yaml.safe_dump({"constraints": [BOATS]}))
    letter.write_text(LETTER)
    command = ["suggest", str(letter), "--policy", str(policy), "--teach", "--write"]
    monkeypatch.setattr(suggest, "_is_terminal", lambda: True)
    answered = CliRunner().invoke(app, command, input="y\nn\ns\nq\n")

    assert answered.exit_code == 0, answered.output
    (rule,) = Policy.read(policy).rules
    assert [bool(e.hides) for e in rule.examples[2:]] == [True, False]


def test_elsewhere_they_are_printed_to_be_pasted(tmp_path) -> None:
    """As examples of either kind; and --teach needs a policy."""
    policy, letter = tmp_path / "policy.yaml", tmp_path / "letter.txt"
    policy.write_text(yaml.safe_dump({"constraints": [BOATS]}))
    letter.write_text(LETTER)
    command = ["suggest", str(letter), "--policy", str(policy), "--teach"]
    output = CliRunner().invoke(app, command).output
    listed = [x.removeprefix("#   - ") for x in output.splitlines() if "#   -" in x]

    assert listed
    assert Policy.read([{**BOATS, "examples": [*map(yaml.safe_load, listed)]}])
    assert CliRunner().invoke(app, ["suggest", str(letter), "--teach"]).exit_code


def test_words_that_a_sentence_nearly_hides_are_shown_to_it() -> None:
    """No new sentence that quotes them: the next of their kind goes as well."""
    bare = "constraints:\n  - Hide what is wrong with our boats\n"
    note = Passage("p", "The rudder of the Fulmar sticks to port. It rained.")
    changed, (done,) = make_go(bare, ["sticks to port"], [note])

    (rule,) = Policy.parse(changed).rules
    assert "as an example" in done
    assert rule.examples[0].hides == ("sticks to port",)
