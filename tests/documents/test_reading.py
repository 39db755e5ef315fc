"""Documents from files and folders."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st

from sdrag.documents import (
    Skipped,
    UnreadableError,
    chunks_of,
    documents_in,
    formats,
    read_documents,
    reading,
)
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

FONT = b"/Resources<</Font<</F1 5 0 R>>>>>>"
TEXT = "Mara Whitlock came at noon. Zoë paid 20 €."


def documents(*paths: Path) -> dict[str, str]:
    return {d.id: d.text for d in read_documents(paths) if isinstance(d, Passage)}


def skipped(*paths: Path) -> dict[str, str]:
    return {s.path: s.reason for s in read_documents(paths) if isinstance(s, Skipped)}


def pdf(text: str) -> bytes:
    """Write a PDF of one line by hand."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R" + FONT,
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 6\n0000000000 65535 f \n"
    end = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + head + table + end


def docx(text: str) -> bytes:
    document, file = Document(), io.BytesIO()
    document.add_paragraph(text)
    document.add_table(1, 2).rows[0].cells[1].text = "in a cell"
    document.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", TEXT.encode(), {"a.txt": TEXT}),
        ("a.md", TEXT.encode("utf-8-sig"), {"a.md": TEXT}),
        ("a.txt", TEXT.encode("utf-16"), {"a.txt": TEXT}),
        ("a.txt", TEXT.encode("utf-32"), {"a.txt": TEXT}),
        ("a.TXT", TEXT.encode(), {"a.TXT": TEXT}),
        (
            "a.html",
            b"<title>A</title><style>p{}</style><p>One <b>two</b></p><script>x",
            {"a.html": "A\nOne\ntwo"},
        ),
        ("a.json", json.dumps({"text": TEXT}).encode(), {"a.json": TEXT}),
        (
            "a.json",
            json.dumps(
                [{"id": "x", "content": "1"}, {"id": "y", "text": "2"}]
            ).encode(),
            {"a.json#x": "1", "a.json#y": "2"},
        ),
        (
            "a.json",
            json.dumps({"documents": [{"id": 7, "content": "1"}]}).encode(),
            {"a.json": "1"},
        ),
        ("a.json", b'{"name": 1}', {"a.json": '{\n "name": 1\n}'}),
        (
            "a.jsonl",
            b'{"text": "1"}\n\n{"text": "2"}\n',
            {"a.jsonl#1": "1", "a.jsonl#2": "2"},
        ),
        (
            "a.csv",
            b"name,city\nAnn,Bern\nBo,\n",
            {"a.csv#1": "name: Ann\ncity: Bern", "a.csv#2": "name: Bo"},
        ),
        ("a.pdf", pdf("Mara came."), {"a.pdf": "Mara came."}),
        ("a.docx", docx("Mara came."), {"a.docx": "Mara came.\n\tin a cell"}),
    ],
)
def test_formats(tmp_path, name, data, expected) -> None:
    """Every format gives its text under an id that names the file."""
    (tmp_path / name).write_bytes(data)
    assert documents(tmp_path) == expected
    assert documents(tmp_path / name) == expected


