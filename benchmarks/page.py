"""
Measures the figures of docs/benchmarks.md and prints them as Markdown tables.

    python -m benchmarks.page                     # all sections, as `make bench` does
    python -m benchmarks.page question growth     # some of them
    python -m benchmarks.page --quick             # small sizes
    python -m benchmarks.page peers --texts synth_dataset_v2.json
    python -m benchmarks.page --write             # also writes the tables of the page
    python -m benchmarks.page --check             # are the tables as they were written?

`benchmarks.timings` measures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

Row = dict[str, str | float]
SECTIONS = ("question", "checks", "locating", "growth", "processes", "peers")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
FIGURES = Path(__file__).with_suffix(".json")
"""What was measured last; the tables of the page are made of it."""


def render(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads)]
    lines += [[_shown(value) for value in row.values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write_tables(page: str, figures: Mapping[str, list[Row]]) -> str:
    """Return a page with its tables made anew between their marks."""
    for name, rows in figures.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        if begin not in page:
            continue
        head, rest = page.split(begin)
        page = f"{head}{begin}\n{render(rows)}\n\n{end}{rest.split(end)[1]}"
    return page


def main() -> None:
    """Measure the sections that are named, print them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--texts", type=Path, help="of presidio-research, for peers")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    page = PAGE.read_text("utf-8")
    if given.check:
        if page != write_tables(page, figures):
            sys.exit("docs/benchmarks.md: run `python -m benchmarks.page --write`")
        return
    from benchmarks import timings  # noqa: PLC0415 -- it loads all that is compared

    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    print(f"Python {platform.python_version()}, {machine}")
    for name in given.sections or SECTIONS:
        if name == "peers" and not given.texts:
            print("\npeers: needs --texts")
            continue
        more = {"texts": given.texts} if name == "peers" else {}
        measured = getattr(timings, f"measure_{name}")(quick=given.quick, **more)
        for title, rows in measured.items():
            print(f"\n{name}: {title}\n\n{render(rows)}", flush=True)
            figures[f"{name}-{title}"] = rows
    if given.write:
        PAGE.write_text(write_tables(page, figures), "utf-8")
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
