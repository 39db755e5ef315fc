"""The page of recipes runs as it is printed, against a server on loopback."""

from __future__ import annotations

import json
import re
import shlex
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from typer.testing import CliRunner

from sdrag.studio.cli.app import app

from .test_docs import ROOT, run_examples

PAGE = ROOT / "docs" / "guides" / "recipes.md"
VIEWERS = {("user:clerk-7", "document:log-1"), ("user:judge-1", "document:log-2")}
CHUNK = {"id": "1", "text": "The witness Anna Karlsson saw it.", "metadata": {}}


class Server(BaseHTTPRequestHandler):
    """An OpenFGA that knows two viewers, and a LangSmith that keeps what it is sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        answer: dict[str, object] = {}
        if self.path.endswith("/batch-check"):
            assert self.path == "/stores/notes/batch-check"
            answer["result"] = {
                check["correlation_id"]: {"allowed": _sees(check["tuple_key"])}
                for check in json.loads(body)["checks"]
            }
        else:
            self.server.traced.append(body)  # type: ignore[attr-defined]
        said = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_PATCH = do_POST  # noqa: N815 -- the base class's names

    def log_message(self, *args: object) -> None:
        pass


def _sees(key: dict[str, str]) -> bool:
    return key["relation"] == "viewer" and (key["user"], key["object"]) in VIEWERS


@pytest.fixture
def traced(tmp_path, monkeypatch):
    """What LangSmith was sent, by a page that runs in a folder of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.traced = []
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FGA_API_URL", url)
    monkeypatch.setenv("FGA_STORE_ID", "notes")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", url)
    monkeypatch.setenv("LANGSMITH_API_KEY", "none")
    monkeypatch.setenv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")
    yield server.traced
    server.shutdown()
    server.server_close()


def test_its_blocks_run_and_traces_are_masked(traced):
    """Nobody sees what OpenFGA does not allow; LangSmith gets no name or address."""
    assert run_examples(PAGE) == 2

    sent = b"".join(traced).decode("utf-8", "replace")
    assert "[person]: Did [person] write to [e-mail]?" in sent
    assert not re.search("Karlsson|Lindqvist|harbour", sent)


def test_the_nightly_build_binds(tmp_path, monkeypatch):
    """Its steps pass on a new project and its chunks, and again the next night."""
    workflow = PAGE.parents[2] / "examples" / "ci" / "bind.yml"
    steps = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["bind"]["steps"]
    said = [shlex.split(step.get("run", "")) for step in steps]
    commands = [words[1:] for words in said if words[:1] == ["sdrag"]]
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    Path("chunks.jsonl").write_text(json.dumps(CHUNK), encoding="utf-8")

    for words in commands * 2:
        given = ["notes.sqlite" if word == "$STATE" else word for word in words]
        ran = CliRunner().invoke(app, given)
        assert ran.exit_code == 0, ran.output
    assert Path("notes.sqlite").exists()
    assert [words[0] for words in commands] == ["check", "bind"]
