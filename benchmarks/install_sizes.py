"""
What each extra adds to an installation, in megabytes.

    python benchmarks/install_sizes.py

Adds up the files of every package that an extra needs, and those that it needs in turn,
as they are installed here; compiled byte code is left out. An extra is counted next to
an installation of `sdrag` alone, so what two extras share is counted in both. Install
`sdrag` from its wheel first: of an editable installation its own 21 MB are not counted.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = (
    "langchain",
    "agents",
    "llamaindex",
    "local",
    "linkage",
    "documents",
    "cli",
    "workbench",
    "chroma",
    "otel",
    "postgres",
    "presidio",
)
NAMED = ("torch", "tokenizers", "langchain-core", "llama-index-core")
Needed = dict[str, Distribution]


def needed(name: str, extras: frozenset[str]) -> Needed:
    """Return a package and all that it needs, by canonical name."""
    found: Needed = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    left = [(canonicalize_name(name), extras)]
    while left:
        own, wanted = left.pop()
        if (own, wanted) in seen:
            continue
        seen.add((own, wanted))
        try:
            found[own] = distribution(own)
        except PackageNotFoundError:
            continue  # asked for on another platform
        left += requirements(found[own], wanted)
    return found


def requirements(
    package: Distribution, extras: frozenset[str]
) -> list[tuple[str, frozenset[str]]]:
    """Return what a package needs here, with the extras that it asks for."""
    asked = map(Requirement, package.requires or ())
    return [
        (canonicalize_name(one.name), frozenset(one.extras))
        for one in asked
        if one.marker is None
        or any(one.marker.evaluate({"extra": extra}) for extra in extras or {""})
    ]


def megabytes(packages: Needed) -> float:
    """Add up the files of packages that are there, without compiled byte code."""
    paths = (
        Path(str(file.locate()))
        for package in packages.values()
        for file in package.files or ()
        if file.suffix != ".pyc"
    )
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def main() -> None:
    """Print a table."""
    alone = needed("sdrag", frozenset())
    print(f"{platform.system()} {platform.machine()}, Python {sys.version.split()[0]}")
    print("\n| extra | MB | packages |\n|---|---|---|")
    print(f"| (none) | {megabytes(alone):.0f} | {len(alone)} |")
    for extra in EXTRAS:
        added = {
            name: package
            for name, package in needed("sdrag", frozenset({extra})).items()
            if name not in alone
        }
        print(f"| `{extra}` | {megabytes(added):.0f} | {len(added)} |")
    print("\nwith", *(f"{name} {distribution(name).version}" for name in NAMED))


if __name__ == "__main__":
    main()
