"""Documents: from the given folder and nowhere else, or dropped on the page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sdrag.studio.workbench import documents
from sdrag.studio.workbench.app import Workbench
from sdrag.studio.workbench.bodies import RequestBody
from sdrag.studio.workbench.gate import RefusedError

from ...support.scripted import canary


async def test_the_folders_files_are_listed_by_name(client):
    """Hidden ones and other kinds are not; links are not followed into folders."""
    start = (await client.get("/api/start")).json()

    assert start["files"] == ["a.txt", "link.txt", "sub/b.md"]
    assert start["documents"] == []


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "sub/../../secret.txt",
        "./../secret.txt",
        "..\\secret.txt",
        "{outside}/secret.txt",
        "/etc/passwd",
        "link.txt",
        "up/secret.txt",
        "up/policy.yaml",
        ".hidden.txt",
        "a.txt\0.md",
        "a.txt/",
        "./a.txt",
        "..",
        "sub",
        "c.bin",
        "",
    ],
)
async def test_nothing_is_opened_that_was_not_listed(client, folder, path):
    """However it is written, and whatever links there are."""
    await client.get("/api/start")
    answer = await client.post("/api/open", json={"path": path.format(outside=folder)})

    assert answer.status_code in {404, 422}, answer.text
    assert "Outside" not in answer.text
    assert str(folder) not in answer.text


async def test_what_became_a_link_or_a_pipe_is_not_read(bench, folder):
    """After it was listed: a pipe would hold the thread for ever."""
    bench.start()
    for name in ("a.txt", "sub/b.md"):
        (folder / "documents" / name).unlink()
    (folder / "documents" / "a.txt").symlink_to(folder / "secret.txt")
    os.mkfifo(folder / "documents" / "sub" / "b.md")
    for name in ("a.txt", "sub/b.md"):
        with pytest.raises(RefusedError):
            bench.open(RequestBody(path=name))


def test_a_single_file_is_all_there_is(folder: Path):
    """`--documents FILE` opens that file, and none next to it."""
    bench = Workbench(folder=folder / "documents" / "a.txt")

    assert bench.start()["files"] == ["a.txt"]
    assert bench.open(RequestBody(path="a.txt"))["documents"]
    with pytest.raises(RefusedError, match="no such file"):
        bench.open(RequestBody(path="sub/b.md"))


def test_without_a_folder_nothing_is_opened():
    bench = Workbench()
    assert bench.start()["files"] == []
    with pytest.raises(RefusedError, match="no such file"):
        bench.open(RequestBody(path="a.txt"))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.exe", b"text", "another suffix"),
        ("a.parquet", b"text", "another suffix"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is no text"),
        ("a.pdf", b"text", "no valid PDF"),
    ],
)
async def test_what_cannot_be_read_is_refused(drop, name, data, reason):
    answer = await drop(name, data)

    assert answer.status_code == 422
    assert reason in answer.json()["error"]


@pytest.mark.parametrize("name", ["", " ", "%FF", "a%0Ab.txt", "x" * 201])
async def test_a_file_needs_a_usable_name(drop, name):
    assert (await drop(name, b"text")).status_code == 400


async def test_a_dropped_file_is_held_in_memory_alone(drop, folder):
    """Its name is no path; what is not read of it, or guessed, is said."""
    before = sorted(folder.rglob("*"))

    answer = (await drop("..%2F%C3%A9.html", b"<p>Quay<!-- 6 -->")).json()

    assert [document["name"] for document in answer["documents"]] == ["../é.html"]
    assert answer["remarks"] == ["is read without comments (1)"]
    assert sorted(folder.rglob("*")) == before


async def test_a_file_that_is_dropped_again_replaces_the_earlier_one(drop, client):
    """Under a new number, so nothing that was found in the old one is shown."""
    first = (await drop("a.txt", b"One.")).json()["documents"]
    second = (await drop("a.txt", b"Two.")).json()["documents"]

    assert (await client.get("/api/start")).json()["documents"] == second
    assert first[0]["number"] != second[0]["number"]


async def test_a_forgotten_document_is_gone(drop, ask, client):
    (document,) = (await drop("a.txt", b"One.")).json()["documents"]
    await ask("forget", document=document["number"])

    answer = await client.post("/api/explain", json={"document": document["number"]})
    assert answer.status_code == 404


@pytest.mark.parametrize("limit", ["MAX_DOCUMENTS", "MAX_LOADED_CHARACTERS"])
async def test_memory_is_bounded(drop, client, monkeypatch, limit):
    """What is over a limit is refused, and what was held stays."""
    await drop("a.txt", b"1")
    monkeypatch.setattr(documents, limit, 1)

    assert (await drop("b.txt", b"Two.")).status_code == 413
    assert len((await client.get("/api/start")).json()["documents"]) == 1


def test_what_is_held_is_in_no_repr(bench):
    """A traceback or a log of the objects shows no document."""
    secret = canary("document")
    bench.documents.add("a.txt", secret.encode())

    assert secret not in repr(bench)
    assert secret not in repr(bench.documents)
