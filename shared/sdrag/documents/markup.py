"""
The text of web pages and of Word documents, from their trees.

Words that tags divide stay whole: only blocks, cells and line breaks part them. Of a
Word document all parts that readers see are read, text boxes, content controls and
tracked insertions too; what is deleted is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["html_text", "word_text"]

_INLINE_TAGS = """a abbr acronym b bdi bdo big cite code data del dfn em font i img
input ins kbd label mark nobr output q rp rt ruby s samp small span strike strong sub
sup time tt u var wbr"""
_INLINE = frozenset(_INLINE_TAGS.split())
_SHOWN = ("title", "alt", "aria-label", "placeholder")
"""Attributes whose text a reader sees or hears."""
_UNSEEN_INPUTS = frozenset(("hidden", "password"))
_VERBATIM = frozenset(("pre", "textarea"))
_SPACES = re.compile(r"\s+")
_LINE, _KEPT = re.compile("^", re.MULTILINE), "\0"
"""What a line begins with whose spaces are kept; no text holds it."""

_NOT_READ_TAGS = """del moveFrom Fallback instrText pPr rPr tblPr tblPrEx trPr tcPr
sdtPr sectPr"""
_NOT_READ = frozenset(_NOT_READ_TAGS.split())
"""What a Word document no longer says, says twice, or says of its own layout."""
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_BEFORE, _AFTER = ("header",), ("footnotes", "endnotes", "footer")


def html_text(page: Any) -> str:
    """
    Return the text of a page, a line for each block.

    Args:
        page: As Beautiful Soup gives it.
    """
    lines = map(_line, "".join(_pieces(page)).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(page: Any) -> Iterator[str]:
    """Yield the page's texts and what parts them; a page may be nested deeply."""
    from bs4.element import CData, NavigableString, Tag  # noqa: PLC0415 -- an extra

    todo: list[tuple[Any, bool]] = [(page, False)]
    while todo:
        item, verbatim = todo.pop()
        if isinstance(item, Tag):
            before, after = _parting(item)
            yield before
            verbatim = verbatim or item.name in _VERBATIM
            todo.append((after, verbatim))
            todo.extend((child, verbatim) for child in reversed(item.contents))
        elif type(item) in {NavigableString, CData}:
            yield _LINE.sub(_KEPT, item) if verbatim else _SPACES.sub(" ", item)
        elif type(item) is str:
            yield item


def _parting(element: Any) -> tuple[str, str]:
    """Return what goes before an element and after it, texts of attributes too."""
    shown = _attributes(element)
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


def _attributes(element: Any) -> list[str]:
    kind = str(element.get("type", "")).lower()
    names = (*_SHOWN, "value") if element.name == "input" else _SHOWN
    if kind in _UNSEEN_INPUTS:
        return []
    return [text for name in names if (text := str(element.get(name) or "").strip())]


def word_text(document: Any) -> str:
    """
    Return the text of a document: headers, the body, notes, footers.

    Args:
        document: As python-docx opens it.
    """
    from docx.oxml import parse_xml  # noqa: PLC0415 -- an extra

    def parts(kinds: tuple[str, ...]) -> Iterator[str]:
        for kind in kinds:
            for relation in document.part.rels.values():
                if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
                    yield _text(parse_xml(relation.target_part.blob), [])

    body = _text(document.element.body, [])
    return "".join([*parts(_BEFORE), body, *parts(_AFTER)]).removesuffix("\n")


def _text(element: Any, boxes: list[str]) -> str:
    """Return the text of an element; that of text boxes is put after the paragraph."""
    name = str(element.tag).rpartition("}")[2]
    if name in _NOT_READ or name == "t":
        return "" if name in _NOT_READ else element.text or ""
    held: list[str] = []
    inner = "".join(_text(child, held if name == "p" else boxes) for child in element)
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
