"""`sdrag bind`: an index that exists is located once, and never twice."""

from __future__ import annotations

import json

import chromadb
import pytest
from chromadb.config import Settings
from typer.testing import CliRunner

from sdrag.cli.app import app
from sdrag.errors import SdragError

POLICY = "constraints: [Remove names of witnesses]\n"
TEXTS = {
    "a": "The witness was Jonathan Crane.",
    "b": "Crane forgets.",
    "c": "The harbour was quiet.",
}


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "chunks.jsonl"
    rows = [
        {"id": name, "text": text, "metadata": {"source": "log"}}
        for name, text in TEXTS.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def chroma(tmp_path):
    folder = tmp_path / "chroma"
    client = chromadb.PersistentClient(
        str(folder), Settings(anonymized_telemetry=False)
    )
    collection = client.create_collection("notes", embedding_function=None)
    collection.add(
        ids=[*TEXTS],
        documents=[*TEXTS.values()],
        metadatas=[{"source": "log"}] * len(TEXTS),
        embeddings=[[0.0, 1.0]] * len(TEXTS),
    )
    return folder


def told(*args):
    done = CliRunner().invoke(app, ["bind", *map(str, args), "--json"])
    assert done.exception is None, done.output
    return json.loads(done.stdout.strip().splitlines()[-1])


def refused(*args):
    done = CliRunner().invoke(app, ["bind", *map(str, args)])
    assert isinstance(done.exception, SdragError)
    return str(done.exception)


def test_a_collection_of_chroma_is_located_once(policy, chroma, tmp_path):
    """The second run looks everything up."""
    args = (
        policy,
        "--chroma",
        chroma,
        "--collection",
        "notes",
        "--state",
        tmp_path / "s",
    )

    first, second = told(*args), told(*args)

    assert (first["chunks"], first["located"], first["calls"]) == (3, 3, 0)
    assert first["read"] > 0
    assert second["read"] == 0
    assert second["located"] == 3


def test_files_of_chunks(policy, lines, tmp_path):
    assert told(policy, lines, "--state", tmp_path / "s")["located"] == 3


def test_a_dry_run_writes_nothing(policy, lines, tmp_path):
    """It counts chunks, and at most how many calls and tokens a model would take."""
    state = tmp_path / "s"

    plain = told(policy, lines, "--state", state, "--dry-run")
    asked = told(policy, lines, "--dry-run", "--llm", "langchain:openai:any")

    assert plain["chunks"] == 3
    assert plain["calls"] == 0
    assert asked["calls"] == 1
    assert asked["tokens"] > 0
    assert not state.exists()


def test_what_cannot_work_is_said_before_anything_is_read(policy, lines, chroma):
    assert "--state" in refused(policy, lines)
    assert "--chroma" in refused(policy)
    assert "notes" in refused(
        policy, "--chroma", chroma, "--collection", "x", "--state", "s"
    )
    assert "jsonl" in refused(policy, policy, "--state", "s")


def test_a_line_that_is_no_chunk_is_named(policy, tmp_path):
    """By file and number; its words are not quoted."""
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "text": "x"}\n{"Crane": 1}\n', encoding="utf-8")

    said = refused(policy, path, "--state", tmp_path / "s")

    assert "line 2" in said
    assert "Crane" not in said