def test_an_old_encoding_is_detected(tmp_path) -> None:
    """Text in Windows' encoding is read as what it says."""
    text = "Frau Müller wohnt in Köln und fährt täglich über die Brücke. " * 20
    (tmp_path / "a.txt").write_bytes(text.encode("cp1252"))
    assert documents(tmp_path) == {"a.txt": text}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xyz", b"text", "suffix"),
        ("a.txt", b"", "empty"),
        ("a.txt", b"  \n", "empty"),
        ("a.txt", b"\x89PNG\0\0", "no text"),
        ("a.json", b"{", "no valid JSON"),
        ("a.jsonl", b'{"text": "1"}\n{', "line 2"),
        ("a.pdf", b"%PDF-1.4 secret", "no valid PDF"),
        ("a.pdf", pdf(""), "OCR"),
        ("a.docx", b"secret", "no valid Word"),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path, name, data, reason) -> None:
    """A reason is given, without the text, and the other files are read."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("kept")
    found = skipped(tmp_path)
    assert reason in found[name]
    assert "secret" not in found[name]
    assert documents(tmp_path) == {"b.txt": "kept"}


def test_a_folder_is_read_with_all_below_it(tmp_path) -> None:
    """Ids are relative paths; hidden files are left out."""
    (tmp_path / "b" / ".git").mkdir(parents=True)
    (tmp_path / "b" / "c.txt").write_text("1")
    (tmp_path / "b" / ".git" / "d.txt").write_text("2")
    (tmp_path / "a.txt").write_text("3")
    assert documents(tmp_path) == {"a.txt": "3", "b/c.txt": "1"}


def test_a_link_leads_nowhere_outside(tmp_path) -> None:
    """What is outside the folder is not read."""
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "a.txt").symlink_to(tmp_path / "secret.txt")
    assert documents(inside) == {}
    assert "link" in skipped(inside)["a.txt"]


@pytest.mark.parametrize(
    "limit", [("reading", "MAX_FILE_BYTES"), ("formats", "MAX_UNPACKED")]
)
def test_sizes_are_limited(tmp_path, monkeypatch, limit) -> None:
    """A file that is too large, packed or not, is skipped."""
    module = {"reading": reading, "formats": formats}[limit[0]]
    monkeypatch.setattr(module, limit[1], 100)
    (tmp_path / "a.docx").write_bytes(docx("Mara"))
    assert "100 bytes" in skipped(tmp_path)["a.docx"]


def test_a_missing_path_is_an_error(tmp_path) -> None:
    """Nothing is read before all paths are known to exist."""
    with pytest.raises(UsageError, match=r"no 'b\.txt'"):
        next(read_documents([tmp_path, tmp_path / "b.txt"]))


@given(st.text(max_size=300), st.integers(1, 60))
def test_chunks_joined_are_the_document(text: str, characters: int) -> None:
    """No character is lost or doubled, whatever the size."""
    chunks = chunks_of(Passage("d", text, document_id="d"), characters)
    assert "".join(chunk.text for chunk in chunks) == text
    assert {chunk.document_id for chunk in chunks} <= {"d"}
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_chunks_end_with_sentences() -> None:
    """A chunk holds as many sentences as fit."""
    document = Passage("d", "One is here. Two is here. Three is here.")
    texts = [chunk.text for chunk in chunks_of(document, 30)]
    assert texts == ["One is here. Two is here.", " Three is here."]


def test_a_packed_file_is_measured_before_it_is_unpacked(tmp_path) -> None:
    """A small archive that unpacks to gigabytes is refused by its own table."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}", b"0" * 100_000_000)
    (tmp_path / "a.docx").write_bytes(file.getvalue())
    assert "unpacks" in skipped(tmp_path)["a.docx"]


@pytest.mark.parametrize("name", ["a.txt", "b.json", "c.jsonl"])
def test_bytes_are_read_as_a_file_of_that_name(tmp_path, name) -> None:
    """Whoever has no file, such as a page with a dropped one, reads the same."""
    data = b'{"id": "x", "text": "The quay opens at six."}\n'
    (tmp_path / name).write_bytes(data)
    read = documents_in(name, data)

    assert [(one.id, one.text) for one in read] == [
        (one.id, one.text) for one in read_documents([tmp_path / name])
    ]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.exe", b"text", "another suffix"),
        ("a", b"text", "another suffix"),
        ("a.txt", b" \n", "is empty"),
        ("a.txt", b"\0", "is no text"),
        ("a.jsonl", b"{", "line 1 is no valid JSON"),
    ],
)
def test_bytes_that_cannot_be_read_are_refused(name, data, reason) -> None:
    """The reason says why in no word of the text."""
    with pytest.raises(UnreadableError, match=reason):
        documents_in(name, data)
