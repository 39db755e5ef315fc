"""
The sections of the page of benchmarks, in its order, and how one is measured.

A section is a module of this folder with one function, `measure(quick)`, which returns
`Figures`. It is imported in a process of its own, so that no section warms another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

__all__ = ["SECTIONS", "Cell", "Figures", "measured"]

SECTIONS = (
    "questions",
    "models",
    "identifiers",
    "linking",
    "checks",
    "starting",
    "growth",
)

Cell = str | int | float


@dataclass(frozen=True)
class Figures:
    """
    What a section measured.

    Args:
        tables: Rows by the name of the table; a row holds its cells by column.
        facts: Single figures that the documentation names, all of them ratios or
            figures whose ratio is in a table.
        packages: Whose versions are part of the result.
    """

    tables: Mapping[str, Sequence[Mapping[str, Cell]]]
    facts: Mapping[str, Cell] = field(default_factory=dict)
    packages: Sequence[str] = ()


def measured(name: str, *, quick: bool) -> Figures:
    """Measure one section."""
    figures: Figures = import_module(f"benchmarks.page.{name}").measure(quick=quick)
    return figures
