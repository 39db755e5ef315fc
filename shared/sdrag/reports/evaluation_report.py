"""The figures of a suite as one page; with a curve, where it measured one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from sdrag.reports.page import card, page, table

__all__ = ["render_evaluation"]

_WIDTH, _HEIGHT, _MARGIN = 560, 320, 48
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def render_evaluation(name: str, figures: Mapping[str, Any]) -> str:
    """
    Return the page.

    Args:
        name: Of the suite.
        figures: As the suite printed them with `--json`. What is in `curve` is drawn: a
            list of points with `sensitivity`, `privacy` and `readable`, from 0 to 1.
    """
    title = f"Evaluation: {name}"
    numbers = {key: value for key, value in figures.items() if _is_number(value)}
    cards = "".join(card(_brief(value), _words(key)) for key, value in numbers.items())
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<div class="cards">{cards}</div>',
        *_curve(figures.get("curve", ())),
        *_sections(figures, set(numbers)),
    ]
    return page(title, body)


def _sections(figures: Mapping[str, Any], shown: set[str]) -> Iterator[str]:
    """Yield a table of everything that is no single number."""
    rest = {key: value for key, value in figures.items() if key not in shown}
    said = [(_words(key), value) for key, value in rest.items() if _is_plain(value)]
    if said:
        yield table(("Setting", "value"), said)
    for key, value in rest.items():
        if not _is_plain(value):
            yield f"<h2>{escape(_words(key))}</h2>"
            yield _table(value)


def _table(value: Mapping[str, Any] | Sequence[Any]) -> str:
    rows = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
    listed = [(name, row) for name, row in rows]
    columns: dict[str, None] = {}
    for _, row in listed:
        if isinstance(row, Mapping):
            columns |= dict.fromkeys(row)
    if not columns:
        return table(("", "value"), [(str(name), _brief(row)) for name, row in listed])
    return table(
        ("", *map(_words, columns)),
        [
            (str(name), *(_brief(row.get(column, "")) for column in columns))
            for name, row in listed
            if isinstance(row, Mapping)
        ],
    )


def _curve(points: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Draw privacy over what is left to read, one point a sensitivity."""
    if not points:
        return
    at = [(_x(point["readable"]), _y(point["privacy"]), point) for point in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in at)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="dot"/>'
        f'<text x="{x + 7:.1f}" y="{y - 7:.1f}">{point["sensitivity"]:g}</text>'
        for x, y, point in at
    )
    grid = "".join(
        f'<line class="grid" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(tick)}" '
        f'y2="{_y(tick)}"/>'
        f'<text class="tick" x="{_x(0) - 6}" y="{_y(tick) + 4}" text-anchor="end">'
        f"{tick:g}</text>"
        f'<text class="tick" x="{_x(tick)}" y="{_y(0) + 18}" text-anchor="middle">'
        f"{tick:g}</text>"
        for tick in _TICKS
    )
    yield (
        "<h2>Privacy and readability by sensitivity</h2>"
        f'<svg class="curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'aria-label="Privacy over readability, one point for each sensitivity">'
        f'{grid}<polyline points="{line}"/>{dots}'
        f'<text class="tick" x="{_x(0.5)}" y="{_HEIGHT - 6}" text-anchor="middle">'
        "share of harmless words that can be read</text>"
        f'<text class="tick" x="{_x(0)}" y="14">privacy</text></svg>'
    )


def _x(value: float) -> float:
    return round(_MARGIN + _inside(value) * (_WIDTH - 2 * _MARGIN), 1)


def _y(value: float) -> float:
    return round(_HEIGHT - _MARGIN - _inside(value) * (_HEIGHT - 2 * _MARGIN + 20), 1)


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_plain(value: object) -> bool:
    return not isinstance(value, Mapping | list | tuple)


def _brief(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_brief(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_brief, value))
    return str(value)


def _words(key: str) -> str:
    return key.replace("_", " ")
