"""What examples change is said: how far they agree, and which is odd."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from sdrag.policy import Policy
from sdrag.studio.cli.app import app
from sdrag.studio.evaluation.teaching import compare_documents, measure_teaching
from sdrag.vocabulary import Passage

GOES = [
    {"text": "The hull of the Petrel leaks at the keel.", "hides": "leaks at the keel"},
    {"text": "We cannot start the engine of the Tern.", "hides": "cannot start"},
    {"text": "The mast of the Gannet has a crack.", "hides": "has a crack"},
    {"text": "The bilge pump of the Skua failed twice.", "hides": "failed twice"},
]
CLOSING = {"text": "The mast of the Gannet has a crack.", "keeps": "has a crack"}
BOATS = {"id": "boats", "text": "Hide what is wrong with our boats"}
NEW, OTHER = "The rudder of the Fulmar sticks to port.", "Lunch was soup."


def test_examples_that_agree_are_found_by_one_another() -> None:
    """From four on; fewer say nothing of it, and types learn nothing."""
    dates = {"id": "d", "text": "Hide dates", "examples": [GOES[0]]}
    policy = Policy.read([{**BOATS, "examples": GOES}, dates])
    (taught,) = measure_teaching(policy)
    (few,) = measure_teaching(Policy.read([{**BOATS, "examples": GOES[:3]}]))

    assert (taught.constraint_id, taught.shown, taught.odd) == ("boats", 4, ())
    assert taught.found is not None
    assert taught.found >= 3
    assert few.found is None


def test_an_example_that_closes_what_another_hides_is_odd() -> None:
    """It is named by its number."""
    policy = Policy.read([{**BOATS, "examples": [*GOES, CLOSING]}])
    (taught,) = measure_teaching(policy)

    assert [(odd.example, odd.kind) for odd in taught.odd] == [(5, "closes")]


def test_no_sentence_opens_everything() -> None:
    """What is like everything is like nothing: it opens few sentences, or is named."""
    for text in ("Yes.", "The meeting is on Monday.", "The the of and to in it is."):
        (taught,) = measure_teaching(
            Policy.read([{**BOATS, "examples": [{"text": text, "hides": text}]}])
        )
        assert all(odd.count < 10 for odd in taught.odd)


def test_what_examples_change_in_documents_is_said(tmp_path) -> None:
    """With the sentences for the author, and with --json in no word of them."""
    entry = {**BOATS, "examples": GOES}
    documents = tmp_path / "letter.txt"
    documents.write_text(f"{NEW} {OTHER}")
    file = tmp_path / "policy.yaml"
    file.write_text(json.dumps({"constraints": [entry]}))
    arguments = ["check", str(file), "--documents", str(documents)]

    changes = compare_documents(Policy.read([entry]), [Passage("p", f"{NEW} {OTHER}")])
    assert changes["boats"].opened == (NEW,)
    assert not changes["boats"].closed
    assert NEW in " ".join(CliRunner().invoke(app, arguments).output.split())
    output = CliRunner().invoke(app, [*arguments, "--json"]).output
    (row,) = json.loads(output)["constraints"]
    assert row["taught"]["opened"] == 1
    assert "Fulmar" not in output
