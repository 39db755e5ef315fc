"""
Draws the two pictures of the documentation, each for light and for dark pages.

    python benchmarks/tools/reference.py

The pictures are narrow, so that they can be read on a phone.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

__all__ = ["IMAGES", "pictures"]

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDTH = 480
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


class Colours(NamedTuple):
    """The colours of one variant."""

    text: str
    line: str
    ours: str
    ours_text: str
    theirs: str


class Box(NamedTuple):
    """A box with lines of text, the first one in bold; places are in pixels."""

    x: int
    y: int
    width: int
    lines: tuple[str, ...]
    ours: bool = True

    @property
    def height(self) -> int:
        """How tall it is."""
        return 16 + 17 * len(self.lines)

    @property
    def middle(self) -> int:
        """Where an arrow to it ends, from the left."""
        return self.x + self.width // 2

    @property
    def bottom(self) -> int:
        """Where it ends."""
        return self.y + self.height


VARIANTS = {
    "light": Colours("#1c2526", "#5f7376", "#00796b", "#ffffff", "#eef3f3"),
    "dark": Colours("#e6edee", "#8fa3a6", "#00897b", "#ffffff", "#263236"),
}

INGEST = (
    (("Your documents",), False),
    (("LinkageMasker", "masks links, optional"), True),
    (("Your splitter",), False),
    (("InjectionScanner", "scans chunks, optional"), True),
    (("ConstraintBinder", "finds what must go"), True),
    (("Your vector store",), False),
)
QUERY = (
    (("Question and principal",), False),
    (("Your retriever",), False),
    (("Guards", "access, age, relevance,", "injections"), True),
    (("Look up and cut", "what must go"), True),
    (("Your prompt and model",), False),
    (("AnswerGuard", "checks, optional"), True),
    (("Answer",), False),
)


def pictures() -> dict[Path, str]:
    """Return the text of each picture, by its path."""
    return {
        IMAGES / f"{name}-{variant}.svg": draw(colours)
        for name, draw in (("flow", _flow), ("bindings", _bindings))
        for variant, colours in VARIANTS.items()
    }


def _flow(colours: Colours) -> str:
    """Draw what happens once, and what happens at each question."""
    left = list(_column(10, 50, INGEST))
    right = list(_column(260, 50, QUERY))
    binder, lookup = left[4], right[3]
    state = Box(
        10,
        left[-1].bottom + 24,
        210,
        ("State file", "places and keyed hashes,", "no text"),
    )
    parts = [_title(115, 30, "Once: ingest"), _title(365, 30, "Each question")]
    for column in (left, right):
        parts += [
            _arrow(one.middle, one.bottom, two.middle, two.y)
            for one, two in pairwise(column)
        ]
    edge = binder.x + binder.width
    parts += [
        _elbow(edge, binder.y + 20, 236, state.y + 25, state.x + state.width),
        _elbow(state.x + state.width, state.y + 47, 246, lookup.y + 25, lookup.x),
        *map(_box, [*left, *right, state]),
    ]
    return _picture(
        colours,
        state.bottom + 10,
        "Ingest and query",
        "Once, documents pass the linkage masker, the splitter, the injection scanner"
        " and the constraint binder into the vector store. The binder writes the state"
        " file. At each question, what the retriever returns passes the guards, is cut"
        " by what the state file says, and then reaches the prompt and the model.",
        parts,
    )


def _bindings(colours: Colours) -> str:
    """Draw what a constraint is bound to, and for whom."""
    policy = [
        Box(10, 50, 200, ("Constraint: names", "unless a judge asks")),
        Box(10, 130, 200, ("Constraint: doses", "where cardiology")),
    ]
    chunks = [
        Box(270, 60, 200, ("Chunk 1", "Anna Karlsson saw it."), ours=False),
        Box(270, 130, 200, ("Chunk 2", "Karlsson took 20 mg."), ours=False),
    ]
    people = [
        Box(
            10,
            268,
            200,
            ("A clerk reads chunk 2", "[person] took", "[withheld]."),
            ours=False,
        ),
        Box(
            270,
            268,
            200,
            ("A judge reads chunk 2", "Karlsson took", "[withheld]."),
            ours=False,
        ),
    ]
    names, doses = policy
    first, second = chunks
    frame = '<rect class="frame" x="256" y="40" width="220" height="156" rx="8"/>'
    parts = [
        _title(110, 30, "Policy"),
        _title(366, 30, "One document"),
        frame,
        _arrow_across(names.x + names.width, names.y + 20, first.x, first.y + 25),
        _arrow_across(names.x + names.width, names.y + 34, second.x, second.y + 17),
        _arrow_across(doses.x + doses.width, doses.y + 25, second.x, second.y + 34),
        *map(_box, [*policy, *chunks]),
        _note(240, 222, "A name that chunk 1 explains is hidden in chunk 2 too."),
        _title(240, 252, "Who asks decides"),
        *map(_box, people),
    ]
    return _picture(
        colours,
        people[0].bottom + 10,
        "What is bound to what",
        "Each constraint is bound to the places in the chunks of a document where"
        " something must go. Two principals read the same chunk differently: a clerk"
        " sees neither the name nor the dose, a judge sees the name.",
        parts,
    )


def _column(
    x: int, y: int, rows: tuple[tuple[tuple[str, ...], bool], ...]
) -> Iterator[Box]:
    for lines, ours in rows:
        box = Box(x, y, 210, lines, ours)
        yield box
        y = box.bottom + 24


def _box(box: Box) -> str:
    kind = "ours" if box.ours else "theirs"
    shape = (
        f'<rect class="{kind}" x="{box.x}" y="{box.y}" width="{box.width}"'
        f' height="{box.height}" rx="6"/>'
    )
    texts = [
        f'<text class="{kind}-text{" strong" if not place else ""}" x="{box.middle}"'
        f' y="{box.y + 22 + 17 * place}">{escape(line)}</text>'
        for place, line in enumerate(box.lines)
    ]
    return "\n".join([shape, *texts])


def _title(x: int, y: int, text: str) -> str:
    return f'<text class="title" x="{x}" y="{y}">{escape(text)}</text>'


def _note(x: int, y: int, text: str) -> str:
    return f'<text class="theirs-text" x="{x}" y="{y}">{escape(text)}</text>'


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path class="arrow" d="M{x} {y} L{to_x} {to_y - 7}"/>'


def _arrow_across(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path class="arrow" d="M{x} {y} L{to_x - 7} {to_y}"/>'


def _elbow(x: int, y: int, by: int, to_y: int, to_x: int) -> str:
    """Go across, along a line between the columns, and across to the end."""
    end = to_x - 7 if to_x > by else to_x + 7
    return f'<path class="arrow" d="M{x} {y} H{by} V{to_y} H{end}"/>'


def _picture(
    colours: Colours, height: int, title: str, described: str, parts: list[str]
) -> str:
    style = f"""
text {{ font: 13px {_FONT}; text-anchor: middle; fill: {colours.text}; }}
.title {{ font-size: 15px; font-weight: 600; }}
.strong {{ font-weight: 600; }}
.ours {{ fill: {colours.ours}; }}
.ours-text {{ fill: {colours.ours_text}; }}
.theirs {{ fill: {colours.theirs}; stroke: {colours.line}; }}
.frame {{ fill: none; stroke: {colours.line}; stroke-dasharray: 5 4; }}
.arrow {{ fill: none; stroke: {colours.line}; stroke-width: 1.5; }}
.arrow {{ marker-end: url(#tip); }}
.tip {{ fill: {colours.line}; }}
"""
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="6"'
        ' markerHeight="6" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 z"/>'
        "</marker>"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(described)}</desc>",
            f"<style>{style}</style>",
            f"<defs>{tip}</defs>",
            *parts,
            "</svg>",
            "",
        ]
    )
