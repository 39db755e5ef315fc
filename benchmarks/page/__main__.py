"""
Measures the sections of the page of benchmarks and writes their figures.

    python -m benchmarks.page                      # all of them, as `make bench` does
    python -m benchmarks.page checks starting      # some
    python -m benchmarks.page --skip growth        # all but some
    python -m benchmarks.page --quick              # small sizes; keeps nothing
    python -m benchmarks.page --render             # writes the pages again

Results are stored in docs/benchmarks.json as soon as a section is done, and every page
that names a figure is written from them.
"""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from benchmarks.page.rendering import PAGES, rendered, written
from benchmarks.page.results import read_results, record, write_results
from benchmarks.page.sections import SECTIONS, measured
from benchmarks.page.timing import in_fresh_process


def main() -> None:
    """Measure what was asked for."""
    given = _given()
    if given.render:
        return render()
    failed = []
    for name in given.sections or SECTIONS:
        if name in given.skip:
            continue
        print(f"== {name}, {datetime.now(UTC):%H:%M:%S}", flush=True)
        try:
            found = one(name, quick=given.quick)
        except Exception as error:  # noqa: BLE001 -- the others are measured yet
            failed.append(name)
            print(f"{name} failed: {type(error).__name__}: {error}", flush=True)
            continue
        for part in (*found["tables"], "machine"):
            print(rendered(found, part), flush=True)
        for fact, value in found["facts"].items():
            print(f"{fact}: {value}", flush=True)
        if given.keep or not given.quick:
            write_results(read_results() | {name: found})
            render()
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")
    return None


def one(name: str, *, quick: bool) -> dict[str, Any]:
    """Measure a section in a process of its own; return its record."""
    load, start = os.getloadavg()[0], perf_counter()
    figures = in_fresh_process(measured, name, quick=quick)
    return record(figures, load=load, quick=quick, seconds=perf_counter() - start)


def render() -> None:
    """Write every page that names a figure."""
    results = read_results()
    for page in PAGES:
        page.write_text(written(page.read_text("utf-8"), results), encoding="utf-8")


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="some of them")
    parser.add_argument("--skip", action="append", default=[], choices=SECTIONS)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--keep", action="store_true", help="store a quick run too")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    given = parser.parse_args()
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return given


if __name__ == "__main__":
    main()
