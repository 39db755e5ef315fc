"""Files of the formats that documents have, made by hand."""

from __future__ import annotations

import io
import zipfile

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NAMESPACES = (
    f'xmlns:w="{W}" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
_FONT = b"/Resources<</Font<</F1 5 0 R>>>>"


def pdf(text: str, more: bytes = b"") -> bytes:
    """Write a PDF of one line; `more` stands in the dictionary of its page."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page + _FONT + more + b">>",
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


def run(text: str) -> str:
    """Return a run of a Word document."""
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def docx(body: str, **parts: str) -> bytes:
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
    if "comment" in parts:
        document.add_comment(document.add_paragraph().add_run(), parts["comment"])
    if "footnote" in parts:
        data = f"<w:footnotes {_NAMESPACES}><w:footnote><w:p>{run(parts['footnote'])}"
        part = Part(
            PackURI("/word/footnotes.xml"),
            "application/vnd.openxmlformats-officedocument"
            ".wordprocessingml.footnotes+xml",
            f"{data}</w:p></w:footnote></w:footnotes>".encode(),
            document.part.package,
        )
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    whole = parse_xml(f"<w:body {_NAMESPACES}>{body}</w:body>")
    for number, element in enumerate(whole):
        document.element.body.insert(number, element)
    document.save(file)
    return file.getvalue()


def repacked(file: bytes, **parts: str) -> bytes:
    """Return a Word file with `body` or `types` replaced; an empty one left out."""
    names = {"body": "word/document.xml", "types": "[Content_Types].xml"}
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    held |= {names[part]: text.encode() for part, text in parts.items()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in held.items():
            if data:
                archive.writestr(name, data)
    return packed.getvalue()
