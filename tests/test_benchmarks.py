"""Every figure of the documentation is the one that was measured last."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.page.rendering import PAGES, rendered, shown, written
from benchmarks.page.results import machine, read_results, write_results
from benchmarks.page.sections import SECTIONS
from benchmarks.page.timing import exponent, in_turn

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
MARKER = re.compile(r"<!-- benchmarks:(\w+)\.(\w+) -->")
STORED = {
    "date": "2026-11-24",
    "quick": False,
    "seconds": 61,
    "load": 0.2,
    "machine": {"cores": 2, "gigabytes": 8, "system": "Linux x", "python": "3.11.7"},
    "versions": {"numpy": "2.0"},
    "facts": {"ratio": 1.25},
    "tables": {"rows": [{"what": "a", "times": 2.0}, {"what": "b", "ms": 1234.5}]},
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_say_what_was_measured(page):
    """`python -m benchmarks.page --render` writes them from the stored results."""
    text = page.read_text(encoding="utf-8")

    assert written(text, read_results()) == text


def test_everything_that_was_measured_is_on_the_page():
    """Each section is named, and each table that was stored has its marker."""
    results = read_results()
    named = set(MARKER.findall(PAGE.read_text(encoding="utf-8")))

    assert {section for section, _ in named} == set(SECTIONS)
    for section, stored in results.items():
        assert {(section, name) for name in (*stored["tables"], "machine")} <= named


def test_every_marker_names_a_figure_that_there_is():
    results = read_results()
    for page in PAGES:
        for section, name in MARKER.findall(page.read_text(encoding="utf-8")):
            assert section in SECTIONS
            assert section not in results or rendered(results[section], name)


def test_no_time_is_told_without_a_ratio():
    """A row with a time is in a table that compares it."""
    for stored in read_results().values():
        for name, rows in stored["tables"].items():
            heads = {head for row in rows for head in row}
            assert any("times" in one or "next to" in one for one in heads), name


def test_a_machine_is_known_by_its_class_alone():
    assert machine().keys() == {"cores", "gigabytes", "system", "python"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is <!-- benchmarks:a.ratio -->?<!-- /benchmarks --> times.",
            "It is <!-- benchmarks:a.ratio -->1.25<!-- /benchmarks --> times.",
        ),
        (
            "<!-- benchmarks:a.rows -->\nold\n<!-- /benchmarks -->",
            (
                "<!-- benchmarks:a.rows -->\n\n"
                "| what | times | ms |\n| --- | --- | --- |\n"
                "| a | 2.00 |  |\n| b |  | 1,234 |\n\n<!-- /benchmarks -->"
            ),
        ),
        (
            "<!-- benchmarks:b.ratio -->9<!-- /benchmarks -->",
            "<!-- benchmarks:b.ratio -->not measured<!-- /benchmarks -->",
        ),
        ("Nothing is marked: 1.25.", "Nothing is marked: 1.25."),
    ],
)
def test_what_is_between_markers_is_replaced(text, expected):
    """Inline a figure, on lines of its own a table, or that it was not measured."""
    once = written(text, {"a": STORED})

    assert once == expected
    assert written(once, {"a": STORED}) == expected


def test_a_marker_for_a_figure_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        written("<!-- benchmarks:a.other -->?<!-- /benchmarks -->", {"a": STORED})


@pytest.mark.parametrize(
    ("change", "said"),
    [({}, "61 seconds."), ({"quick": True}, "A short run"), ({"load": 3}, "was busy")],
)
def test_a_page_says_on_what_it_was_measured(change, said):
    line = rendered(STORED | change, "machine")

    assert said in line
    assert "24 November 2026: 2 cores, 8 GB, Linux x, Python 3.11.7 (numpy 2.0)" in line


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("none", "none"),
        (12, "12"),
        (12345, "12,345"),
        (1234.5, "1,234"),
        (45.678, "45.7"),
        (1.2345, "1.23"),
        (0.5, "0.50"),
        (0.01234, "0.0123"),
        (0.0, "0.0000"),
    ],
)
def test_figures_are_short(value, expected):
    assert shown(value) == expected


def test_contenders_take_turns():
    """Warm rounds do not count, and the order changes from round to round."""
    called = []
    works = {name: lambda n, name=name: called.append((n, name)) for name in "ab"}

    times = in_turn(works, 2, warm=1)

    assert {name: len(found) for name, found in times.items()} == {"a": 2, "b": 2}
    assert called == [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (2, "a"), (2, "b")]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_an_exponent_is_the_slope(power):
    sizes = [10, 100, 1000]

    assert exponent(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)


def test_results_are_stored_in_the_order_of_the_page(tmp_path):
    path = tmp_path / "results.json"
    write_results(dict.fromkeys(reversed(SECTIONS), STORED), path)

    assert tuple(json.loads(path.read_text("utf-8"))) == SECTIONS
    assert read_results(path)["growth"] == STORED
    assert read_results(tmp_path / "none.json") == {}
