"""
The text of web pages and of Word documents, from their trees.

Words that tags divide stay whole: only blocks, cells and line breaks part them. Of a
Word document all parts that readers see are read, text boxes, content controls and
tracked insertions too; what is deleted is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

_INLINE_TAGS = """a abbr acronym b bdi bdo big cite code data del dfn em font i img
input ins kbd label mark nobr output q rp rt ruby s samp small span strike strong sub
sup time tt u var wbr"""
_INLINE = frozenset(_INLINE_TAGS.split())
_ATTRIBUTES = ("title", "alt", "aria-label", "placeholder")
"""Attributes whose text a reader sees or hears."""
_UNSEEN_INPUTS = frozenset(("hidden", "password"))
_VERBATIM = frozenset(("pre", "textarea"))
_SPACES = re.compile(r"\s+")
_LINE, _KEPT = re.compile("^", re.MULTILINE), "\0"
"""What a line begins with whose spaces are kept; no text holds it."""

_UNREAD_STRINGS = {
    "Comment": "comments",
    "Script": "scripts",
    "Stylesheet": "style sheets",
    "TemplateString": "templates",
}
_SILENT_STRINGS = frozenset(
    ("Declaration", "Doctype", "ProcessingInstruction", "XMLProcessingInstruction")
)
_UNREAD_TAGS = {
    "audio": "recordings",
    "embed": "embedded files",
    "iframe": "frames",
    "object": "embedded files",
    "video": "recordings",
}

_NOT_READ_PARTS = """del moveFrom Fallback instrText pPr rPr tblPr tblPrEx trPr tcPr
sdtPr sectPr"""
_NOT_READ = frozenset(_NOT_READ_PARTS.split())
"""What a Word document no longer says, says twice, or says of its own layout."""
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_BEFORE, _AFTER = ("header",), ("footnotes", "endnotes", "footer")
_UNREAD_PARTS = {
    "aFChunk": "inserted files",
    "chart": "charts",
    "comments": "parts with comments",
    "diagramData": "diagrams",
    "image": "pictures",
    "oleObject": "embedded files",
    "package": "embedded files",
}


def html_text(page: Any, unread: Counter[str]) -> str:
    """
    Return the text of a page, a line for each block.

    Args:
        page: As Beautiful Soup gives it.
        unread: Where it is counted what is left out.
    """
    lines = map(_line, "".join(_pieces(page, unread)).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(page: Any, unread: Counter[str]) -> Iterator[str]:
    """Yield the page's texts and what parts them; a page may be nested deeply."""
    from bs4.element import NavigableString, Tag  # noqa: PLC0415 -- an extra

    todo: list[tuple[Any, bool]] = [(page, False)]
    while todo:
        item, verbatim = todo.pop()
        kind = type(item).__name__
        if isinstance(item, Tag):
            before, after = _parting(item, unread)
            yield before
            verbatim = verbatim or item.name in _VERBATIM
            todo.append((after, verbatim))
            todo.extend((child, verbatim) for child in reversed(item.contents))
        elif not isinstance(item, NavigableString):
            yield item
        elif kind in _UNREAD_STRINGS:
            unread[_UNREAD_STRINGS[kind]] += 1
        elif kind not in _SILENT_STRINGS:
            yield _LINE.sub(_KEPT, item) if verbatim else _SPACES.sub(" ", item)


def _parting(element: Any, unread: Counter[str]) -> tuple[str, str]:
    """Return what goes before an element and after it, texts of attributes too."""
    shown = _attributes(element, unread)
    if element.name in _INLINE:
        # The mark of a footnote is no part of the word before it.
        first = str(next(iter(element.contents), "")) if element.name == "sup" else "a"
        marks = not any(map(str.isalpha, first))
        return (f" {' '.join(shown)} " if shown or marks else "", "")
    if element.name in {"td", "th"}:
        return "\n".join([*shown, ""]), "\t"
    return "\n".join(["", *shown, ""]), "\n"


def _line(line: str) -> str:
    plain = line if _KEPT in line else re.sub(" +", " ", line).lstrip(" ")
    return plain.replace(_KEPT, "").rstrip()


def _attributes(element: Any, unread: Counter[str]) -> list[str]:
    name, kind = element.name, str(element.get("type", "")).lower()
    if name == "input" and kind in _UNSEEN_INPUTS:
        unread["hidden fields"] += 1
        return []
    keys = (*_ATTRIBUTES, "value") if name == "input" else _ATTRIBUTES
    texts = [text for key in keys if (text := str(element.get(key) or "").strip())]
    if name in _UNREAD_TAGS:
        unread[_UNREAD_TAGS[name]] += 1
    elif name == "img" and not texts:
        unread["pictures without a description"] += 1
    elif name == "meta" and element.get("content"):
        unread["meta tags"] += 1
    return texts


def word_text(document: Any, unread: Counter[str]) -> str:
    """
    Return the text of a document: headers, the body, notes, footers.

    Args:
        document: As python-docx opens it.
        unread: Where it is counted what is left out.
    """
    from docx.oxml import parse_xml  # noqa: PLC0415 -- an extra

    def parts(kinds: tuple[str, ...]) -> Iterator[str]:
        for relation in document.part.rels.values():
            kind = relation.reltype.rpartition("/")[2]
            if kind in kinds and not relation.is_external:
                _count_parts(relation.target_part, unread)
                yield _text(parse_xml(relation.target_part.blob), [], unread)

    _count_parts(document.part, unread)
    body = _text(document.element.body, [], unread)
    return "".join([*parts(_BEFORE), body, *parts(_AFTER)]).removesuffix("\n")


def _count_parts(part: Any, unread: Counter[str]) -> None:
    for relation in part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in _UNREAD_PARTS:
            unread[_UNREAD_PARTS[kind]] += 1


def _text(element: Any, boxes: list[str], unread: Counter[str]) -> str:
    """Return the text of an element; that of text boxes is put after the paragraph."""
    name = str(element.tag).rpartition("}")[2]
    if name in _NOT_READ:
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
