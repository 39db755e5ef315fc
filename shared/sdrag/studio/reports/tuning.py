"""Edge thresholds as curves: precision, recall and F1 on documents of known links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdrag.studio.evaluation.tuning import Links

_WIDE, _HIGH, _EDGE = 480, 300, 40
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_CURVES = (("precision", "#1f6feb"), ("recall", "#bf3989"), ("f1", "#1a7f37"))


def draw_links(rows: Sequence[Links], in_force: float) -> str:
    """Return an SVG of the thresholds that were tried; the one in force is dashed."""
    width, height = _WIDE + 2 * _EDGE, _HIGH + 2 * _EDGE
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    return "\n".join(
        (
            head + 'font-family="sans-serif" font-size="12">',
            _line(f"M {_x(0)} {_y(1)} V {_y(0)} H {_x(1)}", "#888"),
            _line(f"M {_x(in_force)} {_y(0)} V {_y(1)}", "#888", dashed=True),
            _text(_x(0.5), height - 6, "edge_threshold"),
            *(_text(_x(tick), _y(0) + 16, f"{tick:g}") for tick in _TICKS),
            *(_text(_x(0) - 14, _y(tick) + 4, f"{tick:g}") for tick in _TICKS),
            *_curves(rows),
            "</svg>\n",
        )
    )


def _curves(rows: Sequence[Links]) -> Iterator[str]:
    for number, (name, colour) in enumerate(_CURVES):
        points = [(_x(row.edge_threshold), _y(getattr(row, name))) for row in rows]
        yield _line("M " + " L ".join(f"{x} {y}" for x, y in points), colour)
        yield _text(_x(0) + 36, _y(0) - 44 + 16 * number, name, colour)


def _line(path: str, colour: str, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _text(x: float, y: float, said: str, colour: str = "#444") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="middle">{said}</text>'


def _x(value: float) -> float:
    return round(_EDGE + _WIDE * value, 1)


def _y(value: float) -> float:
    return round(_EDGE + _HIGH * (1 - value), 1)
