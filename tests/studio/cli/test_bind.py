"""`sdrag bind`: an index that exists is located once, and never twice."""

from __future__ import annotations

import json

import chromadb
import networkx as nx
import pytest
from chromadb.config import Settings
from typer.testing import CliRunner

from sdrag.errors import SdragError
from sdrag.studio.cli.app import app

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


def bound(*args):
    done = CliRunner().invoke(app, ["bind", *map(str, args), "--json"])
    assert done.exception is None, done.output
    return json.loads(done.stdout.strip().splitlines()[-1])


def refused(*args):
    done = CliRunner().invoke(app, ["bind", *map(str, args)])
    assert isinstance(done.exception, SdragError)
    return str(done.exception)


def test_a_chunk_is_named_as_other_commands_name_it(policy, tmp_path):
    """Several files are read one after another, whatever the text is called."""
    paths = []
    for key in ("text", "content", "page_content"):
        paths.append(tmp_path / f"{key}.jsonl")
        rows = ({"id": name, key: text} for name, text in TEXTS.items())
        paths[-1].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = bound(policy, *paths, "--state", tmp_path / "state")
    assert (result["chunks"], result["located"]) == (9, 9)


def test_a_collection_of_chroma_is_located_once(policy, chroma, tmp_path):
    """The second run looks everything up, and writes the same binding graph."""
    args = (
        policy,
        "--chroma",
        chroma,
        "--collection",
        "notes",
        "--state",
        tmp_path / "s",
        "--graph",
    )

    first, second = (bound(*args, tmp_path / name) for name in ("one", "two"))

    assert (first["chunks"], first["located"], first["calls"]) == (3, 3, 0)
    assert first["read"] > 0
    assert second["read"] == 0
    assert second["located"] == 3
    graph = nx.read_graphml(tmp_path / "one")
    assert (tmp_path / "two").read_text() == (tmp_path / "one").read_text()
    assert {f"chunk:{name}" for name in TEXTS} < {*graph}
    assert graph.size() > 0


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "a", "text": null}',
        '{"id": null, "text": "Crane"}',
        '{"text": "Crane"}',
        '{"id": "a", "text": "Crane", "metadata": "Crane"}',
        '{"Crane": 1}',
        '["Crane"]',
        '"Crane"',
        '{"id": "a", "text": "Crane',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_chunk_is_named(line, policy, tmp_path):
    """Before anything is written, by file and line, and nothing is quoted."""
    path, state = tmp_path / "c.jsonl", tmp_path / "s"
    path.write_text(f'{{"id": "a", "text": "x"}}\n{line}\n')

    error = refused(policy, path, "--state", state)

    assert "c.jsonl, line 2: no chunk" in error
    assert "Crane" not in error
    assert not state.exists()


def test_a_dry_run_writes_nothing(policy, lines, tmp_path):
    """It counts chunks, documents and how many calls a model would take."""
    state, more = tmp_path / "s", tmp_path / "more.json"
    more.write_text(json.dumps(["Remove names of witnesses"] * 9), encoding="utf-8")
    model = ("--dry-run", "--llm", "langchain:openai:any")

    plain = bound(policy, lines, "--state", state, "--dry-run")
    asked, nine = bound(policy, lines, *model), bound(more, lines, *model)

    assert plain == {"chunks": 3, "documents": asked["documents"], "calls": 0}
    assert asked["calls"] == asked["documents"]
    assert nine["calls"] == 3 * asked["documents"]  # a few constraints a call
    assert not state.exists()


def test_a_collection_that_is_not_there_is_told_the_others(policy, chroma, tmp_path):
    given = ("--chroma", chroma, "--collection", "x", "--state", tmp_path / "s")

    done = CliRunner().invoke(app, ["bind", *map(str, (policy, *given))])

    assert "notes" in done.exception.hint
