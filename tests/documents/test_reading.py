"""Documents from files and folders."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from hypothesis import given
from hypothesis import strategies as st

from sdrag.documents import (
    Skipped,
    UnreadableError,
    as_line,
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
            {"a.html": "A\nOne two"},
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


def texts(name: str, data: bytes) -> list[str]:
    return [document.text for document in documents_in(name, data)]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x1c", "\x0b", "\x0c"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", " \n"])
def test_a_line_of_json_ends_with_its_line(mark: str, end: str) -> None:
    """Not at what Unicode calls a separator; these are escaped when written."""
    error = f"Error:{mark}TypeError"
    escape = ord(mark) < ord(" ")
    rows = [json.dumps({"text": t}, ensure_ascii=escape) for t in (error, "Second.")]
    assert texts("a.jsonl", end.join([*rows, ""]).encode()) == [error, "Second."]
    written = as_line(Passage("1", error))
    assert len(written.splitlines()) == 1
    assert texts("a.jsonl", written.encode()) == [error]


LUCIA = "Nachname: Ferrante\nVorname: Lucia\nNote: 2,3"


@pytest.mark.parametrize(
    ("table", "expected", "doubt"),
    [
        ("Nachname;Vorname;Note\nFerrante;Lucia;2,3\n", [LUCIA], False),
        ("Nachname\tVorname\tNote\nFerrante\tLucia\t2,3\n", [LUCIA], False),
        ("Nachname|Vorname|Note\nFerrante|Lucia|2,3\n", [LUCIA], False),
        ('Nachname,Vorname,Note\nFerrante,Lucia,"2,3"\n', [LUCIA], False),
        ("sep=;\nNachname;Vorname;Note\nFerrante;Lucia;2,3\n", [LUCIA], False),
        ('"Nachname";"Vorname";"Note"\n"Ferrante";"Lucia";"2,3"', [LUCIA], False),
        (
            'a;b\n"one;two\nthree";"say ""x"""\n;4\n',
            ['a: one;two\nthree\nb: say "x"', "b: 4"],
            False,
        ),
        (
            '"Name, first";Town\n"Lee, Ann";Hull\n',
            ["Name, first: Lee, Ann\nTown: Hull"],
            False,
        ),
        (
            "name,note\nAnn,came; left; wept\n",
            ["name: Ann\nnote: came; left; wept"],
            False,
        ),
        ("name,note\nAnn,a\tb\n", ["name: Ann\nnote: a\tb"], False),
        ("note\nAnn came.\nBo left.\n", ["note: Ann came.", "note: Bo left."], False),
        ("note;note\nAnn;Bo\n", ["note: Ann\nnote: Bo"], False),
        ("name;\nAnn;Bo\n", ["name: Ann\nBo"], False),
        ("name,town\n\nAnn,Hull\n\n", ["name: Ann\ntown: Hull"], False),
        ("Ferrante;Lucia\n", ["Ferrante\nLucia"], False),
        ("a;b;c\n1;2\n", ["a: 1\nb: 2"], False),
        ("note\nHello, world\n", ["note: Hello, world"], True),
        ("name,town\nAnn,Hull,1,2\n", ["name: Ann\ntown: Hull\n1\n2"], True),
        ("a,b;c\n1,2;3\n", ["a: 1\nb;c: 2;3"], True),
    ],
)
def test_the_separator_of_a_table_is_found(
    caplog: pytest.LogCaptureFixture, *, table: str, expected: list[str], doubt: bool
) -> None:
    """In any encoding of Excel; a weak guess is warned of by the file's name."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        caplog.clear()
        assert texts("a.csv", table.encode(encoding)) == expected
        assert [r.getMessage().startswith("a.csv") for r in caplog.records] == (
            [True] if doubt else []
        )


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def word(body: str, **parts: str) -> bytes:
    """Return a Word file with a body of raw XML, a header and a footer, and notes."""
    document, file = Document(), io.BytesIO()
    section = document.sections[0]
    if "header" in parts:
        section.header.paragraphs[0].text = parts["header"]
    if "first" in parts:
        section.different_first_page_header_footer = True
        section.first_page_header.paragraphs[0].text = parts["first"]
    if "footer" in parts:
        section.footer.paragraphs[0].text = parts["footer"]
    if "footnote" in parts:
        data = f"<w:footnotes {NAMESPACES}><w:footnote><w:p>{run(parts['footnote'])}"
        part = Part(
            PackURI("/word/footnotes.xml"),
            "application/vnd.openxmlformats-officedocument"
            ".wordprocessingml.footnotes+xml",
            f"{data}</w:p></w:footnote></w:footnotes>".encode(),
            document.part.package,
        )
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    whole = parse_xml(f"<w:body {NAMESPACES}>{body}</w:body>")
    for number, element in enumerate(whole):
        document.element.body.insert(number, element)
    document.save(file)
    return file.getvalue()


BOX = f"<w:txbxContent><w:p>{run('In a box.')}</w:p></w:txbxContent>"
SHAPE = f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>"
CELL = "<w:tc><w:p>{}</w:p></w:tc>"


@pytest.mark.parametrize(
    ("body", "parts", "expected"),
    [
        ("<w:p/>", {"header": "Lucia Ferrante"}, "Lucia Ferrante\n"),
        (f"<w:p>{run('Body.')}</w:p>", {"footer": "Page of Ann"}, "Body.\nPage of Ann"),
        ("<w:p/>", {"header": "One", "first": "Two"}, "One\nTwo\n"),
        (f"<w:p>{run('Body.')}</w:p>", {"footnote": "A note."}, "Body.\nA note."),
        (f"<w:p>{run('By ')}<w:ins>{run('Lucia')}</w:ins></w:p>", {}, "By Lucia"),
        (
            (
                f"<w:p>{run('By ')}<w:del><w:r><w:delText>Ann</w:delText></w:r></w:del>"
                f"{run('Bo')}</w:p>"
            ),
            {},
            "By Bo",
        ),
        (
            (
                f"<w:p><w:moveFrom>{run('Ann')}</w:moveFrom>{run(' and ')}"
                f"<w:moveTo>{run('Bo')}</w:moveTo></w:p>"
            ),
            {},
            " and Bo",
        ),
        (
            (
                f"<w:sdt><w:sdtContent><w:p>{run('In a control.')}</w:p></w:sdtContent>"
                "</w:sdt>"
            ),
            {},
            "In a control.",
        ),
        (
            (
                f"<w:p>{run('Dear ')}<w:sdt><w:sdtContent>{run('Ann')}</w:sdtContent>"
                "</w:sdt></w:p>"
            ),
            {},
            "Dear Ann",
        ),
        (
            f"<w:p>{run('Be')}<w:r>{SHAPE}</w:r>{run('low.')}</w:p>",
            {},
            "Below.\nIn a box.",
        ),
        (
            (
                "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'>"
                f"{BOX}</mc:Choice><mc:Fallback>{SHAPE}</mc:Fallback>"
                "</mc:AlternateContent></w:r></w:p>"
            ),
            {},
            "\nIn a box.",
        ),
        (
            f"<w:p>{run('To ')}<w:hyperlink>{run('Ann')}</w:hyperlink>{run('.')}</w:p>",
            {},
            "To Ann.",
        ),
        (f"<w:p>{run('Lu')}<w:proofErr/>{run('cia')}</w:p>", {}, "Lucia"),
        (
            (
                "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/>"
                "<w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>"
            ),
            {},
            "a\tb\nc-d",
        ),
        (
            (
                f"<w:tbl><w:tr>{CELL.format(run('Ann'))}<w:sdt><w:sdtContent>"
                f"{CELL.format(run('Hull'))}</w:sdtContent></w:sdt></w:tr>"
                f"<w:tr>{CELL.format('')}{CELL.format(run('York'))}</w:tr></w:tbl><w:p/>"
            ),
            {},
            "Ann\tHull\n\tYork\n",
        ),
    ],
)
def test_all_text_of_a_word_file_is_read(
    body: str, parts: dict[str, str], expected: str
) -> None:
    """Where it is written, each part once; what is deleted is not."""
    assert texts("a.docx", word(body, **parts)) == [expected]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>Lu<b>cia</b> Fer<i>ran</i>te</p>", "Lucia Ferrante"),
        ("<p><span>Lu</span><span>cia</span></p>", "Lucia"),
        ("<p>Lu<!-- -->cia</p>", "Lucia"),
        ("<p>Ferr<wbr>ante</p>", "Ferrante"),
        ("<p>One <a href='x'>two</a>, three</p>", "One two, three"),
        ("<p>Ann\n  Lee</p>", "Ann Lee"),
        ("<p>Ann<br>Lee</p>", "Ann\nLee"),
        ("<p>Ann</p><p>Lee</p>", "Ann\nLee"),
        ("<div>Ann<div>Lee</div>Bo</div>", "Ann\nLee\nBo"),
        ("<ul><li>Ann<li>Bo</ul>", "Ann\nBo"),
        (
            "<table><tr><td>Ann</td><td>Hull</td></tr><tr><td>Bo</td></tr></table>",
            "Ann\tHull\nBo",
        ),
        ("<x-row>Ann</x-row><x-row>Bo</x-row>", "Ann\nBo"),
        ("<p>Ferrante<sup>1</sup> came</p>", "Ferrante 1 came"),
        ("<img alt='Lucia at sea'><p>Text</p>", "Lucia at sea\nText"),
        ("<p>By <abbr title='Lucia Ferrante'>LF</abbr></p>", "By Lucia Ferrante LF"),
        ("<p title='Lucia'>Text</p>", "Lucia\nText"),
        ("<input name=a value='Lucia Ferrante'>", "Lucia Ferrante"),
        ("<p>a<input type=hidden value=token></p>", "a"),
        (
            "<input placeholder='Lucia'><button aria-label='Call Ann'>x</button>",
            "Lucia\nCall Ann\nx",
        ),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<select><option>Ann<option>Bo</select>", "Ann\nBo"),
        ("<style>p{}</style><script>x</script><p>a</p>", "a"),
        (f"{'<div>' * 5000}Ann", "Ann"),
    ],
)
def test_the_words_of_a_page_stay_whole(page: str, expected: str) -> None:
    """Inline tags split none, blocks join none, and texts of attributes stay."""
    assert texts("a.html", page.encode()) == [expected]


def packed(**files: str) -> bytes:
    """Return a Word file with some of its files replaced."""
    with zipfile.ZipFile(io.BytesIO(docx("secret"))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    names = {"body": "word/document.xml", "types": "[Content_Types].xml"}
    held |= {names[name]: text.encode() for name, text in files.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in held.items():
            if data:
                archive.writestr(name, data)
    return file.getvalue()


DEEP = 200_000


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", b"secret"),
        ("a.docx", b""),
        ("a.docx", docx("secret")[:3000]),
        ("a.docx", packed(body="secret")),
        ("a.docx", packed(body="<secret")),
        ("a.docx", packed(body="<secret/>")),
        ("a.docx", packed(body="")),
        ("a.docx", packed(types="secret")),
        ("a.docx", packed(types="")),
        ("a.docx", packed(body=f"<w:document xmlns:w='{W}'>{'<w:p>' * 900}")),
        ("a.json", b'["secret",' + b"[" * DEEP),
        ("a.json", b'["secret",' + b"[" * DEEP + b"]" * DEEP + b"]"),
        ("a.json", b'{"secret":' * DEEP + b"1" + b"}" * DEEP),
        ("a.jsonl", b'{"text": "1"}\n' + b"[" * DEEP + b"]" * DEEP),
        ("a.json", b'{"text": "secret \\ud800"}'),
        ("a.json", b'{"text": "secret", "metadata": {"a": ["\\udfff"]}}'),
        ("a.json", b'{"text": "secret", "metadata": {"\\ud83d": 1}}'),
        ("a.json", b'{"text": "secret", "id": "\\ude00\\ud83d"}'),
        ("a.jsonl", b'{"text": "1"}\n{"text": "secret \\ud800x"}'),
        ("a.json", b'{"text": ' + b"9" * 5000 + b"}"),
        ("a.csv", b'"secret'.ljust(200_000, b"x")),
        ("a.pdf", pdf("secret").replace(b"/Kids[3 0 R]", b"/Kids[3 0]  ")),
        ("a.pdf", pdf("secret").replace(b"/Contents 4 0 R", b"/Contents (s)  ")),
        ("a.txt", "secret".encode("utf-16") + b"\0\xd8"),
    ],
)
def test_a_broken_file_is_skipped_by_name_and_reason(
    tmp_path: Path, name: str, data: bytes
) -> None:
    """No traceback, no cause that quotes it, and the other files are read."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("kept")
    assert "secret" not in skipped(tmp_path)[name]
    assert documents(tmp_path) == {"b.txt": "kept"}
    with pytest.raises(UnreadableError) as raised:
        documents_in(name, data)
    error = raised.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.json", b'{"text": "\\ud83d\\ude00"}', "\U0001f600"),
        ("a.json", b'{"text": "a \\\\ud800 b"}', r"a \ud800 b"),
        ("a.json", b'{"text": ' + b"[" * 200 + b"]" * 200 + b', "content": "a"}', "a"),
        ("a.txt", "a \ufffd".encode(), "a \ufffd"),
    ],
)
def test_what_only_looks_broken_is_read(name: str, data: bytes, text: str) -> None:
    """Pairs, escaped backslashes, and nesting of a depth that people write."""
    assert texts(name, data) == [text]
