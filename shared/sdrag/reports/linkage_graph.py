"""The document graph as a drawing: each group of linked documents in a cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import networkx as nx
import numpy as np

from sdrag.linkage.plan import Plan

__all__ = ["Drawing", "Line", "draw", "laid_out"]

_MOST_NODES = 150
_NAMED = 60
_ACROSS = 3
_CELL = 300
_TALL = 220
_MARGIN = 62
_LETTERS = 20
_TILT = 0.5

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """
    A link, drawn.

    Args:
        first: The number of a document.
        second: Of the other.
        width: Broader is stronger.
        kept: Whether masking leaves it.
    """

    first: int
    second: int
    width: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """
    Where everything of a graph is.

    Args:
        places: Of the documents, by their numbers.
        lines: Between them.
        width: Of the whole.
        height: Of the whole.
        left_out: How many linked documents are not drawn.
    """

    places: Mapping[int, Point]
    lines: tuple[Line, ...]
    width: int
    height: int
    left_out: int


def laid_out(plan: Plan) -> Drawing:
    """
    Place the linked documents of a plan, the largest groups first.

    Args:
        plan: Whose links are drawn.
    """
    graph, left_out = _graph(plan)
    groups = sorted(nx.connected_components(graph), key=lambda g: (-len(g), min(g)))
    places: dict[int, Point] = {}
    for number, group in enumerate(groups):
        places.update(_placed(graph.subgraph(sorted(group)), number))
    lines = tuple(
        Line(one, two, round(0.5 + 2.5 * data["strength"], 1), data["kept"])
        for one, two, data in graph.edges(data=True)
    )
    width = min(len(groups), _ACROSS) * _CELL
    height = math.ceil(len(groups) / _ACROSS) * _TALL
    return Drawing(places, lines, width, height, left_out)


def draw(plan: Plan, names: Sequence[str]) -> str:
    """
    Return the graph as SVG; broken links are dashed.

    Args:
        plan: Whose links are drawn.
        names: Of the documents, as they may be shown.
    """
    drawing = laid_out(plan)
    places = drawing.places
    if not places:
        return '<p class="soft">No two documents are linked.</p>'
    lines = "".join(map(partial(_line, places), drawing.lines))
    dots = "".join(_dots(places, names, named=len(places) <= _NAMED))
    note = f'<p class="soft">{drawing.left_out:,} linked documents are not drawn.</p>'
    return (
        f'<svg class="graph" viewBox="0 0 {drawing.width} {drawing.height}" role="img" '
        f'aria-label="Document graph">{lines}{dots}</svg>'
        f"{note if drawing.left_out else ''}"
    )


def _graph(plan: Plan) -> tuple[nx.Graph[int], int]:
    """Return the links among as many documents as are drawn, and how many are not."""
    graph: nx.Graph[int] = nx.Graph()
    before, after = plan.before, plan.after
    alive = set(zip(after.first.tolist(), after.second.tolist(), strict=True))
    pairs = zip(before.first.tolist(), before.second.tolist(), strict=True)
    for (first, second), strength in zip(pairs, before.strength.tolist(), strict=True):
        space = _MOST_NODES - len(graph)
        if space >= (first not in graph) + (second not in graph):
            graph.add_edge(
                first, second, strength=strength, kept=(first, second) in alive
            )
    return graph, len(np.union1d(before.first, before.second)) - len(graph)


def _placed(group: nx.Graph[int], number: int) -> dict[int, Point]:
    """Lay a group out within its cell; the same group always in the same way."""
    found = _tilted(nx.kamada_kawai_layout(group)) if len(group) > 2 else _pair(group)
    row, column = divmod(number, _ACROSS)
    broad, high = _CELL / 2 - _MARGIN, _TALL / 2 - _MARGIN / 2
    return {
        node: (
            round(column * _CELL + _CELL / 2 + float(x) * broad, 1),
            round(row * _TALL + _TALL / 2 + float(y) * high, 1),
        )
        for node, (x, y) in found.items()
    }


def _tilted(places: dict[int, Point]) -> dict[int, Point]:
    """Turn a layout a little, so that names in a row do not lie on one line."""
    cos, sin = math.cos(_TILT), math.sin(_TILT)
    return {n: (x * cos - y * sin, x * sin + y * cos) for n, (x, y) in places.items()}


def _pair(group: nx.Graph[int]) -> dict[int, Point]:
    return dict(zip(sorted(group), ((-0.6, 0.0), (0.6, 0.0)), strict=False))


def _line(places: Mapping[int, Point], line: Line) -> str:
    (x1, y1), (x2, y2) = places[line.first], places[line.second]
    return (
        f'<line class="{"kept" if line.kept else "gone"}" x1="{x1}" y1="{y1}" '
        f'x2="{x2}" y2="{y2}" stroke-width="{line.width}"/>'
    )


def _dots(
    places: Mapping[int, Point], names: Sequence[str], *, named: bool
) -> Iterator[str]:
    for node, (x, y) in places.items():
        name = escape(names[node])
        yield f'<circle cx="{x}" cy="{y}" r="5"><title>{name}</title></circle>'
        if named:
            short = names[node][:_LETTERS]
            yield f'<text x="{x}" y="{y + 18}">{escape(short)}</text>'
