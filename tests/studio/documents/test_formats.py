"""What is read of each format, and what is left out and counted."""

from __future__ import annotations

import io
import json

import pytest
from pypdf import PdfWriter

from sdrag.studio.documents import UnreadableError, read_bytes, table_of
from sdrag.studio.documents.formats import MAX_COLUMNS
from tests.support.files import docx, pdf, run

TEXT = "Mara Whitlock came at noon. Zoë paid 20 €."


def pdf_with_more() -> bytes:
    """Return a PDF with a file in it, and with an author and a title."""
    writer, file = PdfWriter(io.BytesIO(pdf("a"))), io.BytesIO()
    writer.add_attachment("list.txt", b"b")
    writer.add_metadata({"/Author": "c", "/Title": "d", "/Producer": "e"})
    writer.write(file)
    return file.getvalue()


def texts(name: str, data: bytes | str) -> list[str]:
    given = data.encode() if isinstance(data, str) else data
    return [document.text for document in read_bytes(name, given, rows=True).documents]


def test_texts_are_read_in_every_encoding():
    """As UTF-8, or as what it looks like; the latter is said."""
    german = "Frau Müller wohnt in Köln und fährt täglich über die Brücke. " * 20
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"):
        file = read_bytes("a.txt", german.encode(encoding))
        assert file.documents[0].text == german, encoding
        assert any("not UTF-8" in remark for remark in file.remarks) == (
            "utf-8" not in encoding
        )


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.json", {"text": TEXT}, {"a.json": TEXT}),
        (
            "a.json",
            [{"id": "x", "content": "1"}, {"id": "y", "text": "2"}],
            {"a.json#x": "1", "a.json#y": "2"},
        ),
        ("a.json", {"name": 1}, {"a.json": '{\n "name": 1\n}'}),
        ("a.json", {"text": "\U0001f600"}, {"a.json": "\U0001f600"}),
        ("a.json", {"text": r"a \ud800 b"}, {"a.json": r"a \ud800 b"}),
    ],
)
def test_json_is_an_object_a_list_or_documents(name, data, expected):
    """Ids are the file's own; an object without a text is its JSON."""
    read = read_bytes(name, json.dumps(data).encode()).documents
    assert {document.id: document.text for document in read} == expected


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x1c", "\x0b", "\x0c"])
def test_a_line_of_json_ends_with_its_line(mark):
    """Not at what Unicode calls a separator."""
    error = f"Error:{mark}TypeError"
    rows = [
        json.dumps({"text": text}, ensure_ascii=mark < " ")
        for text in (error, "Second.")
    ]
    for end in ("\n", "\r\n", "\r", "\n\n", " \n"):
        assert texts("a.jsonl", end.join([*rows, ""])) == [error, "Second."]


