"""The stored results: one JSON file, a record for each section."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.page.sections import SECTIONS, Figures

__all__ = ["RESULTS", "machine", "read_results", "record", "write_results"]

RESULTS = Path(__file__).parents[2] / "docs" / "benchmarks.json"
Results = dict[str, Any]


def read_results(path: Path = RESULTS) -> Results:
    """Return the records of the sections, by name."""
    found: Results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def write_results(results: Mapping[str, Any], path: Path = RESULTS) -> None:
    """Store the records in the order of the page."""
    ordered = {name: results[name] for name in SECTIONS if name in results}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def record(
    figures: Figures, *, load: float, quick: bool, seconds: float
) -> dict[str, Any]:
    """
    Return what is stored of a section.

    Args:
        figures: What was measured.
        load: Processes that ran already when the section began.
        quick: With small sizes, to try the section out.
        seconds: That the section took.
    """
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": quick,
        "seconds": round(seconds),
        "load": round(load, 1),
        "machine": machine(),
        "versions": versions(figures.packages),
        "facts": dict(figures.facts),
        "tables": {
            name: list(map(dict, rows)) for name, rows in figures.tables.items()
        },
    }


def machine() -> dict[str, Any]:
    """Return the class of this machine, and nothing by which to know it again."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "gigabytes": round(pages * size / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
