"""
Web pages, Word documents and PDF, over Beautiful Soup, python-docx and pypdf.

Words that tags divide stay whole: only blocks, cells and line breaks part them. Of a
Word document all parts that readers see are read, text boxes, content controls and
tracked insertions too; what is deleted is not. The libraries come with the extra
`documents`.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sdrag.errors import require_extra
from sdrag.studio.documents.formats import (
    MAX_UNPACKED,
    Record,
    Remarks,
    UnreadableError,
    decode,
    parsing,
)

_INLINE_TAGS = """a abbr acronym b bdi bdo big cite code data del dfn em font i img
input ins kbd label mark nobr output q rp rt ruby s samp small span strike strong sub
sup time tt u var wbr"""
_INLINE = frozenset(_INLINE_TAGS.split())
_NO_TEXT = frozenset(("Declaration", "Doctype", "ProcessingInstruction"))
_UNREAD = {
    "Comment": "comments",
    "Script": "scripts",
    "Stylesheet": "style sheets",
    "TemplateString": "templates",
    "audio": "recordings",
    "embed": "embedded files",
    "iframe": "frames",
    "input": "form fields",
    "object": "embedded files",
    "video": "recordings",
}
"""Kinds of strings, and tags, of which nothing is read."""

_NOT_SAID_PARTS = """del moveFrom Fallback instrText pPr rPr tblPr tblPrEx trPr tcPr
sdtPr sectPr"""
_NOT_SAID = frozenset(_NOT_SAID_PARTS.split())
"""What a Word document no longer says, says twice, or says of its own layout."""
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_UNREAD_PARTS = {
    "aFChunk": "inserted files",
    "chart": "charts",
    "comments": "parts with comments",
    "diagramData": "diagrams",
    "image": "pictures",
    "oleObject": "embedded files",
    "package": "embedded files",
}


_PROPERTIES = ("/Author", "/Keywords", "/Subject", "/Title")
"""What a PDF says of itself beside its pages."""

MAX_MARKUP = 50_000_000
"""The most bytes of a Word document without its pictures: half a minute's work."""


