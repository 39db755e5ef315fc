"""Curves are drawn as an SVG that stands in a Markdown file by itself."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from benchmarks.curves import draw_curves

SVG = "{http://www.w3.org/2000/svg}"


def test_each_curve_has_its_points():
    """One a value, further right, and higher where the value is."""
    drawn = ET.fromstring(draw_curves("Recall", {"a": [0.0, 0.5, 1.0], "b": [0.2]}))  # noqa: S314 -- our own text
    first, second = (line.get("points") for line in drawn.iter(f"{SVG}polyline"))
    points = [tuple(map(float, one.split(","))) for one in first.split()]

    assert len(points) == 3
    assert len(second.split()) == 1
    assert points == sorted(points, key=lambda point: (point[0], -point[1]))
    assert points[0][1] > points[1][1] > points[2][1]


def test_names_cannot_break_out():
    """What is written on it is text."""
    drawn = draw_curves("<script>", {"a & b": [0.5]})

    assert "<script>" not in drawn
    assert {text.text for text in ET.fromstring(drawn).iter(f"{SVG}text")} >= {  # noqa: S314 -- our own text
        "<script>",
        "a & b",
    }


@pytest.mark.parametrize("curves", [{}, {"a": []}, {"a": [2.0, -1.0]}])
def test_it_is_drawn_whatever_there_is(curves):
    """Nothing at all, too, and what is beyond the scale stays inside."""
    drawn = ET.fromstring(draw_curves("t", curves))  # noqa: S314 -- our own text

    assert "\n" not in draw_curves("t", curves)
    for line in drawn.iter(f"{SVG}polyline"):
        heights = [float(p.split(",")[1]) for p in line.get("points").split()]
        assert all(0 <= height <= 320 for height in heights)
