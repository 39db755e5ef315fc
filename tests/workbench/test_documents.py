"""Documents: from the given folder and nowhere else, or dropped as real text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sdrag.workbench import documents
from sdrag.workbench.app import Opening, Workbench, build_app
from sdrag.workbench.bodies import MAX_UPLOAD_BYTES
from sdrag.workbench.documents import Folder
from sdrag.workbench.gate import RefusedError

from ..support.scripted import canary


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
        "sub/.",
        "~/secret.txt",
        "a.txt/",
        "..",
        "none.txt",
        "sub",
        "c.bin",
    ],
)
async def test_no_path_leads_out_of_the_folder(client, folder, path):
    """However it is written, and whatever links there are."""
    answer = await client.post("/api/open", json={"path": path.format(outside=folder)})

    if path in {"a.txt/", "sub/."}:  # names the file or the folder itself
        assert "Outside" not in answer.text
        return
    assert answer.status_code in {403, 404, 422}, answer.text
    assert "Outside" not in answer.text
    assert str(folder) not in answer.text


def test_a_pipe_is_not_waited_for(folder: Path):
    """What is no file would hold the thread for ever."""
    os.mkfifo(folder / "documents" / "pipe.txt")

    with pytest.raises(RefusedError, match="no such file"):
        Folder(folder / "documents").read("pipe.txt")


def test_a_single_file_is_all_there_is(folder: Path):
    """`--documents FILE` opens that file, and none next to it."""
    given = Folder(folder / "documents" / "a.txt")

    assert given.names() == (["a.txt"], False)
    assert b"Meyers" in given.read("a.txt")
    for other in ("sub/b.md", "../secret.txt", "link.txt"):
        with pytest.raises(RefusedError, match="leads out"):
            given.read(other)


def test_a_large_folder_is_listed_in_part(folder: Path, monkeypatch):
    """And the page is told that there is more; a large file is refused."""
    monkeypatch.setattr(documents, "MAX_FILES", 1)
    monkeypatch.setattr(documents, "MAX_UPLOAD_BYTES", 10)

    assert Folder(folder / "documents").names() == (["a.txt"], True)
    with pytest.raises(RefusedError, match="More than 10 bytes"):
        Folder(folder / "documents").read("a.txt")


async def test_without_a_folder_nothing_is_opened(folder):
    bench = Workbench()
    assert build_app(bench, token="t", port=1)
    assert bench.start()["files"] == []
    with pytest.raises(RefusedError, match="--documents"):
        bench.open(Opening(path="a.txt"))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.json", "a.html"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        (b"text \0 text", "binary"),
        (b"caf\xe9", "not UTF-8: byte 4 is wrong"),
        (b"\xc3", "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
        (b"\xc0\xaf", "not UTF-8"),
    ],
)
async def test_what_is_no_text_is_refused_with_a_clear_message(drop, name, data, said):
    """Binary files, and broken UTF-8, of which a guess would show something else."""
    answer = await drop(name, data)

    assert answer.status_code == 415, answer.text
    assert said in answer.json()["error"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.exe", b"text", "another suffix"),
        ("a", b"text", "another suffix"),
        ("a.txt", b"", "is empty"),
        ("a.json", b"{", "no valid JSON"),
        ("a.pdf", b"text", "no valid PDF"),
        ("a.docx", b"text", "no valid Word"),
        ("a.parquet", b"text", "another suffix"),
        ("a.json", b'{"text": "\\ud800"}', "halves of characters"),
    ],
)
async def test_what_cannot_be_read_is_refused(drop, name, data, said):
    answer = await drop(name, data)

    assert answer.status_code == 422
    assert said in answer.json()["error"]


@pytest.mark.parametrize("name", ["", " ", "%FF", "a%0Ab.txt", "x" * 201])
async def test_a_file_needs_a_usable_name(drop, name):
    answer = await drop(name, b"text")

    assert answer.status_code == 400


async def test_a_dropped_file_is_held_in_memory_alone(drop, folder):
    """Nothing is written; its name may be of any script, and is no path."""
    before = sorted(folder.rglob("*"))

    answer = await drop("..%2F%C3%A9t%C3%A9.txt", b"The quay opens.")

    (document,) = answer.json()["documents"]
    assert document["name"] == "../été.txt"
    assert sorted(folder.rglob("*")) == before


async def test_what_is_not_read_of_a_file_is_said(drop):
    answer = await drop("a.html", b"<p>The quay opens.<!-- at six -->")

    assert answer.json()["remarks"] == ["is read without comments (1)"]


async def test_a_file_that_is_dropped_again_replaces_the_earlier_one(drop, client):
    """Under a new number, so nothing that was found in the old one is shown."""
    first = (await drop("a.txt", b"One.")).json()["documents"]
    second = (await drop("a.txt", b"Two.")).json()["documents"]

    held = (await client.get("/api/start")).json()["documents"]
    assert held == second
    assert first != second


async def test_a_forgotten_document_is_gone(drop, ask, client):
    (document,) = (await drop("a.txt", b"One.")).json()["documents"]
    await ask("forget", document=document["number"])

    answer = await client.post(
        "/api/explain", json={"policy": "{}", "document": document["number"]}
    )
    assert answer.status_code == 404


@pytest.mark.parametrize("limit", ["MAX_DOCUMENTS", "MAX_LOADED_CHARACTERS"])
async def test_memory_is_bounded(drop, monkeypatch, limit):
    """What is over a limit is refused, and what was held stays."""
    await drop("a.txt", b"One.")
    monkeypatch.setattr(documents, limit, 1)

    assert (await drop("b.txt", b"Two.")).status_code == 413
    assert MAX_UPLOAD_BYTES < 50_000_000


def test_what_is_held_is_in_no_repr(bench):
    """A traceback or a log of the objects shows no document."""
    secret = canary("document")
    bench.documents.add("a.txt", secret.encode(), dropped=True)

    assert secret not in repr(bench)
    assert secret not in repr(bench.documents)
