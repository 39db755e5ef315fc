"""`sdrag preview`: what a policy hides from documents and from a text, and why."""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sdrag.cli import main
from sdrag.cli.app import app
from sdrag.explanation import Explainer

runner = CliRunner()
TEXT = "The witness Jonathan Meyers left. <b>Nobody</b> else saw the blue van."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy, and a folder with three documents and one that cannot be read."""
    documents = tmp_path / "documents"
    (documents / "sub").mkdir(parents=True)
    (tmp_path / "policy.yaml").write_text(
        "constraints:\n- id: names\n  text: Remove names of witnesses\n"
        "  unless: {roles: [clerk]}\n- Hide exact dates of birth\n"
    )
    (documents / "a.txt").write_text(TEXT)
    (documents / "sub" / "b.md").write_text("The quay opens at six.")
    (documents / "c.jsonl").write_text(json.dumps({"id": "1", "text": TEXT}) + "\n")
    (documents / "d.bin").write_bytes(b"\0")
    return tmp_path


def call(*arguments: object) -> tuple[str, dict]:
    """Run a command with --json; return its output and the object."""
    result = runner.invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return result.stdout, json.loads(result.stdout.splitlines()[-1])


def test_a_preview_counts_what_each_constraint_hides(folder: Path) -> None:
    """The figures are those of the documents, and what was skipped is listed."""
    output, found = call("preview", folder / "policy.yaml", folder / "documents")
    assert (found["documents"], found["chunks"]) == (3, 3)
    assert found["constraints"]["names"] == {"spans": 2, "chunks": 2}
    assert found["constraints"]["c2"] == {"spans": 0, "chunks": 0}
    assert [file["path"] for file in found["skipped"]] == ["d.bin"]
    assert "names: 2 spans in 2 chunks" in output
    assert "Meyers" not in output


def test_who_asks_decides(folder: Path) -> None:
    """`--as` gives the role that a constraint exempts."""
    command = ("preview", folder / "policy.yaml", folder / "documents")
    assert call(*command, "--as", "clerk")[1]["constraints"]["names"]["spans"] == 0
    assert call(*command, "--as", "guest")[1]["constraints"]["names"]["spans"] == 2


def test_the_page_shows_the_span_and_asks_nothing_from_outside(folder: Path) -> None:
    """One file: no script, no link, the text escaped and the span marked."""
    page = folder / "p.html"
    call("preview", folder / "policy.yaml", folder / "documents", "--html", page)
    html = page.read_text("utf-8")
    assert re.search(r"<mark[^>]*>Jonathan Meyers</mark>", html)
    assert "&lt;b&gt;Nobody" in html
    outside = ("<script", "<link", "<img", "src=", "href=", "url(", "@import")
    assert not [word for word in outside if word in html]


def docx(document: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", b"<Types/>")
        archive.writestr("word/document.xml", document)
    return file.getvalue()


SAID = b"The witness Jonathan Meyers left."
DEEP = 20_000
HOSTILE = {
    "deep.json": b"[" * DEEP + b'"' + SAID + b'"' + b"]" * DEEP,
    "deep.jsonl": b'{"text": "' + SAID + b'", "a": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "objects.json": b'{"a":' * DEEP + b'"' + SAID + b'"' + b"}" * DEEP,
    "open.json": b'[{"text": "' + SAID,
    "number.json": b'[{"text": "' + SAID + b'", "a": 1' + b"0" * 5000 + b"}]",
    "surrogate.json": b'[{"text": "' + SAID + b' \\ud800"}]',
    "surrogate.jsonl": b'{"text": "' + SAID + b' \\udfff and"}',
    "id.jsonl": b'{"id": "\\ud800", "text": "' + SAID + b'"}',
    "key.jsonl": b'{"text": "' + SAID + b'", "\\ud800": "\\ud800"}',
    "half.txt": SAID + b" \xed\xa0\x80 \xff",
    "name\udcff.txt": SAID,
    "name\udcff.bin": SAID,
    "escape\x1b[2J.bin": SAID,
    "cut.docx": docx(b"<w:document><w:body>" + SAID),
    "empty.docx": docx(b""),
    "deep.docx": docx(b"<a>" * DEEP + SAID + b"</a>" * DEEP),
    "no.docx": b"PK\x03\x04" + SAID,
    "no.pdf": b"%PDF-1.4\n" + SAID,
    "other.pdf": SAID,
    "no.parquet": b"PAR1" + SAID + b"PAR1",
    "nul.csv": b'id,text\n1,"' + SAID + b'\0"\n',
    "quote.csv": b'id,text\n1,"' + SAID,
}


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_file_ends_it_with_a_traceback(
    tmp_path, monkeypatch, capfd, name, beside
) -> None:
    """Nor is any quoted; a page is written, or one line says why not."""
    (tmp_path / "policy.yaml").write_text("constraints: [Remove names of witnesses]")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / name).write_bytes(HOSTILE[name])
    if beside:
        (tmp_path / "files" / "plain.txt").write_text(TEXT)
    page = tmp_path / "p.html"
    command = ["preview", tmp_path / "policy.yaml", tmp_path / "files", "--html", page]
    monkeypatch.setattr("sys.argv", ["sdrag", *map(str, command)])

    with pytest.raises(SystemExit) as ended:
        main()

    said = "".join(capfd.readouterr())
    assert "Meyers" not in said
    assert "Traceback" not in said
    assert "\x1b[2J" not in said
    assert ended.value.code in {0, 2}
    assert page.exists() == (ended.value.code == 0)
    if beside:
        assert "plain.txt" in page.read_text("utf-8")


def test_an_error_of_another_kind_is_one_line(folder, monkeypatch, capsys) -> None:
    """It names its type and where, and not what it says: that may quote a file."""

    def fail(*_: object) -> None:
        raise ValueError(TEXT)

    monkeypatch.setattr(Explainer, "explain", fail)
    command = ["preview", str(folder / "policy.yaml"), str(folder / "documents")]
    monkeypatch.setattr("sys.argv", ["sdrag", *command])
    with pytest.raises(SystemExit) as ended:
        main()

    said = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2
    assert re.search(r"ValueError in cli/preview\.py, line \d+", said)
    assert "Meyers" not in said


def test_what_was_not_read_is_named_where_nothing_was(folder, monkeypatch, capsys):
    command = ["preview", folder / "policy.yaml", folder / "documents" / "d.bin"]
    monkeypatch.setattr("sys.argv", ["sdrag", *map(str, command)])
    with pytest.raises(SystemExit):
        main()

    assert "d.bin" in capsys.readouterr().err


@pytest.mark.parametrize("before", [None, 0o644])
def test_the_page_is_its_owners_alone(folder: Path, before) -> None:
    """Also where an open one was there, or a half of one; no page loads anything."""
    page = folder / "p.html"
    for path in (page, folder / "p.html.partial"):
        if before:
            path.write_text("before")
            path.chmod(before)
    call("preview", folder / "policy.yaml", folder / "documents", "--html", page)

    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    html = page.read_text("utf-8")
    (content,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html
    )
    assert html.index("http-equiv") < html.index("<style")
    assert content.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in content
    assert not (folder / "p.html.partial").exists()


def test_a_constraint_that_needs_a_model_is_named(folder: Path) -> None:
    """It is left out of the preview, and the preview says so."""
    (folder / "policy.yaml").write_text(
        "constraints:\n- Remove names\n- Verberge alles über Drachen\n"
    )
    output, found = call("preview", folder / "policy.yaml", folder / "documents")
    assert list(found["refused"]) == ["c2"]
    assert "c2: not enforced" in output


def test_one_text_is_explained(folder: Path) -> None:
    """Offsets and causes are in the JSON; the words are shown above it."""
    output, found = call("preview", folder / "policy.yaml", "--text", TEXT)
    (span,) = found["spans"]
    assert TEXT[span["start"] : span["end"]] == "Jonathan Meyers"
    causes = [(cause["by"], cause["type"]) for cause in span["causes"]]
    sure = [cause["confidence"] for cause in span["causes"]]
    assert span["constraint"] == "names"
    assert ("type", "PERSON") in causes
    assert (span["by"], sure) == (causes[0][0], sorted(sure, reverse=True))
    assert "a mention of the type PERSON" in output
    assert "Meyers" not in output.splitlines()[-1]


def test_a_text_is_read_from_stdin(folder: Path) -> None:
    """Without --text the text comes through a pipe."""
    command = ["preview", str(folder / "policy.yaml")]
    result = runner.invoke(app, command, input=TEXT)
    assert result.exit_code == 0, result.output
    assert "[person] left" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("preview", "policy.yaml", "missing"),
        ("preview", "missing.yaml", "documents"),
        ("preview", "documents", "documents"),
        ("preview", "documents/d.bin", "documents"),
        ("preview", "policy.yaml", "documents/d.bin"),
        ("preview", "policy.yaml", "documents", "--html", "documents"),
        ("preview", "policy.yaml", "documents", "--html", "missing/p.html"),
        ("preview", "policy.yaml", "documents", "--llm", "other"),
        ("preview", "policy.yaml", "documents", "--unknown"),
        ("preview", "policy.yaml"),
        ("preview", "missing.yaml", "--text", "x"),
        ("preview", "documents/d.bin", "--text", "x"),
        ("preview", "policy.yaml", "--text", " "),
        ("preview", "policy.yaml", "--text", "x", "--llm", "other"),
        ("preview", "policy.yaml", "--unknown"),
        ("preview", "policy.yaml", "documents", "--text", "x"),
        ("preview", "policy.yaml", "--text", "x", "--html", "p.html"),
    ],
)
def test_a_wrong_call_ends_with_2_and_writes_nothing(
    folder: Path, monkeypatch, capsys, arguments
) -> None:
    """One clear line, exit status 2, and the folder as it was."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["sdrag", *arguments])
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip()
    assert sorted(folder.rglob("*")) == before
