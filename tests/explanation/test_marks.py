"""Colours that can be told apart and read, and confidences that mean something."""

from __future__ import annotations

import math
import re

import pytest

from sdrag.explanation.explanations import (
    COLOURS,
    Cause,
    Mark,
    marked,
    share_right,
    style,
)
from sdrag.vocabulary import Span

INK = {"light": (0x1D, 0x24, 0x33), "dark": (0xE6, 0xE9, 0xF0)}
READABLE = 4.5
"""The least contrast of text, by WCAG 2.2, 1.4.3."""


def luminance(red: float, green: float, blue: float) -> float:
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def of_ink(mode: str) -> float:
    linear = [((c / 255 + 0.055) / 1.055) ** 2.4 for c in INK[mode]]
    return luminance(*linear)


def of_oklch(light: float, chroma: float, hue: float) -> float:
    """Return the luminance of a colour, as CSS Color 4 converts it."""
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short
    return luminance(*(min(1.0, max(0.0, part)) for part in (red, green, blue)))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_twenty_groups_are_told_apart_and_can_be_read(mode):
    """Each has a hue and a strength of its own, on which text has contrast."""
    css = style()
    before, after = css.split("@media (prefers-color-scheme: dark)")
    rules = before if mode == "light" else after
    lights = list(map(float, re.findall(r"--light: ([.\d]+)", rules)))
    chromas = list(map(float, re.findall(r"--chroma: ([.\d]+)", rules)))
    hues = {}
    for first, second, hue in re.findall(r"\.c(\d+), \.c(\d+) { --hue: (\d+)", css):
        hues |= {int(first): (float(hue), 0), int(second): (float(hue), 1)}

    assert sorted(hues) == list(range(COLOURS))
    assert len({*hues.values()}) == COLOURS
    for hue, strength in hues.values():
        pair = of_ink(mode), of_oklch(lights[strength], chromas[strength], hue)
        assert (max(pair) + 0.05) / (min(pair) + 0.05) >= READABLE, hue


def test_a_mark_bears_the_numbers_of_all_that_is_on_it():
    marks = [Mark(Span(0, 4), 21, "b"), Mark(Span(0, 2), 0, "a")]

    assert marked("Anna", marks) == (
        '<mark class="hidden c1 also d0" data-by="1,22" title="b\na">An</mark>'
        '<mark class="hidden c1" data-by="22" title="b">na</mark>'
    )


def test_only_networks_have_a_confidence_and_none_is_sure():
    """It never falls with their score; a rule has none, whatever it says of itself."""
    shares = [share_right("scored", score / 100) for score in range(101)]

    assert shares == sorted(shares)
    assert shares[-1] < 0.6
    assert {share_right(by, 1.0) for by in ("type", "named", "model")} == {None}
    assert "in 10" not in str(Cause("type", "PERSON"))
    assert str(Cause("scored", confidence=0.53)).endswith(
        "about 5 in 10 such are right"
    )
