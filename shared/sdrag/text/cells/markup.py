"""
XML and HTML: texts of elements and values of attributes, with what says what they are.

A text of an element is labelled by its tag; in a table by the head of its column or the
cell before it, in a list of definitions by its term, after `<b>Surname:</b>` by that.
Tags that only lay a page out label nothing. No tree is built, so tags that are never
closed, or closed twice, do no harm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import itemgetter

from sdrag.text import word_set
from sdrag.text.cells.cell import Cell, Role, strip

_TAG = re.compile(
    r"<(?:!--(?P<note>.*?)(?:-->|\Z)|!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)|[?!][^<>]*+>?"
    r"|(?P<close>/)?(?P<name>[A-Za-z][\w:.-]*+)(?P<attrs>(?:[^<>\"']|\"[^\"<]*+\""
    r"|'[^'<]*+')*+)(?:>|\Z))",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s\"'<>/=]++)\s*+=\s*+(?:\"(?P<double>[^\"<]*+)\"?"
    r"|'(?P<single>[^'<]*+)'?|(?P<bare>[^\s\"'<>=]++))"
)
_BEGINS = re.compile(r"\s*+<(?:\?xml|!DOCTYPE|!--|([A-Za-z][\w:.-]*+))")
_CLOSED = re.compile(r"</([A-Za-z][\w:.-]*+)\s*+>")
_LAYOUT = word_set(
    "html head body div p span a b i u s em strong small big br wbr hr ul ol li dl"
    " table thead tbody tfoot tr section article header footer main nav aside"
    " h1 h2 h3 h4 h5 h6"
    " blockquote pre code center font form fieldset legend title label img input button"
    " option select textarea caption figure figcaption sup sub mark cite q tt kbd samp"
    " td th dt dd item entry row value data record field cell text v"
)
"""Tags that lay out, and say nothing of what they hold."""
_QUIET = word_set(
    "class style id type rel lang dir width height align valign colspan rowspan border"
    " bgcolor color size target role xmlns version encoding charset media tabindex"
    " scope for name key property itemprop http-equiv method"
)
"""Attributes that lay out, or name what is beside them."""
_NAMES = ("name", "itemprop", "property", "key", "data-label", "id", "class", "field")
_MEDIA = frozenset(("script", "style"))
_TABULAR = frozenset(("td", "th"))
_EMPTY = word_set("br hr img input wbr")


def is_markup(text: str, start: int, end: int) -> bool:
    """Say whether a stretch is XML or HTML, whole or in part."""
    if "<" not in text[start:end]:
        return False
    begins = _BEGINS.match(text, start, end)
    if begins and begins[1] is None:
        return True
    closed = {match[1].lower() for match in _CLOSED.finditer(text, start, end)}
    if begins and (begins[1].lower() in closed or begins[1].lower() in _LAYOUT):
        return True
    if any(
        match["name"].lower() in closed
        for match in _TAG.finditer(text, start, end)
        if match["name"] and not match["close"]
    ):
        return True
    tag = _TAG.match(text, begins.start(1) - 1, end) if begins else None
    attributes = tag["attrs"].rstrip() if tag and tag["attrs"] else ""
    return attributes.endswith("/") and "=" in attributes


@dataclass(slots=True)
class _Page:
    """The state of one pass."""

    text: str
    cells: list[Cell] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    """Tags that are open, with the label that each gives."""
    heads: list[str] = field(default_factory=list)
    column: int = 0
    has_data: bool = False
    before: str = ""
    """A text that ends with a colon, a term, or the head of a row."""


def read_markup(text: str, start: int, end: int) -> list[Cell]:
    """Return the cells of a stretch of XML or HTML."""
    page = _Page(text)
    done = start
    for match in _TAG.finditer(text, start, end):
        _add_text(page, done, match.start())
        done = match.end()
        if match["cdata"] is not None:
            _add_text(page, *match.span("cdata"))
        elif match["note"]:
            page.cells.append(
                Cell(*match.span("note"), "prose", "", "markup", hard=True)
            )
        elif match["close"]:
            _close(page, match["name"])
        elif match["name"]:
            _open(page, match)
    _add_text(page, done, end)
    return page.cells


def _open(page: _Page, match: re.Match[str]) -> None:
    name, attributes = match["name"].lower(), {}
    for each in _ATTRIBUTE.finditer(page.text, *match.span("attrs")):
        group = each.lastgroup or "bare"
        attributes[each["name"].lower()] = each.span(group)
    says = next(
        (page.text[slice(*attributes[n])] for n in _NAMES if n in attributes), ""
    )
    for attribute, (first, last) in sorted(attributes.items(), key=itemgetter(1)):
        if first < last:
            label = attribute.removeprefix("data-")
            if attribute in {"value", "content"} and says:
                label = says
            role: Role = "code" if attribute in _QUIET else "field"
            cell = Cell(first, last, role, label, "markup", hard=True)
            page.cells.append(cell)
    if name == "tr":
        page.column, page.has_data, page.before = 0, False, ""
    if name == "table":
        page.heads = []
    if name == "dt":
        page.before = ""
    if not match["attrs"].endswith("/") and name not in _EMPTY:
        label = says if name in _LAYOUT else match["name"]
        page.open.append((name, label))


def _close(page: _Page, name: str) -> None:
    """Close a tag, and what in it was not closed; one that is not open closes none."""
    lower = name.lower()
    if lower in _TABULAR:
        page.column += 1
        page.has_data |= lower == "td"
    if lower in {"p", "li", "tr", "dd", "div"}:
        page.before = ""
    recent = [tag for tag, _ in page.open[-32:]]
    if lower in recent:
        while page.open.pop()[0] != lower:
            pass


def _add_text(page: _Page, start: int, end: int) -> None:
    """Add the text between two tags."""
    text = page.text
    start, end = strip(text, start, end)
    if start == end:
        return
    tags = [tag for tag, _ in page.open[-4:]]
    content = text[start:end]
    if tags and tags[-1] in _MEDIA:
        page.cells.append(Cell(start, end, "code", tags[-1], "markup", hard=True))
    elif "th" in tags or "dt" in tags or "label" in tags or "legend" in tags:
        page.cells.append(Cell(start, end, "header", "", "markup", hard=True))
        page.before = content
        if "th" in tags and not page.has_data:
            page.heads[page.column :] = [content]
    elif content.endswith(":") and len(content) < 60 and "\n" not in content:
        page.cells.append(Cell(start, end, "key", "", "markup", hard=True))
        page.before = content.rstrip(":")
    else:
        _add_value(page, start, end, tags)


def _add_value(page: _Page, start: int, end: int, tags: list[str]) -> None:
    label = page.before if "td" not in tags else ""
    if "td" in tags:
        heads = page.heads
        label = heads[page.column] if page.column < len(heads) else page.before
    path = tuple(label for _, label in page.open[-4:] if label)
    label = label or (path[-1] if path else "")
    role: Role = "field" if label else "prose"
    page.cells.append(Cell(start, end, role, label, "markup", hard=True, path=path))
    if "td" not in tags:
        page.before = ""
