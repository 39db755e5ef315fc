"""Commands over a real wire: how a model failed is printed, and they end with 1."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sdrag.cli.app import app
from sdrag.explanation import Explainer
from sdrag.vocabulary import Passage

from ..support import openai_server as server

NAME = "Vexborough"
TEXT = f"Captain {NAME} steered past the harbour at dawn. The harbour opens at six."
RULE = "Remove names of captains"
FILES = {
    "policy.json": {"constraints": [{"id": "names", "text": RULE}]},
    "chunks.jsonl": {"id": "c1", "text": TEXT},
    "articles.json": [
        {
            "article_text": TEXT,
            "constraint_to_witness_words": {"names": [NAME]},
            "questions": [
                {
                    "question_text": "When does the harbour open?",
                    "answer_text": "at six",
                    "relevant_constraints": ["names"],
                }
            ],
        }
    ],
}
COMMANDS = [
    "bind policy.json chunks.jsonl --state state.sqlite",
    "preview policy.json note.txt",
    f"preview policy.json --text '{TEXT}'",
    "eval policy.json articles.json",
]


def no_key(handler, body):
    handler.send(401, {"error": {"message": json.dumps(body)}})


FAULTS = [
    (None, ""),
    (no_key, "401@127.0.0.1"),
    (server.truncated, "cut-off"),
    (server.prose, "no-verdict"),
    (server.nothing_goes, "control-failed"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=["bind", "preview", "text", "eval"])
@pytest.mark.parametrize(
    ("fault", "cause"), FAULTS, ids=[c or "none" for _, c in FAULTS]
)
def test_a_command_says_how_its_model_failed(
    command, fault, cause, tmp_path, monkeypatch
):
    """By the server's status or the audit's code; without a failure it ends with 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text(TEXT)
    for name, content in FILES.items():
        (tmp_path / name).write_text(json.dumps(content))
    with server.openai_server(NAME) as wire:
        monkeypatch.setenv("OPENAI_BASE_URL", wire.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        wire.faults = [fault] if fault else []

        done = CliRunner().invoke(
            app, f"{command} --llm langchain:openai:double --json"
        )

        assert wire.requests
    result = json.loads(done.stdout.splitlines()[-1])
    assert done.exit_code == bool(fault), done.output
    assert (cause in result["model_failures"]) == bool(fault), done.output
    assert (f"model_failures: {cause}" in done.output) == bool(fault)
    assert NAME not in done.stderr


def test_what_is_released_with_a_reason_is_not_called_withheld():
    """The local engine decided in the place of a model that failed."""

    def fails(_prompt):
        raise ConnectionError

    explainer = Explainer(FILES["policy.json"], complete=fails)
    (explanation,) = explainer.explain([Passage("text", TEXT)])

    assert explanation.released
    assert explanation.reason == "model-failed"
    assert "Withheld" not in explanation._repr_html_()
