"""Commands over a real wire: how a model failed is printed, and they end with 1."""

from __future__ import annotations

import json
from time import monotonic, sleep

import pytest
from typer.testing import CliRunner

from sdrag.explanation import Explainer
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Passage

from ...support import openai_server as server

NAME = "Vexborough"
TEXT = f"Captain {NAME} steered past the harbour at dawn. The harbour opens at six."
RULE = "Remove names of captains"
FILES = {
    "policy.json": {
        "constraints": [
            {"id": "names", "text": RULE, "examples": [{"text": TEXT, "hides": [NAME]}]}
        ]
    },
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
REDACTING = [
    "bind policy.json chunks.jsonl --state state.sqlite",
    "preview policy.json note.txt",
    f"preview policy.json --text '{TEXT}'",
    "eval policy.json articles.json",
    "check policy.json",
    "model-check policy.json",
]
OTHERS = {
    "mask notes masked": '{"entities": []}',
    "suggest notes --goal Discretion": RULE,
}
"""What a model that does not fail replies to other prompts."""


def no_key(handler, body):
    handler.send(401, {"error": {"message": json.dumps(body)}})


FAULTS = {
    None: "",
    no_key: "401@127.0.0.1",
    server.truncated: "cut-off",
    server.endless: "cut-off",
    server.silent: "timeout",
    server.prose: "no-verdict",
    server.fails_at_formats: "",
    server.one_slot: "",
    server.parrot: "no-verdict",
    server.no_to_the_first: "no-verdict",
    server.nothing_goes: "control-failed",
}
"""And how each is told; those from `prose` on answer redaction alone."""
CASES = [
    *((command, fault) for command in REDACTING for fault in FAULTS),
    *((command, fault) for command in OTHERS for fault in [*FAULTS][:5]),
]


@pytest.mark.parametrize(
    ("command", "fault"),
    CASES,
    ids=[f"{' '.join(c.split()[:3])} {getattr(f, '__name__', '')}" for c, f in CASES],
)
def test_a_command_says_how_its_model_failed(command, fault, tmp_path, monkeypatch):
    """By the server's status or the audit's code; without a failure it ends with 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text(TEXT)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.txt").write_text(TEXT)
    for name, content in FILES.items():
        (tmp_path / name).write_text(json.dumps(content))
    cause = FAULTS[fault]
    with server.openai_server(NAME) as wire:
        monkeypatch.setenv("OPENAI_BASE_URL", wire.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        wire.faults = [fault] if fault else []
        if command in OTHERS:
            wire.faulty = ""
            wire.say = lambda _: {"role": "assistant", "content": OTHERS[command]}
        timeout = 0.4 if fault is server.silent else 30
        options = f"--model-timeout {timeout} --model-concurrency 1"
        options += "" if command.startswith("suggest") else " --json"

        done = CliRunner().invoke(
            app, f"{command} --llm langchain:openai:double {options}"
        )

        assert wire.requests
        assert wire.running[1] <= 1
        assert (fault is server.silent) == _is_left(wire, fault)
    assert done.exit_code == bool(cause), done.output
    if "--json" in options:
        result = json.loads(done.stdout.splitlines()[-1])
        assert (cause in result["model_failures"]) == bool(cause), done.output
    if not command.startswith(("check", "preview")):  # which print JSON alone
        assert (f"model_failures: {cause}" in done.output) == bool(cause)
    assert NAME not in done.stderr


def _is_left(wire, fault):
    """Say whether the client has gone from a server that said nothing."""
    deadline = monotonic() + (2 if fault is server.silent else 0)
    while not wire.gone and monotonic() < deadline:
        sleep(0.01)
    return wire.gone > 0


def test_what_is_released_with_a_reason_is_not_called_withheld():
    """The local engine decided in the place of a model that failed."""

    def fails(_prompt):
        raise ConnectionError

    explainer = Explainer(FILES["policy.json"], complete=fails)
    (explanation,) = explainer.explain([Passage("text", TEXT)])

    assert explanation.released
    assert explanation.reason == "model-failed"
    assert "Withheld" not in explanation._repr_html_()