LUCIA = "Nachname: Ferrante\nVorname: Lucia\nNote: 2,3"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("Nachname;Vorname;Note\nFerrante;Lucia;2,3\n", [LUCIA]),
        ("Nachname\tVorname\tNote\nFerrante\tLucia\t2,3\n", [LUCIA]),
        ("Nachname|Vorname|Note\nFerrante|Lucia|2,3\n", [LUCIA]),
        ('Nachname,Vorname,Note\nFerrante,Lucia,"2,3"\n', [LUCIA]),
        ('"Nachname";"Vorname";"Note"\n"Ferrante";"Lucia";"2,3"', [LUCIA]),
        ('a;b\n"1;2\n3";"say ""x"""\n;4\n', ['a: 1;2\n3\nb: say "x"', "b: 4"]),
        ('"Name, 1";Town\n"Lee, Ann";Hull\n', ["Name, 1: Lee, Ann\nTown: Hull"]),
        ("name,note\nAnn,came; left; wept\n", ["name: Ann\nnote: came; left; wept"]),
        ("name,note\nAnn,a\tb\n", ["name: Ann\nnote: a\tb"]),
        ("note\nAnn came.\nBo left.\n", ["note: Ann came.", "note: Bo left."]),
        ("name;\nAnn;Bo\n", ["name: Ann\nBo"]),
        ("name,town\n\nAnn,Hull\n\n", ["name: Ann\ntown: Hull"]),
        ("Ferrante;Lucia\n", ["Ferrante\nLucia"]),
        ("a;b;c\n1;2\n", ["a: 1\nb: 2"]),
        ("note\nHello, world\n", ["note: Hello, world"]),
        ("name,town\nAnn,Hull,1,2\n", ["name: Ann\ntown: Hull\n1\n2"]),
    ],
)
def test_the_separator_of_a_table_is_found(table, expected):
    """In any encoding of Excel; each row is lines of its columns."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert texts("a.csv", table.encode(encoding)) == expected


def test_cells_cannot_make_a_table_wider_than_is_shown():
    """A cell may hold lines that look like columns."""
    cell = "\n".join(f"k{number}: v" for number in range(3 * MAX_COLUMNS))
    columns, (row,) = table_of(f"note: {cell}")

    assert len(columns) == MAX_COLUMNS
    assert row[columns[-1]].end == len(f"note: {cell}")  # no line is left out


def test_a_table_is_one_document_or_one_for_each_row():
    """How it was understood is said, since the separator is a guess."""
    data = b"name;town\nAnn;Hull\nBo;York\n"
    table, rows = read_bytes("a.csv", data), read_bytes("a.csv", data, rows=True)

    assert [document.text for document in table.documents] == [
        "name: Ann\ntown: Hull\n\nname: Bo\ntown: York"
    ]
    assert [document.id for document in rows.documents] == ["a.csv#1", "a.csv#2"]
    assert table.remarks == (
        "is a table of 3 lines and 2 columns, separated by semicolons",
    )


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
    assert texts("a.docx", docx(body, **parts)) == [expected]


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
        ("<pre>a\n  b</pre>", "a\nb"),
        ("<select><option>Ann<option>Bo</select>", "Ann\nBo"),
        ("<style>p{}</style><script>x</script><p>a</p>", "a"),
        (f"{'<div>' * 5000}Ann", "Ann"),
    ],
)
def test_the_words_of_a_page_stay_whole(page: str, expected: str) -> None:
    """Inline tags split none, blocks join none, and texts of attributes stay."""
    assert texts("a.html", page.encode()) == [expected]


@pytest.mark.parametrize(
    ("name", "part", "times", "fault"),
    [
        ("a.html", b"<!--", 100_000, "is empty"),
        ("a.html", b"<a x='", 100_000, "is empty"),
        ("a.csv", b",,,,,,,,,\n,\n", 100_000, "is empty"),
        ("a.csv", b"", 100_000, "is empty"),
    ],
)
def test_what_is_made_to_take_long_is_read_or_refused(name, part, times, fault):
    """Marks that nothing closes, and short rows of a table."""
    with pytest.raises(UnreadableError, match=fault):
        read_bytes(name, part * times)


def test_a_word_file_of_endless_paragraphs_is_refused(monkeypatch):
    monkeypatch.setattr("sdrag.studio.documents.rich_text.MAX_MARKUP", 1_000)
    with pytest.raises(UnreadableError, match="unpacks to more than 1,000 bytes"):
        read_bytes("a.docx", docx("<w:p/>"))


def test_a_pdf_is_its_text():
    assert texts("a.pdf", pdf("Mara came.")) == ["Mara came."]


@pytest.mark.parametrize(
    ("name", "data", "unread"),
    [
        ("a.txt", TEXT.encode(), None),
        (
            "a.json",
            b'[{"text": "a", "b": 1, "c": 2}, {"text": "a", "b": 1}]',
            "other keys (3)",
        ),
        (
            "a.html",
            (
                b"<p>a<!-- b --><script>c</script><style>d</style>"
                b"<img src=e><input value=e><iframe>"
            ),
            (
                "comments (1), scripts (1), style sheets (1), "
                "pictures without a description (1), form fields (1), "
                "frames (1)"
            ),
        ),
        (
            "a.docx",
            docx(f"<w:p>{run('a')}<w:del>{run('b')}</w:del></w:p>", comment="c"),
            "parts with comments (1), deletions (1)",
        ),
        (
            "a.pdf",
            pdf("a", b"/Annots[<</Subtype/Text/Contents(b)>><</Subtype/Link>>]"),
            "notes and form fields (1)",
        ),
        ("a.pdf", pdf_with_more(), "attachments (1), properties (2)"),
    ],
)
def test_what_is_not_read_is_counted(name, data, unread):
    """Of every format that holds more than is read."""
    expected = (f"is read without {unread}",) if unread else ()
    assert read_bytes(name, data).remarks == expected
