"""`sdrag preview`: what a policy hides from documents and from a text, and why."""

from __future__ import annotations

import io
import json
import logging
import re
import stat
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pypdf import PdfWriter
from typer.testing import CliRunner

from sdrag.explanation import Explainer
from sdrag.studio.cli import main
from sdrag.studio.cli.app import app
from sdrag.studio.documents import READERS
from sdrag.studio.documents.formats import Record
from tests.support.files import docx, pdf, repacked, run

runner = CliRunner()
TEXT = "The witness Jonathan Meyers, 34, left. <b>Nobody</b> else saw the blue van."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy, and a folder with three documents."""
    documents = tmp_path / "documents"
    (documents / "sub").mkdir(parents=True)
    (tmp_path / "policy.yaml").write_text(
        "constraints:\n- id: names\n  text: Remove names of witnesses\n"
        "  unless: {roles: [clerk]}\n- Hide exact dates of birth\n"
    )
    (documents / "a.txt").write_text(TEXT)
    (documents / "sub" / "b.md").write_text("The quay opens at six.")
    (documents / "c.jsonl").write_text(json.dumps({"id": "1", "text": TEXT}) + "\n")
    return tmp_path


def call(*arguments: object, status: int = 0) -> tuple[str, dict]:
    """Run a command without and with --json; return the output and the object."""
    plain = runner.invoke(app, [*map(str, arguments)])
    result = runner.invoke(app, [*map(str, arguments), "--json"])
    assert (plain.exit_code, result.exit_code) == (status, status), plain.output
    assert "Meyers" not in result.stdout
    return plain.stdout, json.loads(result.stdout)


def test_a_preview_counts_what_each_constraint_hides(folder: Path) -> None:
    """And which kinds stay; sentences are quoted, and no word of the documents is."""
    output, found = call("preview", folder / "policy.yaml", folder / "documents")
    assert (found["documents"], found["chunks"]) == (3, 3)
    assert found["constraints"]["names"] == {"words": 4, "spans": 2, "chunks": 2}
    assert found["constraints"]["c2"] == {"words": 0, "spans": 0, "chunks": 0}
    assert "    4      2  “Remove names of witnesses” (names)" in output
    assert (found["readable"], "still readable: ages (2)" in output) == (
        {"ages": 2},
        True,
    )
    assert "Meyers" not in output


def test_who_asks_decides(folder: Path) -> None:
    """`--as` gives the role that a constraint exempts."""
    command = ("preview", folder / "policy.yaml", folder / "documents")
    assert call(*command, "--as", "clerk")[1]["constraints"]["names"]["spans"] == 0
    assert call(*command, "--as", "guest")[1]["constraints"]["names"]["spans"] == 2


SAID = "The witness Jonathan Meyers left."
DEEP = 200_000


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.xml", b"0" * 100_000_000)
    return file.getvalue()


def encrypted() -> bytes:
    writer, file = PdfWriter(io.BytesIO(pdf(SAID))), io.BytesIO()
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(file)
    return file.getvalue()


def registered() -> bytes:
    file = io.BytesIO()
    field = pa.field("text", pa.string(), metadata={"ARROW:extension:name": "ray.x"})
    pq.write_table(pa.table([[SAID]], schema=pa.schema([field])), file)
    return file.getvalue()


WORD = docx(f"<w:p>{run(SAID)}</w:p>")
UNREADABLE: dict[str, tuple[bytes | str, str]] = {
    "binary.bin": ("", "has another suffix"),
    "escape\x1b[2J.bin": (SAID, "has another suffix"),
    "name?.bin": (SAID, "has another suffix"),
    "empty.txt": ("", "is empty"),
    "blank.md": (" \n", "is empty"),
    "picture.txt": (b"\x89PNG\0\0", "is no text"),
    "unmarked.txt": (SAID.encode("utf-16-le"), "UTF-16 without a byte order mark"),
    "cut.txt": (SAID.encode("utf-16") + b"\0\xd8", "is no text"),
    "deep.json": ("[" * DEEP + f'"{SAID}"' + "]" * DEEP, "is nested too deeply"),
    "open.json": (f'["{SAID}",' + "[" * DEEP, "is nested too deeply"),
    "deep.jsonl": ('{"a":' * DEEP + "1" + "}" * DEEP, "is nested too deeply"),
    "broken.json": (f'[{{"text": "{SAID}', "is no valid JSON"),
    "broken.jsonl": (f'{{"text": "{SAID}"}}\n{{', "line 2 is no valid JSON"),
    "number.json": (f'{{"text": "{SAID}", "a": {"9" * 5000}}}', "is no valid JSON"),
    "half.json": (f'[{{"text": "{SAID} \\ud800"}}]', "holds halves of characters"),
    "half.jsonl": (f'{{"\\udfff": "{SAID}"}}', "line 1 holds halves of characters"),
    "half-id.json": (f'{{"id": "\\ude00", "text": "{SAID}"}}', "holds halves"),
    "long.csv": (f"{SAID}\n".ljust(200_000, "x"), "is no valid CSV"),
    "no.docx": (SAID, "is no valid Word document"),
    "cut.docx": (WORD[:3000], "is no valid Word document"),
    "text.docx": (repacked(WORD, body=SAID), "is no valid Word document"),
    "xml.docx": (repacked(WORD, body=f"<w:p>{SAID}"), "is no valid Word document"),
    "none.docx": (repacked(WORD, body=""), "is no valid Word document"),
    "types.docx": (repacked(WORD, types=SAID), "is no valid Word document"),
    "deep.docx": (repacked(WORD, body="<w:p>" * 900), "is no valid Word document"),
    "bomb.docx": (bomb(), "unpacks to more than"),
    "no.pdf": (f"%PDF-1.4\n{SAID}", "is no valid PDF"),
    "kids.pdf": (pdf(SAID).replace(b"[3 0 R]", b"[3 0]  "), "has no text"),
    "pictures.pdf": (pdf(""), "needs OCR"),
    "encrypted.pdf": (encrypted(), "is encrypted"),
    "no.parquet": (f"PAR1{SAID}PAR1", "is no valid Parquet"),
    "crafted.parquet": (registered(), "a type that only another program knows"),
}


def test_what_cannot_be_read_is_listed_with_its_reason(tmp_path, monkeypatch, capfd):
    """Of every format; the status is 1, the page is written, and nothing is quoted."""
    (tmp_path / "policy.yaml").write_text("constraints: [Remove names of witnesses]")
    folder, page = tmp_path / "files", tmp_path / "p.html"
    folder.mkdir()
    (folder / "plain.txt").write_text("The van was grey.")
    (folder / "loop").symlink_to(folder)
    (folder / "gone.txt").symlink_to(folder / "missing")
    for name, (data, _) in UNREADABLE.items():
        path = folder / name.replace("?", "\udcff")
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    command = ["preview", tmp_path / "policy.yaml", folder, "--html", page, "--json"]
    monkeypatch.setattr("sys.argv", ["sdrag", *map(str, command)])

    with pytest.raises(SystemExit) as ended:
        main()

    out, err = capfd.readouterr()
    result = json.loads(out.splitlines()[-1])
    listed = {file["path"]: file["reason"] for file in result["skipped"]}
    reasons = {name: reason for name, (_, reason) in UNREADABLE.items()}
    reasons |= {"loop": "is a link to a folder", "gone.txt": "is no file"}
    assert ended.value.code == 1
    assert listed.keys() == reasons.keys()
    assert [n for n in reasons if reasons[n] not in listed[n]] == []
    assert result["documents"] == 1
    html = page.read_text("utf-8")
    assert "plain.txt" in html
    assert "is no valid PDF" in html
    assert not [w for w in ("Meyers", "Traceback", "\x1b[2J") if w in out + err]
    assert "Meyers" not in html


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
    assert re.search(r"<mark[^>]*>Jonathan Meyers</mark>", html)
    assert "&lt;b&gt;Nobody" in html
    outside = ("<script", "<link", "<img", "src=", "href=", "url(", "@import")
    assert not [word for word in outside if word in html]


def test_a_constraint_that_needs_a_model_is_named(folder: Path) -> None:
    """It is left out; the output, the head of the page and the status say so."""
    (folder / "policy.yaml").write_text(
        "constraints:\n- Remove names\n- Verberge alles über Drachen\n"
    )
    command = ("preview", folder / "policy.yaml", folder / "documents")
    output, found = call(*command, "--html", folder / "p.html", status=1)
    assert list(found["refused"]) == ["c2"]
    assert "NOT ENFORCED: “Verberge alles über Drachen” (c2): " in output
    page = (folder / "p.html").read_text("utf-8")
    assert page.index("Not enforced") < page.index("Constraints, by words hidden")


def body_of(page: Path) -> str:
    """Return what a page shows of documents, without the titles of marks."""
    html = re.sub(r' title="[^"]*"', "", page.read_text("utf-8"))
    return html.partition("<h2>Documents</h2>")[2]


def test_a_page_shows_files_tables_fields_and_all_that_is_on_a_span(folder) -> None:
    """The noisiest constraint comes first; no label of a field or column is hidden."""
    (folder / "policy.yaml").write_text(
        "- Remove names of people\n- Hide dates of birth\n- Remove Petra Olsen\n"
    )
    (folder / "t.csv").write_text('Name,Note\nPetra Olsen,"one\ntwo"\nAnn Lee,\n')
    (folder / "f.txt").write_text("Name: Ann Lee\nDate of birth: 3 May 1971\n" * 80)
    page = folder / "p.html"
    command = ("preview", folder / "policy.yaml", folder / "t.csv", folder / "f.txt")
    _, found = call(*command, "--html", page)

    words = [counts["words"] for counts in found["constraints"].values()]
    assert words == sorted(words, reverse=True)
    body = body_of(page)
    assert body.count("<h3>") == 2
    assert "<h3>t.csv</h3>" in body
    assert "<tr><th>Name</th><th>Note</th></tr>" in body
    both = '<td><mark class="hidden c0 also d2" data-by="1,3">Petra Olsen</mark></td>'
    assert both + "<td>one\ntwo</td>" in body
    field = 'Name: <mark class="hidden c0" data-by="1">Ann Lee</mark>\nDate of birth: '
    assert body.count(field) == 80


def test_two_policies_are_compared_on_the_same_documents(folder) -> None:
    """In figures, words and the page; a policy is no different from itself."""
    (folder / "wider.yaml").write_text("- Remove names\n- Remove the van\n")
    page, command = folder / "p.html", ("preview", folder / "policy.yaml")
    command = (*command, folder / "documents", "--html", page, "--against")
    _, same = call(*command, folder / "policy.yaml")
    assert [*same["against"].values()] == [0, 0, 4]
    output, found = call(*command, folder / "wider.yaml")

    here, there, both = found["against"].values()
    assert (here, both) == (0, 4)
    assert there > 0
    assert "Meyers" not in output
    assert '<mark class="left c1" data-by="2">' in body_of(page)
    _, turned = call(
        *("preview", folder / "wider.yaml", folder / "documents"),
        *("--against", folder / "policy.yaml"),
    )
    assert [*turned["against"].values()] == [there, here, both]
    assert '         "blue van" (2 times)' in output


def test_a_keep_that_lets_nothing_stay_is_named(folder) -> None:
    """Not one that does; no other word of the documents is printed."""
    (folder / "kept.yaml").write_text(
        "- {text: Remove names, keep: [Jonathan Meyers, Rose Ward, {type: DATE}]}\n"
    )
    output, _ = call("preview", folder / "kept.yaml", folder / "documents")
    idle = [line for line in output.splitlines() if line.startswith("keep without")]
    assert [line.split(":")[1] for line in idle] == [" “Rose Ward” (c1)", " dates (c1)"]


def test_one_text_is_explained(folder: Path) -> None:
    """Offsets and causes are in the JSON; the words are shown above it."""
    output, found = call("preview", folder / "policy.yaml", "--text", TEXT)
    (span,) = found["spans"]
    assert TEXT[span["start"] : span["end"]] == "Jonathan Meyers"
    causes = [(cause["by"], cause["type"]) for cause in span["causes"]]
    sure = [cause["confidence"] or 1 for cause in span["causes"]]
    assert span["constraint"] == "names"
    assert ("type", "PERSON") in causes
    assert "“Remove names of witnesses” (names) hides" in output
    assert (span["by"], sure) == (causes[0][0], sorted(sure, reverse=True))
    assert "a mention of the type PERSON" in output


def test_a_text_is_read_from_stdin(folder: Path) -> None:
    """Without --text the text comes through a pipe."""
    command = ["preview", str(folder / "policy.yaml")]
    result = runner.invoke(app, command, input=TEXT)
    assert result.exit_code == 0, result.output
    assert "[person], 34, left" in result.output


def test_what_a_parser_logs_is_not_shown(folder, monkeypatch, caplog):
    """Parsers quote what they stumble over."""

    def log_and_read(data, remarks):
        logging.getLogger("pypdf").error("odd object %s", data)
        yield Record("The quay opens at six.")

    monkeypatch.setitem(READERS, ".txt", log_and_read)
    call("preview", folder / "policy.yaml", folder / "documents")

    assert "Meyers" not in caplog.text
