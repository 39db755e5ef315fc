"""
Figures in the documentation: each is between markers, and written from the results.

    <!-- benchmarks:checks.scan --> ... <!-- /benchmarks -->

`checks.scan` is a table of the section `checks`, or one of its facts; `checks.machine`
says on what and when it was measured. What is between two markers is replaced, so a
reader finds the same figure on every page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.page.sections import Cell

__all__ = ["MISSING", "PAGES", "rendered", "table_of", "written"]

ROOT = Path(__file__).parents[2]
MISSING = "not measured"
PAGES = tuple(
    page
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if "<!-- benchmarks:" in page.read_text("utf-8")
)
"""Every page that names a figure."""

_MARKED = re.compile(
    r"(<!-- benchmarks:(\w+)\.(\w+) -->)(.*?)(<!-- /benchmarks -->)", re.DOTALL
)


def written(text: str, results: Mapping[str, Any]) -> str:
    """
    Return a page with all that is between markers made anew.

    Where a section was not measured, its figures say so.

    Raises:
        KeyError: A marker names a figure that its section does not have.
    """

    def made(match: re.Match[str]) -> str:
        start, section, name, old, end = match.groups()
        new = rendered(results[section], name) if section in results else MISSING
        if old.startswith("\n"):
            new = f"\n{new}\n"
        return f"{start}{new}{end}"

    return _MARKED.sub(made, text)


def rendered(stored: Mapping[str, Any], name: str) -> str:
    """Return a table, a fact, or on what a section was measured, as Markdown."""
    if name == "machine":
        return _said(stored)
    if name in stored["facts"]:
        return shown(stored["facts"][name])
    return table_of(stored["tables"][name])


def table_of(rows: Sequence[Mapping[str, Cell]]) -> str:
    """Return rows as a Markdown table; a cell that a row lacks is empty."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    lines = [heads, ["---"] * len(heads)]
    lines += [[shown(row.get(head, "")) for head in heads] for row in rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"\n{table}\n"


def shown(value: Cell) -> str:
    """Return a cell: three digits that say something, and no exponent."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    places = 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4
    return f"{value:.{places}f}"


def _said(stored: Mapping[str, Any]) -> str:
    found, day = stored["machine"], date.fromisoformat(stored["date"])
    packages = ", ".join(f"{name} {held}" for name, held in stored["versions"].items())
    short = " A short run, to try it out." if stored["quick"] else ""
    busy = (
        f" The machine was busy: {stored['load']} processes ran already."
        if stored["load"] >= found["cores"] / 2
        else ""
    )
    return (
        f"`make bench`, {day.day} {day:%B %Y}: {found['cores']} cores, "
        f"{found['gigabytes']} GB, {found['system']}, Python {found['python']}"
        f"{f' ({packages})' if packages else ''}. It took "
        f"{stored['seconds']} seconds.{short}{busy}"
    )
