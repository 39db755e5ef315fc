"""
Curves over 1 to K as an SVG of its own, with no script and no font to load.

Small enough to stand inside a Markdown file, so a report is one file and needs no
plotting library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

__all__ = ["draw_curves"]

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 170, 30, 30
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's, which readers with a colour deficiency can tell apart."""


_OPENING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
    f'width="{_WIDTH}" font-family="sans-serif" font-size="12" role="img">'
)


def draw_curves(title: str, curves: Mapping[str, Sequence[float]]) -> str:
    """
    Draw curves of shares as one SVG element, on one line.

    Args:
        title: Stands above.
        curves: By name; values from 0 to 1 at K = 1, 2, 3 and so on.
    """
    longest = max((len(values) for values in curves.values()), default=0)
    parts = [
        _OPENING,
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-size="14">{escape(title)}</text>',
        *_grid(longest),
        *(
            part
            for place, (name, values) in enumerate(curves.items())
            for part in _curve(place, name, values, longest)
        ),
        "</svg>",
    ]
    return "".join(parts)


def _grid(longest: int) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        height = _y(tenth / 10)
        yield (
            f'<path d="M{_LEFT} {height}H{_WIDTH - _RIGHT}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{height + 4}" text-anchor="end">'
            f"{tenth / 10:g}</text>"
        )
    yield f'<text x="{_WIDTH - _RIGHT + 12}" y="{_HEIGHT - 10}">K</text>'
    for number in sorted({1, *range(5, longest + 1, 5)} if longest else ()):
        yield (
            f'<text x="{_x(number, longest)}" y="{_HEIGHT - 10}" '
            f'text-anchor="middle">{number}</text>'
        )


def _curve(
    place: int, name: str, values: Sequence[float], longest: int
) -> Iterator[str]:
    colour = _COLOURS[place % len(_COLOURS)]
    points = " ".join(
        f"{_x(number, longest)},{_y(value)}" for number, value in enumerate(values, 1)
    )
    yield (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    )
    height = _TOP + 10 + 18 * place
    yield (
        f'<text x="{_WIDTH - _RIGHT + 12}" y="{height}" fill="{colour}">'
        f"{escape(name)}</text>"
    )


def _x(number: int, longest: int) -> float:
    space = _WIDTH - _LEFT - _RIGHT
    return round(_LEFT + space * (number - 1) / max(1, longest - 1), 1)


def _y(value: float) -> float:
    space = _HEIGHT - _TOP - _BOTTOM
    return round(_TOP + space * (1 - min(1.0, max(0.0, value))), 1)