def read_html(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read a page, a line for each block."""
    with require_extra("documents", "HTML"):
        from bs4 import BeautifulSoup  # noqa: PLC0415 -- an extra
        from lxml.etree import HTMLParser  # noqa: PLC0415 -- an extra
    with parsing("HTML"):
        # Python's own parser takes quadratic time for tags that nothing closes.
        parser = partial(HTMLParser, huge_tree=True)
        page = BeautifulSoup(decode(data, remarks), "lxml", parser=parser)
        title = page.title.get_text(strip=True) if page.title else ""
        text = re.sub(" +", " ", "".join(_pieces(page, remarks.unread)))
    lines = (line.lstrip(" ").rstrip() for line in text.split("\n"))
    text = "\n".join(filter(None, lines))
    yield Record(text, metadata={"title": title} if title else {})


def _pieces(page: Any, unread: Counter[str]) -> Iterator[str]:
    """Yield the page's texts and what parts them; a page may be nested deeply."""
    from bs4.element import NavigableString, Tag  # noqa: PLC0415 -- an extra

    todo: list[tuple[Any, bool]] = [(page, False)]
    while todo:
        item, verbatim = todo.pop()
        kind = item.name if isinstance(item, Tag) else type(item).__name__
        if kind in _UNREAD:
            unread[_UNREAD[kind]] += 1
        if isinstance(item, Tag):
            before, after = _edges(item, unread)
            yield before
            verbatim = verbatim or kind in {"pre", "textarea"}
            todo.append((after, verbatim))
            todo.extend((child, verbatim) for child in reversed(item.contents))
        elif not isinstance(item, NavigableString):
            yield item
        elif kind not in _UNREAD and kind not in _NO_TEXT:
            yield item if verbatim else re.sub(r"\s+", " ", item)


def _edges(tag: Any, unread: Counter[str]) -> tuple[str, str]:
    """Return what goes before an element, texts that are attributes, and after it."""
    texts = [str(tag.get(key) or "").strip() for key in ("title", "alt")]
    shown = list(filter(None, texts))
    if tag.name == "img" and not shown:
        unread["pictures without a description"] += 1
    if tag.name in _INLINE:
        # The mark of a footnote is no part of the word before it.
        first = str(next(iter(tag.contents), "")) if tag.name == "sup" else "a"
        marks = not any(map(str.isalpha, first))
        return (f" {' '.join(shown)} " if shown or marks else "", "")
    if tag.name in {"td", "th"}:
        return "\n".join([*shown, ""]), "\t"
    return "\n".join(["", *shown, ""]), "\n"


def read_docx(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read a Word document: headers, the body, notes, footers."""
    with require_extra("documents", "Word documents"):
        from docx import Document  # noqa: PLC0415 -- an extra
        from docx.oxml import parse_xml  # noqa: PLC0415 -- an extra

    def read(*kinds: str) -> Iterator[str]:
        for relation in main.rels.values():
            kind = relation.reltype.rpartition("/")[2]
            if kind in kinds and not relation.is_external:
                _count_parts(relation.target_part, remarks.unread)
                yield _text(parse_xml(relation.target_part.blob), [], remarks.unread)

    with parsing("Word document"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
        markup = (entry for entry in entries if entry.filename.endswith(".xml"))
        for counted, most in ((entries, MAX_UNPACKED), (markup, MAX_MARKUP)):
            if sum(entry.file_size for entry in counted) > most:
                raise UnreadableError(f"unpacks to more than {most:,} bytes")
        main = Document(io.BytesIO(data)).part
        _count_parts(main, remarks.unread)
        body = _text(main.element.body, [], remarks.unread)
        parts = [*read("header"), body, *read("footnotes", "endnotes", "footer")]
    yield Record("".join(parts).removesuffix("\n"))


def _count_parts(part: Any, unread: Counter[str]) -> None:
    for relation in part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in _UNREAD_PARTS:
            unread[_UNREAD_PARTS[kind]] += 1


def _text(element: Any, boxes: list[str], unread: Counter[str]) -> str:
    """Return the text of an element; that of text boxes is put after the paragraph."""
    name = str(element.tag).rpartition("}")[2]
    if name in _NOT_SAID:
        unread["deletions"] += name in {"del", "moveFrom"} and len(element) > 0
        return ""
    if name == "t":
        return element.text or ""
    held: list[str] = []
    below = held if name == "p" else boxes
    inner = "".join(_text(child, below, unread) for child in element)
    match name:
        case "p":
            inner = "".join([inner, "\n", *held])
        case "tc":
            inner = inner.removesuffix("\n") + "\t"
        case "tr":
            inner = inner.removesuffix("\t") + "\n"
        case "txbxContent":
            boxes.append(inner)
            inner = ""
    return inner or _MARKS.get(name, "")


def read_pdf(data: bytes, remarks: Remarks) -> Iterator[Record]:
    """Read the text of the pages."""
    with require_extra("documents", "PDF"):
        from pypdf import PdfReader  # noqa: PLC0415 -- an extra
    with parsing("PDF"):
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("is encrypted")
        pages = [page.extract_text().strip() for page in reader.pages]
        for page in reader.pages:
            notes = [note.get_object() for note in page.get("/Annots") or ()]
            fields = sum(note.get("/Subtype") != "/Link" for note in notes)
            remarks.unread["notes and form fields"] += fields
            with suppress(Exception):  # as broken pictures please; the text is read
                remarks.unread["pictures"] += len(page.images)
        with suppress(Exception):
            remarks.unread["attachments"] += len(reader.attachments)
            known: Mapping[str, Any] = reader.metadata or {}
            remarks.unread["properties"] += sum(key in known for key in _PROPERTIES)
    if not any(pages):
        raise UnreadableError("has no text; a scan needs OCR first")
    remarks.unread["pages without text"] += pages.count("")
    yield Record("\n\n".join(pages).strip())
